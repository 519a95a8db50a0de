#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "kb/query.h"

#include "base/banned.h"

/* The terms as FTS5 strings, joined by spaces. */
static const char *terms(const char *text, size_t len)
{
    static struct vcm_buf out = VCM_BUF_INIT(1 << 20);
    struct vcm_query query;

    vcm_buf_clear(&out);
    assert_int_equal(vcm_query_init(&query, vcm_slice_of(text, len), NULL), VCM_OK);
    for (unsigned i = 0; i < query.count; i++) {
        if (i > 0)
            vcm_buf_append_byte(&out, ' ');
        vcm_query_quote(&out, &query.terms[i]);
    }
    vcm_query_release(&query);
    return vcm_buf_text(&out);
}

static void assert_terms(const char *text, const char *expected)
{
    assert_string_equal(terms(text, strlen(text)), expected);
}

static void words_phrases_and_prefixes_are_terms(void **state)
{
    (void)state;
    assert_terms("page fault", "\"page\" \"fault\"");
    assert_terms("\"page fault\" hand", "\"page fault\" \"hand\"");
    assert_terms("evict*", "\"evict\"*");
    assert_terms("ev* \"page fa\"* x\xe6\xbc\xa2*", "\"ev\" \"page fa\" \"x\xe6\xbc\xa2\"*");
    assert_terms("\"page fau\"* x", "\"page fau\"* \"x\"");
    assert_terms("a\"b c\"d", "\"a\" \"b c\" \"d\"");
    assert_terms("  twice twice ", "\"twice\"");
}

static void operators_are_words_and_marks_are_nothing(void **state)
{
    (void)state;
    assert_terms("a AND (b OR NOT c)", "\"a\" \"AND\" \"(b\" \"OR\" \"NOT\" \"c)\"");
    assert_terms("text:x NEAR(a,b) ^y -z", "\"text:x\" \"NEAR(a,b)\" \"^y\" \"-z\"");
    assert_terms("!!! * ** \"\" \" ' -- ;", "");
    assert_terms("", "");
    assert_terms("\"open", "\"open\"");
    assert_string_equal(terms("a\0b\x01\xff", 5), "\"a\" \"b\" \"\xef\xbf\xbd\"");
}

static void long_queries_are_cut(void **state)
{
    (void)state;
    struct vcm_query query;
    char text[20000];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 4 == 3 ? ' ' : (char)('a' + i / 4 % 26 + (i % 4 == 1 ? i / 104 % 2 : 0));
    assert_int_equal(vcm_query_init(&query, vcm_slice_of(text, sizeof text), NULL), VCM_OK);
    assert_int_equal(query.count, VCM_QUERY_TERMS_MAX);
    vcm_query_release(&query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_phrases_and_prefixes_are_terms),
        cmocka_unit_test(operators_are_words_and_marks_are_nothing),
        cmocka_unit_test(long_queries_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
