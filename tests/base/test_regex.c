#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/regex.h"
#include "base/regex_literal.h"
#include "tests/support/random.h"

#include "base/banned.h"

/* The numbers of the lines that match, from 1, and the columns: "2:1 5:3 ". */
static int search(struct vcm_buf *out, const char *pattern, const struct vcm_regex_options *options,
                  struct vcm_slice text, struct vcm_error *err)
{
    struct vcm_regex *regex = NULL;
    struct vcm_regex_matcher *matcher = NULL;
    struct vcm_regex_line line;
    size_t from = 0, number = 1, at = 0;

    vcm_buf_clear(out);
    int rc = vcm_regex_open(&regex, pattern, options, err);
    if (rc == VCM_OK)
        rc = vcm_regex_matcher_open(&matcher, regex, 0, NULL, err);
    if (rc == VCM_OK)
        vcm_regex_matcher_begin(matcher, text);
    while (rc == VCM_OK) {
        rc = vcm_regex_matcher_next(&line, matcher, from, err);
        if (rc != VCM_OK)
            break;
        assert_true(line.start >= from && line.start <= line.end && line.end <= text.len);
        assert_true(line.match_start >= line.start && line.match_end <= line.end);
        for (; at < line.start; at++)
            number += text.data[at] == '\n';
        vcm_buf_append_format(out, "%zu:%zu ", number, line.match_start - line.start + 1);
        const char *end = memchr(text.data + line.end, '\n', text.len - line.end);
        from = end ? (size_t)(end - text.data) + 1 : text.len;
    }
    vcm_regex_matcher_close(matcher);
    vcm_regex_close(regex);
    return rc == VCM_NOT_FOUND ? VCM_OK : rc;
}

static void assert_finds(const char *pattern, const char *letters, const char *text,
                         const char *expected)
{
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);
    struct vcm_error err = {0};
    const struct vcm_regex_options options = {.ignore_case = strchr(letters, 'i'),
                                              .word = strchr(letters, 'w'),
                                              .literal = strchr(letters, 'F')};

    int rc = search(&out, pattern, &options, vcm_slice_of_string(text), &err);
    if (rc != VCM_OK)
        fail_msg("%s: %s", pattern, err.message);
    assert_string_equal(vcm_buf_text(&out), expected);
    vcm_buf_release(&out);
}

static void lines_with_a_match_are_found(void **state)
{
    (void)state;
    assert_finds("needle", "", "hay\nneedle\nhay needle needle\n", "2:1 3:5 ");
    assert_finds("n[a-e]+dle", "", "hay\nneedle\nhay needle\n", "2:1 3:5 ");
    assert_finds("^b", "", "abc\nbcd\n", "2:1 ");
    assert_finds("c$", "", "abc\nbcd\nc", "1:3 3:1 ");
    assert_finds("^$", "", "a\n\nb\n", "2:1 ");
    assert_finds("", "", "a\nb\n", "1:1 2:1 ");
    assert_finds("x*", "", "a\nx", "1:1 2:1 ");
    assert_finds("foo|bar", "", "a foo\nb\nbar\n", "1:3 3:1 ");
    assert_finds("a", "", "", "");
}

static void no_match_crosses_a_line(void **state)
{
    (void)state;
    assert_finds("a\\s*b", "", "a\nb\na b\n", "3:1 ");
    assert_finds("[^x]+y", "", "a\nb y\n", "2:1 ");
    assert_finds("foo\\s*$", "", "foo \n\n\nbar\nfoo\n", "1:1 5:1 ");
    assert_finds("\\s+", "", "a\nb\n c\n", "3:1 ");
    assert_finds("(?s)a.b", "", "a\nb\n", "");
    assert_finds("(?<=\\n)b", "", "a\nb\n", "");
    assert_finds("\\Ab", "", "a\nb\n", "2:1 ");
    assert_finds("a\\z", "", "a\nb\n", "1:1 ");
    assert_finds("a(?!\\n)", "", "a\nb\n", "1:1 ");
}

static void carriage_returns_end_lines(void **state)
{
    (void)state;
    assert_finds("a$", "", "a\r\nb\r\na", "1:1 3:1 ");
    assert_finds("^\\s*$", "", "a\r\n\r\nb\r\n", "2:1 ");
    assert_finds("\r", "", "a\r\nb\rc\r\n", "2:2 ");
    assert_finds("\r", "F", "a\r\nb\rc\r\n", "2:2 ");
}

