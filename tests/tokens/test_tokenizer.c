#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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

/* Counted by npm's tiktoken 1.0.22; tests/tokens/compare.mjs is the proof, this is its reminder. */
static const struct {
    const char *text;
    size_t o200k;
    size_t cl100k;
} known[] = {
    {"", 0, 0},
    {"hello world", 2, 2},
    {"It's John's; WE'LL don't I'VE", 9, 13},
    {"XMLHttpRequest camelCase HTTPServer", 7, 6},
    {"1234567 12 3.14", 9, 9},
    {"    return x;\n\n\n    }\r\n", 6, 6},
    {"a/b//c/\n/d", 6, 6},
    {"<|endoftext|>", 7, 7},
    {"na\xc3\xafve \xc3\x89"
     "cole stra\xc3\x9f"
     "e",
     7, 8},
    {"\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xb8\x96\xe7\x95\x8c", 2, 5},
    {"e\xcc\x81\xcc\x81 A\xcc\x8a", 5, 6},
    {"\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7 "
     "\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd",
     11, 18},
    {"x'\xc5\xbfx the'\xc5\xbf'sthe", 10, 11},
    {"a \xc2\x85 b", 4, 4},
    {"  \n  \n  a", 3, 3},
    {"{\"path\":\"a.c\",\"text\":\"int main(void)\\n{\\n}\\n\"}", 18, 18},
    {"\xe4\xba\x9a\xe6\xb4\xb2"
     "AV ",
     3, 6},
    {"================", 1, 1},
    {"\t\t\tif (x == NULL) {\n", 8, 8},
};

static void exact_counts_are_those_of_the_published_encodings(void **state)
{
    (void)state;
    struct vcm_tokenizer *o200k = open_tokenizer("o200k_base");
    struct vcm_tokenizer *cl100k = open_tokenizer("cl100k_base");

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_int_equal(count(o200k, known[i].text), known[i].o200k);
        assert_int_equal(count(cl100k, known[i].text), known[i].cl100k);
    }
    vcm_tokenizer_close(o200k);
    vcm_tokenizer_close(cl100k);
}

/* A long run with something on both sides, for every way in which a run can be split. */
static char *make_run(const char *before, const char *unit, size_t units, const char *after)
{
    struct vcm_buf buf = VCM_BUF_INIT((size_t)1 << 20);
    vcm_buf_append_string(&buf, before);
    for (size_t i = 0; i < units; i++)
        vcm_buf_append_string(&buf, unit);
    vcm_buf_append_string(&buf, after);
    assert_int_equal(buf.fault, VCM_BUF_FINE);
    return vcm_buf_detach(&buf);
}

static void a_run_that_is_too_long_to_hold_counts_as_its_pieces_do(void **state)
{
    (void)state;
    struct vcm_tokenizer *tokenizer = open_tokenizer("o200k_base");

    /* Line breaks and blanks: the last break ends a piece, the last blank begins the next. */
    char *whole = make_run("", "\n", 3000, "   x");
    char *breaks = make_run("", "\n", 3000, "");
    assert_int_equal(count(tokenizer, whole),
                     count(tokenizer, breaks) + count(tokenizer, "  ") + 1);
    free(whole);
    free(breaks);
    /* Capitals behind a caseless letter are a piece of their own, unless a small letter follows. */
    whole = make_run("", "\xe4\xba\x9a\xe6\xb4\xb2", 600, "AV.");
    char *caseless = make_run("", "\xe4\xba\x9a\xe6\xb4\xb2", 600, "");
    assert_int_equal(count(tokenizer, whole), count(tokenizer, caseless) + 2);
    free(whole);
    whole = make_run("", "\xe4\xba\x9a\xe6\xb4\xb2", 600, "AVe.");
    assert_int_equal(count(tokenizer, whole), count(tokenizer, caseless) + 2);
    free(whole);
    free(caseless);
    vcm_tokenizer_close(tokenizer);
}

static void text_in_pieces_counts_as_the_whole_wherever_it_is_cut(void **state)
{
    (void)state;
    static const char text[] =
        "It's 12345 na\xc3\xafve caf\xc3\xa9s\r\n\r\n\t  {\"a\": \xe4\xbd\xa0\xe5"
        "\xa5\xbd} don\xe2\x80\x99t \xff\xf0\x9f\x98 \xf0\x9f\x98\x80!!\n";
    for (const char *const *name = vcm_tokenizer_names(); *name; name++) {
        struct vcm_tokenizer *tokenizer = open_tokenizer(*name);
        size_t expected = count(tokenizer, text);
        for (size_t cut = 0; cut < sizeof text; cut++) {
            struct vcm_tokenizer_counter counter;
            vcm_tokenizer_counter_init(&counter, tokenizer);
            vcm_tokenizer_counter_feed(&counter, vcm_slice_of(text, cut));
            struct vcm_slice rest = vcm_slice_of(text + cut, sizeof text - 1 - cut);
            assert_int_equal(vcm_tokenizer_counter_total(&counter, rest), expected);
            vcm_tokenizer_counter_feed(&counter, rest);
            assert_int_equal(vcm_tokenizer_counter_finish(&counter), expected);
            assert_true(vcm_tokenizer_counter_floor(&counter) <= expected);
        }
        vcm_tokenizer_close(tokenizer);
    }
}

