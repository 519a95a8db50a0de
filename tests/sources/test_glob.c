#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/limits.h"
#include "sources/glob.h"

#include "base/banned.h"

static struct vcm_slice text(const char *string)
{
    return vcm_slice_of_string(string);
}

static enum vcm_glob_result match(const char *lines, const char *path, bool is_directory)
{
    struct vcm_glob_list list;

    vcm_glob_list_init(&list);
    assert_int_equal(vcm_glob_list_add_lines(&list, text(lines), NULL), VCM_OK);
    enum vcm_glob_result result = vcm_glob_list_match(&list, text(path), is_directory);
    vcm_glob_list_release(&list);
    return result;
}

#define check_file(lines, path, result)                                                            \
    assert_int_equal(match(lines, path, false), VCM_GLOB_##result)
#define check_directory(lines, path, result)                                                       \
    assert_int_equal(match(lines, path, true), VCM_GLOB_##result)

static void a_name_without_a_slash_matches_at_every_depth(void **state)
{
    (void)state;
    check_file("a.c", "a.c", MATCH);
    check_file("a.c", "x/y/a.c", MATCH);
    check_file("a.c", "a.cc", NONE);
    check_file("*.c", "x/y/a.c", MATCH);
    check_file("*.c", ".c", MATCH);
    check_file("*.c", "a.c/b", NONE);
    check_file("test*", "x/tests", MATCH);
    check_file("test*", "x/a_tests", NONE);
    check_file("t*s", "x/tests", MATCH);
}

static void a_slash_at_the_front_or_inside_anchors(void **state)
{
    (void)state;
    check_file("/a.c", "a.c", MATCH);
    check_file("/a.c", "x/a.c", NONE);
    check_file("x/a.c", "x/a.c", MATCH);
    check_file("x/a.c", "y/x/a.c", NONE);
    check_file("/*.c", "a.c", MATCH);
    check_file("/*.c", "x/a.c", NONE);
    check_file("x/*", "x/a", MATCH);
    check_file("x/*", "x/a/b", NONE);
}

static void a_slash_at_the_end_means_directories(void **state)
{
    (void)state;
    check_directory("a/", "a", MATCH);
    check_directory("a/", "x/a", MATCH);
    check_file("a/", "a", NONE);
    check_directory("x/a/", "x/a", MATCH);
    check_directory("*/", "x/a", MATCH);
    check_directory("a**//", "a", MATCH);
}

static void two_stars_cross_directories_between_slashes(void **state)
{
    (void)state;
    check_file("**/a", "a", MATCH);
    check_file("**/a", "x/y/a", MATCH);
    check_file("**/a", "x/ya", NONE);
    check_file("x/**", "x/y/z", MATCH);
    check_file("x/**", "x", NONE);
    check_file("x/**/z", "x/z", MATCH);
    check_file("x/**/z", "x/a/b/z", MATCH);
    check_file("x/**/z", "x/az", NONE);
    check_file("**/x/**/y/*.c", "a/x/b/c/y/d.c", MATCH);
    check_file("**/x/**/y/*.c", "a/x/b/c/y/e/d.c", NONE);
    check_file("/x?**/z", "xa/z", MATCH);
    check_file("/x?**/z", "xa/b/z", NONE);
}

static void wildcards_do_not_take_a_slash(void **state)
{
    (void)state;
    check_file("/a?b", "a/b", NONE);
    check_file("/a*b", "a/b", NONE);
    check_file("/a[/]b", "a/b", NONE);
    check_file("/a[!x]b", "a/b", NONE);
    check_file("/a[.-0]b", "a/b", NONE);
}

static void brackets_know_ranges_classes_negation_and_escapes(void **state)
{
    (void)state;
    check_file("[a-c]1", "b1", MATCH);
    check_file("[a-c]1", "d1", NONE);
    check_file("[!a-c]1", "d1", MATCH);
    check_file("[^a-c]1", "a1", NONE);
    check_file("[]a]", "]", MATCH);
    check_file("[a-]", "-", MATCH);
    check_file("[\\]a]", "]", MATCH);
    check_file("[z-a]", "m", NONE);
    check_file("[[:digit:][:upper:]]", "7", MATCH);
    check_file("[[:digit:][:upper:]]", "G", MATCH);
    check_file("[[:digit:][:upper:]]", "g", NONE);
    check_file("[[:alpha:]]", "\xc3", NONE);
    check_file("[[:nonsense:]]", "n", NONE);
    check_file("[ab", "a", NONE);
}

static void every_class_holds_what_git_says(void **state)
{
    static const struct {
        const char *name;
        unsigned count;
    } classes[] = {{"alnum", 62}, {"alpha", 52}, {"blank", 2},  {"cntrl", 32},
                   {"digit", 10}, {"graph", 93}, {"lower", 26}, {"print", 94},
                   {"punct", 31}, {"space", 4},  {"upper", 26}, {"xdigit", 22}};

    (void)state;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        struct vcm_buf pattern = VCM_BUF_INIT(64);
        unsigned count = 0;
        vcm_buf_append_format(&pattern, "[[:%s:]]", classes[i].name);
        for (unsigned c = 1; c < 256; c++) {
            char name[1] = {(char)c};
            size_t steps = 0;
            if (vcm_glob_matches(vcm_buf_slice(&pattern), vcm_slice_of(name, 1), &steps))
                count++;
        }
        vcm_buf_release(&pattern);
        assert_int_equal(count, classes[i].count);
    }
}

static void the_last_match_wins_and_negation_is_told_apart(void **state)
{
    (void)state;
    check_file("*.c\n!a.c\n", "a.c", NEGATED);
    check_file("!a.c\n*.c\n", "a.c", MATCH);
    check_file("*.c\n!a.c\n", "b.c", MATCH);
    check_file("!a.c", "a.c", NEGATED);
    check_file("\\!a.c", "!a.c", MATCH);
}

static void lines_are_read_as_git_reads_them(void **state)
{
    (void)state;
    check_file("# a\n#a", "#a", NONE);
    check_file("\\#a", "#a", MATCH);
    check_file("a   \n", "a", MATCH);
    check_file("a\\ \n", "a ", MATCH);
    check_file("a\\ \n", "a", NONE);
    check_file("a\t\n", "a", NONE);
    check_file("a\r\nb\r\n", "a", MATCH);
    check_file("\xef\xbb\xbf"
               "a\n",
               "a", MATCH);
    check_file("\n\n/\n!\n//\n", "a", NONE);
    check_file("a\\", "a", NONE);
    check_file("a\\", "a\\", NONE);
    check_file("a\\\\", "a\\", MATCH);
}

static void case_counts(void **state)
{
    (void)state;
    check_file("A.c", "a.c", NONE);
    check_file("[A-Z].c", "a.c", NONE);
}

static void mark_used(const struct vcm_glob_list *list, const char *path, bool is_directory,
                      bool *used)
{
    enum vcm_glob_result expected = vcm_glob_list_match(list, text(path), is_directory);

    assert_int_equal(vcm_glob_list_match_named(list, text(path), vcm_glob_last_part(text(path)),
                                               is_directory, used),
                     expected);
}

static void a_list_knows_where_it_cannot_match(void **state)
{
    static const struct {
        const char *pattern;
        const char *directory;
        bool reaches;
    } cases[] = {
        {"*.c", "x", true},    {"x", "y/z", true},      {"/x", "x", false},
        {"/x/y", "x", true},   {"/x/y", "x/y", false},  {"x/y/z", "x/yy", false},
        {"x/**", "x/y", true}, {"x/**", "y", false},    {"/x*/y", "xz", true},
        {"/x*/y", "y", false}, {"/x/y*", "x", true},    {"x/y*/z", "xx", false},
        {"**/a", "x/y", true}, {"a**/b", "ab/c", true}, {"[a", "x", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vcm_glob_list list;
        vcm_glob_list_init(&list);
        assert_int_equal(vcm_glob_list_add(&list, text(cases[i].pattern), NULL), VCM_OK);
        if (vcm_glob_list_reaches(&list, text(cases[i].directory)) != cases[i].reaches)
            fail_msg("%s below %s", cases[i].pattern, cases[i].directory);
        vcm_glob_list_release(&list);
    }
}

static void patterns_that_match_by_themselves_are_marked(void **state)
{
    static const char *const patterns[] = {"*.c", "!a.c", "b.c", "x/"};
    bool used[4] = {false};
    struct vcm_glob_list list;

    (void)state;
    vcm_glob_list_init(&list);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(vcm_glob_list_add(&list, text(patterns[i]), NULL), VCM_OK);
    mark_used(&list, "a.c", false, used);
    assert_true(used[0] && used[1] && !used[2] && !used[3]);
    mark_used(&list, "x", true, used);
    assert_true(used[0] && used[1] && !used[2] && used[3]);
    vcm_glob_list_release(&list);
}

static void a_list_takes_what_lies_below_a_directory_that_it_takes(void **state)
{
    struct vcm_glob_list list;

    (void)state;
    vcm_glob_list_init(&list);
    assert_int_equal(vcm_glob_list_add_lines(&list, text("docs/\n!*.c\n*.md\n!/x/*.md"), NULL),
                     VCM_OK);
    assert_true(vcm_glob_list_takes(&list, text("docs/a.c")));
    assert_true(vcm_glob_list_takes(&list, text("y/docs/z/a")));
    assert_true(vcm_glob_list_takes(&list, text("y/a.md")));
    assert_false(vcm_glob_list_takes(&list, text("x/a.md")));
    assert_false(vcm_glob_list_takes(&list, text("docs")));
    vcm_glob_list_release(&list);
}

static void a_pattern_that_cannot_match_keeps_its_place(void **state)
{
    bool used[3] = {false};
    struct vcm_glob_list list;

    (void)state;
    vcm_glob_list_init(&list);
    assert_int_equal(vcm_glob_list_add(&list, text(""), NULL), VCM_OK);
    assert_int_equal(vcm_glob_list_add(&list, text("[a"), NULL), VCM_OK);
    assert_int_equal(vcm_glob_list_add(&list, text("a"), NULL), VCM_OK);
    assert_int_equal(list.count, 3);
    mark_used(&list, "a", false, used);
    assert_true(!used[0] && !used[1] && used[2]);
    vcm_glob_list_release(&list);
}

static void check_fault(const char *pattern, const char *message)
{
    struct vcm_error err = {0};

    assert_int_equal(vcm_glob_check(text(pattern), &err), VCM_INVALID_ARGUMENT);
    assert_string_equal(err.message, message);
}

static void a_check_says_what_is_wrong_with_a_pattern(void **state)
{
    static const char bracket[] = "a '[' is not closed, names an unknown class, or a '\\' ends it";

    (void)state;
    assert_int_equal(vcm_glob_check(text("**/*.[ch]"), NULL), VCM_OK);
    assert_int_equal(vcm_glob_check(text("!/docs/"), NULL), VCM_OK);
    check_fault("", "it is empty");
    check_fault("  ", "there is nothing to match");
    check_fault("!", "there is nothing to match");
    check_fault("/", "there is nothing to match");
    check_fault("a//b", "it has two slashes in a row");
    check_fault("a//", "it has two slashes in a row");
    check_fault("#a", "'#' begins a comment; write '\\#' for the character");
    check_fault("a\nb", "it holds a NUL or a line break");
    check_fault("[ab", bracket);
    check_fault("[[:word:]]", bracket);
    check_fault("a\\", bracket);
}

static void lists_and_files_are_bounded(void **state)
{
    struct vcm_buf large = VCM_BUF_INIT(4 * VCM_MIB);
    struct vcm_glob_list list;
    struct vcm_error err = {0};

    (void)state;
    for (size_t i = 0; i <= VCM_LIMIT_IGNORE_FILE_BYTES; i++)
        vcm_buf_append_byte(&large, i % 2 ? '\n' : 'a');
    vcm_glob_list_init(&list);
    assert_int_equal(vcm_glob_list_add_lines(&list, vcm_buf_slice(&large), &err), VCM_UNSUPPORTED);
    vcm_error_reset(&err);
    assert_int_equal(
        vcm_glob_list_add_lines(&list, vcm_slice_of(large.data, VCM_LIMIT_IGNORE_FILE_BYTES), &err),
        VCM_UNSUPPORTED);
    assert_int_equal(list.count, VCM_LIMIT_GLOBS);
    vcm_glob_list_release(&list);

    vcm_glob_list_init(&list);
    memset(large.data, 'a', large.len);
    assert_int_equal(
        vcm_glob_list_add(&list, vcm_slice_of(large.data, VCM_LIMIT_GLOB_BYTES + 1), NULL),
        VCM_UNSUPPORTED);
    assert_int_equal(vcm_glob_list_add(&list, vcm_slice_of(large.data, VCM_LIMIT_GLOB_BYTES), NULL),
                     VCM_OK);
    vcm_glob_list_release(&list);
    vcm_buf_release(&large);
}

static void repeat(struct vcm_buf *out, const char *piece, unsigned count, const char *end)
{
    vcm_buf_clear(out);
    for (unsigned i = 0; i < count; i++)
        vcm_buf_append_string(out, piece);
    vcm_buf_append_string(out, end);
}

/* Patterns on which a matcher that tries every star again needs longer than the world will last. */
static void the_work_is_bounded_by_lengths_and_depth(void **state)
{
    static const char *const pieces[][4] = {
        {"*a", "b", "a", "c"},          {"/*a", "b", "a", "c"},
        {"**/", "x", "a/", "y"},        {"**/a/", "x", "a/", "y"},
        {"**/*a*/", "b", "aa/", "c"},   {"**/*a*a*a/", "b", "aaaa/", "c"},
        {"[a-z]*?", "/b", "abc/", "c"}, {"**\\/a", "x", "/a", "y"},
        {"*", "/b", "a", "a"},
    };
    struct vcm_buf pattern = VCM_BUF_INIT(1 * VCM_MIB);
    struct vcm_buf path = VCM_BUF_INIT(1 * VCM_MIB);

    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        for (unsigned size = 1; size <= 256; size *= 4) {
            size_t steps = 0, slashes = 2;
            repeat(&pattern, pieces[i][0], size, pieces[i][1]);
            repeat(&path, pieces[i][2], size, pieces[i][3]);
            for (size_t at = 0; at < path.len; at++)
                slashes += path.data[at] == '/';
            assert_false(vcm_glob_matches(vcm_buf_slice(&pattern), vcm_buf_slice(&path), &steps));
            /* A bracket of five bytes is 33 bytes of code, any other byte two at the most. */
            assert_true(steps <= (path.len + 1) * (8 * pattern.len + 1) * slashes);
        }
    }
    vcm_buf_release(&path);
    vcm_buf_release(&pattern);
}

/* Counts on from where a walk would be after most of its steps. */
static enum vcm_glob_result match_late(struct vcm_glob_work *work, const char *pattern)
{
    struct vcm_glob_list list;
    struct vcm_buf path = VCM_BUF_INIT(VCM_KIB);
    enum vcm_glob_result result = VCM_GLOB_NONE;

    vcm_glob_list_init(&list);
    list.work = work;
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(vcm_glob_list_add(&list, text(pattern), NULL), VCM_OK);
    for (unsigned i = 0; i < 200; i++)
        vcm_buf_append_byte(&path, 'a');
    work->steps = VCM_LIMIT_GLOB_STEPS;
    for (unsigned i = 0; i < 100 && !work->is_over; i++)
        result = vcm_glob_list_match(&list, vcm_buf_slice(&path), false);
    vcm_buf_release(&path);
    vcm_glob_list_release(&list);
    return result;
}

static void patterns_that_are_too_costly_are_refused(void **state)
{
    struct vcm_glob_work work = {.steps = 0}, cancelled = {.steps = 0}, cheap = {.steps = 0};
    struct vcm_cancel cancel = {0};
    struct vcm_error err = {0};

    (void)state;
    match_late(&work, "*a*a*a*ba");
    assert_true(work.is_over);
    assert_true(work.steps <= VCM_LIMIT_GLOB_STEPS + work.paths * VCM_LIMIT_GLOB_STEPS_EACH +
                                  VCM_LIMIT_GLOB_STEPS_ONE);
    assert_int_equal(vcm_glob_work_check(&work, &err), VCM_UNSUPPORTED);
    assert_non_null(strstr(err.message, "too costly"));
    vcm_cancel_request(&cancel);
    cancelled.cancel = &cancel;
    match_late(&cancelled, "xa");
    assert_int_equal(vcm_glob_work_check(&cancelled, NULL), VCM_INTERRUPTED);
    match_late(&cheap, "xa");
    assert_int_equal(vcm_glob_work_check(&cheap, NULL), VCM_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_that_are_too_costly_are_refused),
        cmocka_unit_test(a_name_without_a_slash_matches_at_every_depth),
        cmocka_unit_test(a_slash_at_the_front_or_inside_anchors),
        cmocka_unit_test(a_slash_at_the_end_means_directories),
        cmocka_unit_test(two_stars_cross_directories_between_slashes),
        cmocka_unit_test(wildcards_do_not_take_a_slash),
        cmocka_unit_test(brackets_know_ranges_classes_negation_and_escapes),
        cmocka_unit_test(every_class_holds_what_git_says),
        cmocka_unit_test(the_last_match_wins_and_negation_is_told_apart),
        cmocka_unit_test(lines_are_read_as_git_reads_them),
        cmocka_unit_test(case_counts),
        cmocka_unit_test(a_list_knows_where_it_cannot_match),
        cmocka_unit_test(patterns_that_match_by_themselves_are_marked),
        cmocka_unit_test(a_list_takes_what_lies_below_a_directory_that_it_takes),
        cmocka_unit_test(a_pattern_that_cannot_match_keeps_its_place),
        cmocka_unit_test(a_check_says_what_is_wrong_with_a_pattern),
        cmocka_unit_test(lists_and_files_are_bounded),
        cmocka_unit_test(the_work_is_bounded_by_lengths_and_depth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