static void options_mean_what_they_mean_elsewhere(void **state)
{
    (void)state;
    assert_finds("NEEDLE", "i", "hay\nNeedle\n", "2:1 ");
    assert_finds("\xc3\x84rger", "i", "\xc3\xa4rger\n", "1:1 ");
    assert_finds("foo", "w", "foobar\nfoo_\na foo.\n", "3:3 ");
    assert_finds("-x", "w", "a -x b\n-xy\n", "1:3 ");
    assert_finds("foo|bar", "w", "foobar\nbar\n", "2:1 ");
    assert_finds("a.b", "F", "axb\na.b\n", "2:1 ");
    assert_finds("[x", "F", "a[x\n", "1:2 ");
    assert_finds("A.B", "Fi", "axb\na.b\n", "2:1 ");
    assert_finds("a.b", "Fw", "a.bc\na.b\n", "2:1 ");
    assert_finds("", "F", "a\n", "1:1 ");
}

static void words_are_those_of_unicode(void **state)
{
    (void)state;
    assert_finds("\\w+", "", "\xc3\xa9\n", "1:1 ");
    assert_finds("r\\b", "", "r\xc3\xa9\nr\n", "2:1 ");
    assert_finds("^.$", "", "\xc3\xa9\nab\n", "1:1 ");
    assert_finds("\\x{e9}", "", "e\n\xc3\xa9\n", "2:1 ");
    assert_finds("\\x{17f}", "i", "s\n", "1:1 ");
    assert_finds("k", "i", "\xe2\x84\xaa\n", "1:1 ");
}

static void a_pattern_that_is_none_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *pattern, *part;
    } cases[] = {
        {"a(b", "column 4"},         {"[z-a]", "column 4"},     {"*a", "column 1"},
        {"a\nb", "line break"},      {"a\\nb", "line break"},   {"(*UTF)a", "(*"},
        {"\xff", "not valid UTF-8"}, {"\\p\xc3\x84", "column"}, {"a)|(?:b", "column 2"},
    };
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vcm_error err = {0};
        int rc = search(&out, cases[i].pattern, &(struct vcm_regex_options){.word = i % 2 == 1},
                        vcm_slice_of_string("a"), &err);
        assert_int_equal(rc, VCM_INVALID_ARGUMENT);
        if (!strstr(err.message, cases[i].part))
            fail_msg("%s", err.message);
    }
    vcm_buf_release(&out);
}

static void an_expression_that_explodes_ends_with_its_name(void **state)
{
    static const char *const patterns[] = {"(x+x+)+[yz]", "(?:(x+x+)+[yz])(?<=z)",
                                           "^(\\w+\\s?)*[;:]$"};
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);

    (void)state;
    for (int i = 0; i < 5000; i++)
        vcm_buf_append_byte(&text, 'x');
    vcm_buf_append_string(&text, "!\n");
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        struct vcm_error err = {0};
        int rc = search(&out, patterns[i], &(struct vcm_regex_options){.word = false},
                        vcm_buf_slice(&text), &err);
        assert_int_equal(rc, VCM_TIMEOUT);
        assert_non_null(strstr(err.message, patterns[i]));
    }
    vcm_buf_release(&text);
    vcm_buf_release(&out);
}

static void a_deadline_and_a_flag_end_a_search(void **state)
{
    struct vcm_regex *regex = NULL;
    struct vcm_regex_matcher *matcher = NULL;
    struct vcm_regex_line line;
    struct vcm_cancel cancel = {.requested = 1};
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);

    (void)state;
    for (int i = 0; i < 1000; i++)
        vcm_buf_append_string(&text, "line\n");
    assert_int_equal(vcm_regex_open(&regex, "(?=x)y", &(struct vcm_regex_options){0}, NULL),
                     VCM_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vcm_regex_matcher_open(&matcher, regex, i == 0 ? 1 : 0, &cancel, NULL),
                         VCM_OK);
        vcm_regex_matcher_begin(matcher, vcm_buf_slice(&text));
        assert_int_equal(vcm_regex_matcher_next(&line, matcher, 0, NULL),
                         i == 0 ? VCM_TIMEOUT : VCM_INTERRUPTED);
        vcm_regex_matcher_close(matcher);
    }
    vcm_regex_close(regex);
    vcm_buf_release(&text);
}

static void assert_literal(const char *pattern, bool ignore_case, const char *text, bool whole,
                           bool plain)
{
    struct vcm_regex_literal literal;

    vcm_regex_literal_find(&literal, vcm_slice_of_string(pattern), ignore_case);
    if (strcmp(vcm_buf_text(&literal.text), text) != 0 || literal.is_whole != whole ||
        literal.is_plain != plain)
        fail_msg("%s: '%s' %d %d", pattern, vcm_buf_text(&literal.text), literal.is_whole,
                 literal.is_plain);
    vcm_regex_literal_release(&literal);
}

