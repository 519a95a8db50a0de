#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tokens/tokenizer.h"

#include "base/banned.h"

static struct vcm_tokenizer *open_tokenizer(const char *name)
{
    struct vcm_error err = {0};
    struct vcm_tokenizer *tokenizer = NULL;
    assert_int_equal(vcm_tokenizer_open(&tokenizer, name, &err), VCM_OK);
    assert_string_equal(vcm_tokenizer_name(tokenizer), name);
    return tokenizer;
}

static size_t count(const struct vcm_tokenizer *tokenizer, const char *text)
{
    return vcm_tokenizer_count(tokenizer, vcm_slice_of_string(text));
}

static void an_unknown_name_is_refused_with_the_known_ones(void **state)
{
    (void)state;
    struct vcm_error err = {0};
    struct vcm_tokenizer *tokenizer = (struct vcm_tokenizer *)&err;

    assert_int_equal(vcm_tokenizer_open(&tokenizer, "gpt2", &err), VCM_INVALID_ARGUMENT);
    assert_null(tokenizer);
    assert_non_null(strstr(err.message, "gpt2"));
    for (const char *const *name = vcm_tokenizer_names(); *name; name++)
        assert_non_null(strstr(err.message, *name));
    vcm_tokenizer_close(NULL);
}

static void approx4_counts_bytes_by_four_rounded_up_after_replacement(void **state)
{
    (void)state;
    struct vcm_tokenizer *tokenizer = open_tokenizer("approx4");

    assert_int_equal(count(tokenizer, ""), 0);
    assert_int_equal(count(tokenizer, "a"), 1);
    assert_int_equal(count(tokenizer, "abcd"), 1);
    assert_int_equal(count(tokenizer, "abcde"), 2);
    assert_int_equal(count(tokenizer, "\xff\xff"), 2);
    assert_int_equal(count(tokenizer, "\xf0\x9f\x98"), 1);
    assert_int_equal(count(tokenizer, "\xed\xa0\x80"), 3);
    vcm_tokenizer_close(tokenizer);
}

static void the_longest_prefix_ends_at_a_line_or_between_characters(void **state)
{
    (void)state;
    struct vcm_tokenizer *tokenizer = open_tokenizer("approx4");
    size_t tokens;

    struct vcm_slice lines = vcm_slice_of_string("abc\ndef\nghij");
    assert_int_equal(vcm_tokenizer_fit(tokenizer, lines, 2, &tokens), 8);
    assert_int_equal(tokens, 2);
    assert_int_equal(vcm_tokenizer_fit(tokenizer, lines, 3, &tokens), 12);
    struct vcm_slice line = vcm_slice_of_string("abc\r\ndef");
    assert_int_equal(vcm_tokenizer_fit(tokenizer, line, 1, &tokens), 3);
    struct vcm_slice wide = vcm_slice_of_string("ab\xe2\x82\xac");
    assert_int_equal(vcm_tokenizer_fit(tokenizer, wide, 1, &tokens), 2);
    assert_int_equal(vcm_tokenizer_fit(tokenizer, wide, 0, &tokens), 0);
    assert_int_equal(tokens, 0);
    vcm_tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_name_is_refused_with_the_known_ones),
        cmocka_unit_test(approx4_counts_bytes_by_four_rounded_up_after_replacement),
        cmocka_unit_test(the_longest_prefix_ends_at_a_line_or_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