/* The longest prefix, found by trying all. */
static size_t fit_slowly(const struct vcm_tokenizer *tokenizer, const char *text, size_t limit,
                         bool lines)
{
    size_t len = strlen(text);
    size_t best = 0;
    for (size_t end = 1; end <= len; end++) {
        bool inside = ((unsigned char)text[end] & 0xc0) == 0x80 ||
                      (text[end - 1] == '\r' && text[end] == '\n');
        if (inside || (lines && end < len && text[end - 1] != '\n'))
            continue;
        if (vcm_tokenizer_count(tokenizer, vcm_slice_of(text, end)) <= limit)
            best = end;
    }
    return best > 0 || !lines ? best : fit_slowly(tokenizer, text, limit, false);
}

static void the_prefix_that_fits_is_the_longest_there_is(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "int main(void)\n{\n    return 0;\n}\n\n\n\n\nint x;\r\n\r\nlast",
        "one line of unbelievable words \xe4\xbd\xa0\xe5\xa5\xbd and caf\xc3\xa9",
        "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
        "a\r\n\r\n\r\n\r\n\r\n                                                               b",
    };
    for (const char *const *name = vcm_tokenizer_names(); *name; name++) {
        struct vcm_tokenizer *tokenizer = open_tokenizer(*name);
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
            for (size_t limit = 0; limit < 24; limit++) {
                size_t tokens;
                size_t len =
                    vcm_tokenizer_fit(tokenizer, vcm_slice_of_string(texts[i]), limit, &tokens);
                assert_int_equal(len, fit_slowly(tokenizer, texts[i], limit, true));
                assert_true(tokens <= limit);
            }
        }
        vcm_tokenizer_close(tokenizer);
    }
}

static void a_limit_is_kept_and_a_count_under_it_is_exact(void **state)
{
    (void)state;
    struct vcm_tokenizer *tokenizer = open_tokenizer("o200k_base");
    char *run = make_run("x ", "\xc3\xa9t\xc3\xa9 ", 100000, "");
    struct vcm_slice text = vcm_slice_of_string(run);
    size_t exact = vcm_tokenizer_count(tokenizer, text);

    assert_int_equal(vcm_tokenizer_count_limited(tokenizer, text, exact), exact);
    assert_true(vcm_tokenizer_count_limited(tokenizer, text, exact - 1) > exact - 1);
    size_t stopped = vcm_tokenizer_count_limited(tokenizer, text, 10);
    assert_true(stopped > 10 && stopped < exact);
    free(run);
    vcm_tokenizer_close(tokenizer);
}

struct counting {
    const struct vcm_tokenizer *tokenizer;
    size_t total;
};

static void *count_in_thread(void *arg)
{
    struct counting *counting = arg;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        counting->total += count(counting->tokenizer, known[i].text);
    return NULL;
}

static void threads_count_with_one_handle(void **state)
{
    (void)state;
    struct vcm_tokenizer *tokenizer = open_tokenizer("cl100k_base");
    struct counting expected = {tokenizer, 0}, found[4];
    pthread_t threads[4];

    count_in_thread(&expected);
    for (int i = 0; i < 4; i++) {
        found[i] = (struct counting){tokenizer, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, count_in_thread, &found[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(found[i].total, expected.total);
    }
    vcm_tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_name_is_refused_with_the_known_ones),
        cmocka_unit_test(approx4_counts_bytes_by_four_rounded_up_after_replacement),
        cmocka_unit_test(the_longest_prefix_ends_at_a_line_or_between_characters),
        cmocka_unit_test(exact_counts_are_those_of_the_published_encodings),
        cmocka_unit_test(a_run_that_is_too_long_to_hold_counts_as_its_pieces_do),
        cmocka_unit_test(text_in_pieces_counts_as_the_whole_wherever_it_is_cut),
        cmocka_unit_test(the_prefix_that_fits_is_the_longest_there_is),
        cmocka_unit_test(a_limit_is_kept_and_a_count_under_it_is_exact),
        cmocka_unit_test(threads_count_with_one_handle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