static void the_text_of_every_match_is_known(void **state)
{
    (void)state;
    assert_literal("needle", false, "needle", true, true);
    assert_literal("needles?", false, "needle", false, true);
    assert_literal("needle+x", false, "needle", false, true);
    assert_literal("a.needle[abc]x", false, "needle", false, true);
    assert_literal("a(?:need)le", false, "aneedle", true, true);
    assert_literal("(need)+le", false, "need", false, true);
    assert_literal("(need)?le", false, "le", false, true);
    assert_literal("one|two", false, "", false, true);
    assert_literal("(one|two)three", false, "three", false, true);
    assert_literal("\\bneedle\\b", false, "needle", false, true);
    assert_literal("a\\.b", false, "a.b", true, true);
    assert_literal("foo{2,}bar", false, "foo", false, true);
    assert_literal("foo{0,2}bar", false, "bar", false, true);
    assert_literal("foo{x", false, "foo{x", true, true);
    assert_literal("foo{,2}", false, "", false, false);
    assert_literal("x[]abc]yy[^]]zzz[[:alpha:]]", false, "zzz", false, true);
    assert_literal("needle", true, "", false, true);
    assert_literal("a->b_::", true, "_::", false, true);
    assert_literal("(?i)needle", false, "", false, false);
    assert_literal("need++le", false, "need", false, false);
    assert_literal("a\\Qb+\\E", false, "", false, false);
    assert_literal("needle\\z", false, "needle", false, false);
    assert_literal("\xc3\xa9t\xc3\xa9?", false, "\xc3\xa9t", false, true);
}

/* Lines that are searched one by one are what a search in all of them is held against. */
static void check_by_line(const char *pattern, const struct vcm_regex_options *options,
                          struct vcm_slice text)
{
    struct vcm_buf all = VCM_BUF_INIT(VCM_MIB), one = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf expected = VCM_BUF_INIT(VCM_MIB);
    struct vcm_error err = {0};
    size_t number = 1;

    if (search(&all, pattern, options, text, &err) == VCM_OK) {
        for (size_t from = 0; from < text.len; number++) {
            const char *end = memchr(text.data + from, '\n', text.len - from);
            size_t len = end ? (size_t)(end - text.data) - from : text.len - from;
            /* A line by itself, with something in it: an empty text has no line. */
            vcm_buf_clear(&one);
            assert_int_equal(search(&one, pattern, options,
                                    vcm_slice_of(text.data + from, len + (end != NULL)), &err),
                             VCM_OK);
            if (one.len > 0)
                vcm_buf_append_format(&expected, "%zu%s", number, strchr(one.data, ':'));
            from += len + (end != NULL);
        }
        if (strcmp(vcm_buf_text(&all), vcm_buf_text(&expected)) != 0)
            fail_msg("%s: %s, line by line %s", pattern, vcm_buf_text(&all),
                     vcm_buf_text(&expected));
    } else {
        assert_int_equal(err.code, VCM_INVALID_ARGUMENT);
    }
    vcm_buf_release(&expected);
    vcm_buf_release(&one);
    vcm_buf_release(&all);
}

static void a_search_in_all_lines_is_one_in_each(void **state)
{
    static const char *const parts[] = {"a",   "b", "ab",  ".",   "[ab]",  "[^a]",  "\\s",
                                        "\\w", "^", "$",   "\\b", "(a|b)", "(ab)",  "*",
                                        "+",   "?", "|",   "\\S", "(?:",   ")",     "{2}",
                                        "\\W", "(", "\\1", "x*",  "(?=a)", "(?!b)", "\xc3\xa9"};
    static const char letters[] = "aabb  \n\n\rx\xc3";
    uint64_t seed = 11;
    struct vcm_buf pattern = VCM_BUF_INIT(VCM_MIB);
    char text[64];

    (void)state;
    for (int round = 0; round < 6000; round++) {
        size_t len = 0;
        vcm_buf_clear(&pattern);
        for (unsigned n = test_random_below(&seed, 6); n > 0; n--)
            vcm_buf_append_string(&pattern,
                                  parts[test_random_below(&seed, sizeof parts / sizeof parts[0])]);
        for (unsigned n = test_random_below(&seed, 24); n > 0; n--) {
            char c = letters[test_random_below(&seed, sizeof letters - 1)];
            text[len++] = c;
            if (c == '\xc3')
                text[len++] = '\xa9';
        }
        check_by_line(vcm_buf_text(&pattern),
                      &(struct vcm_regex_options){.ignore_case = round % 5 == 0,
                                                  .word = round % 7 == 0,
                                                  .literal = round % 11 == 0},
                      vcm_slice_of(text, len));
    }
    vcm_buf_release(&pattern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_with_a_match_are_found),
        cmocka_unit_test(no_match_crosses_a_line),
        cmocka_unit_test(carriage_returns_end_lines),
        cmocka_unit_test(options_mean_what_they_mean_elsewhere),
        cmocka_unit_test(words_are_those_of_unicode),
        cmocka_unit_test(a_pattern_that_is_none_is_refused_with_its_place),
        cmocka_unit_test(an_expression_that_explodes_ends_with_its_name),
        cmocka_unit_test(a_deadline_and_a_flag_end_a_search),
        cmocka_unit_test(the_text_of_every_match_is_known),
        cmocka_unit_test(a_search_in_all_lines_is_one_in_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
