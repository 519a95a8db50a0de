#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/limits.h"
#include "sources/path_filter.h"
#include "tests/support/repo.h"

#include "base/banned.h"

#define LIST(...)                                                                                  \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)

struct fixture {
    struct test_repo disk;
    struct vcm_git_repo *repo;
    struct vcm_git_id commit;
    struct vcm_error err;
    struct vcm_path_filter *filter;
    struct vcm_buf seen; /* a line for each leaf: path, and for each verdict index and letter */
};

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    vcm_buf_init(&fix->seen, VCM_MIB);
    test_repo_init(&fix->disk);
    assert_int_equal(vcm_path_filter_open(&fix->filter, NULL), VCM_OK);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_path_filter_close(fix->filter);
    vcm_git_repo_close(fix->repo);
    vcm_buf_release(&fix->seen);
    test_repo_release(&fix->disk);
    free(fix);
    return 0;
}

static void commit(struct fixture *fix)
{
    test_repo_git(&fix->disk, "add", "-A", "-f", NULL);
    test_repo_git(&fix->disk, "commit", "-q", "-m", "x", NULL);
    vcm_git_repo_close(fix->repo);
    if (vcm_git_repo_open(&fix->repo, fix->disk.path, &fix->err) != VCM_OK ||
        vcm_git_repo_resolve(&fix->commit, fix->repo, NULL, NULL, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
}

static void write_files(struct fixture *fix, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        test_repo_write_text(&fix->disk, names[i], names[i]);
}

static void add(struct fixture *fix, struct vcm_path_filter_spec spec)
{
    if (!spec.start_dir)
        spec.start_dir = "";
    assert_int_equal(vcm_path_filter_add(fix->filter, &spec, &fix->err), VCM_OK);
}

static int note(void *context, const struct vcm_git_entry *entry,
                const struct vcm_path_filter_verdict *verdicts, unsigned count,
                struct vcm_error *err)
{
    struct fixture *fix = context;

    (void)err;
    vcm_buf_append_slice(&fix->seen, entry->path);
    for (unsigned i = 0; i < count; i++)
        vcm_buf_append_format(&fix->seen, " %u%c", verdicts[i].index, "xit"[verdicts[i].verdict]);
    vcm_buf_append_byte(&fix->seen, '\n');
    return VCM_OK;
}

static int walk(struct fixture *fix, const char *start_dir)
{
    vcm_buf_clear(&fix->seen);
    vcm_error_reset(&fix->err);
    return vcm_path_filter_walk(fix->filter, fix->repo, &fix->commit, start_dir, note, fix, NULL,
                                &fix->err);
}

static void check(struct fixture *fix, const char *expected)
{
    if (walk(fix, "") != VCM_OK)
        fail_msg("%s", fix->err.message);
    assert_string_equal(vcm_buf_text(&fix->seen), expected);
}

static void patterns_are_relative_to_start_dir(void **state)
{
    struct fixture *fix = *state;

    write_files(fix, LIST("a.c", "x/a.c", "x/sub/a.c", "x/sub/b.h", "xy/a.c"));
    commit(fix);
    add(fix, (struct vcm_path_filter_spec){.start_dir = "x", .include = LIST("/*.c")});
    add(fix, (struct vcm_path_filter_spec){.start_dir = "x/sub/", .exclude = LIST("*.h")});
    add(fix, (struct vcm_path_filter_spec){.include = LIST("x/a.c")});
    check(fix, "a.c 2x\nx/a.c 0t 2t\nx/sub/a.c 0x 1t 2x\nx/sub/b.h 0x 1x 2x\nxy/a.c 2x\n");
}

static void no_include_takes_everything_and_exclude_wins(void **state)
{
    struct fixture *fix = *state;

    write_files(fix, LIST("a.c", "b.c", "c.h"));
    commit(fix);
    add(fix, (struct vcm_path_filter_spec){0});
    add(fix, (struct vcm_path_filter_spec){.include = LIST("*.c"), .exclude = LIST("a.*")});
    check(fix, "a.c 0t 1x\nb.c 0t 1t\nc.h 0t 1x\n");
}

static void a_directory_that_matches_takes_all_below_it(void **state)
{
    struct fixture *fix = *state;

    write_files(fix, LIST("docs/a.md", "docs/deep/b.md", "docs/deep/c.c", "e.md", "lib/docs"));
    commit(fix);
    add(fix, (struct vcm_path_filter_spec){.include = LIST("docs/")});
    add(fix, (struct vcm_path_filter_spec){.include = LIST("docs", "!*.md")});
    add(fix, (struct vcm_path_filter_spec){.include = LIST("docs/*", "!docs/deep")});
    add(fix, (struct vcm_path_filter_spec){.exclude = LIST("deep", "!*.c")});
    check(fix, "e.md 0x 1x 2x 3t\ndocs/a.md 0t 1t 2t 3t\ndocs/deep/b.md 0t 1t 2x 3x\n"
               "docs/deep/c.c 0t 1t 2x 3x\nlib/docs 0x 1t 2x 3t\n");
}

static void ignore_files_count_behind_exclusion_and_only_for_those_who_heed_them(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, ".gitignore", "*.log\nbuild/\n");
    test_repo_write_text(&fix->disk, "x/.colonyignore", "!keep.log\nsecret\n");
    write_files(fix, LIST("a.log", "build/o", "x/keep.log", "x/secret"));
    commit(fix);
    add(fix, (struct vcm_path_filter_spec){.heed_ignore_files = true, .exclude = LIST("a.*")});
    add(fix, (struct vcm_path_filter_spec){0});
    check(fix, ".gitignore 0t 1t\na.log 0x 1t\nbuild/o 0i 1t\nx/.colonyignore 0t 1t\n"
               "x/keep.log 0t 1t\nx/secret 0i 1t\n");
}

static void ignore_files_above_start_dir_count(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, ".gitignore", "*.log\n");
    test_repo_write_text(&fix->disk, "x/.gitignore", "/y/b\n");
    write_files(fix, LIST("x/y/a", "x/y/a.log", "x/y/b"));
    commit(fix);
    add(fix, (struct vcm_path_filter_spec){.start_dir = "x/y", .heed_ignore_files = true});
    assert_int_equal(walk(fix, "x/y"), VCM_OK);
    assert_string_equal(vcm_buf_text(&fix->seen), "x/y/a 0t\nx/y/a.log 0i\nx/y/b 0i\n");
}

static void an_ignore_file_that_is_a_link_is_none(void **state)
{
    struct fixture *fix = *state;
    char *path = test_repo_path(&fix->disk, ".gitignore");

    write_files(fix, LIST("a"));
    assert_int_equal(symlink("a", path), 0);
    free(path);
    commit(fix);
    add(fix, (struct vcm_path_filter_spec){.heed_ignore_files = true});
    check(fix, ".gitignore 0t\na 0t\n");
}

static void an_ignore_file_that_is_too_large_is_named(void **state)
{
    struct fixture *fix = *state;
    char *large = calloc(1, VCM_LIMIT_IGNORE_FILE_BYTES + 1);

    memset(large, '\n', VCM_LIMIT_IGNORE_FILE_BYTES + 1);
    test_repo_write(&fix->disk, "x/.gitignore", large, VCM_LIMIT_IGNORE_FILE_BYTES + 1);
    free(large);
    commit(fix);
    add(fix, (struct vcm_path_filter_spec){.heed_ignore_files = true});
    assert_int_equal(walk(fix, ""), VCM_UNSUPPORTED);
    assert_string_equal(fix->err.context, "x/.gitignore");
}

static void a_start_dir_that_is_not_there_is_told(void **state)
{
    struct fixture *fix = *state;

    write_files(fix, LIST("x/a", "y"));
    commit(fix);
    add(fix, (struct vcm_path_filter_spec){.start_dir = "x/"});
    add(fix, (struct vcm_path_filter_spec){.start_dir = "y"});
    add(fix, (struct vcm_path_filter_spec){.start_dir = "x/z"});
    add(fix, (struct vcm_path_filter_spec){0});
    check(fix, "y 3t\nx/a 0t 3t\n");
    assert_true(vcm_path_filter_found(fix->filter, 0));
    assert_false(vcm_path_filter_found(fix->filter, 1));
    assert_false(vcm_path_filter_found(fix->filter, 2));
    assert_true(vcm_path_filter_found(fix->filter, 3));
}

static void patterns_that_match_nothing_are_known(void **state)
{
    struct fixture *fix = *state;

    write_files(fix, LIST("docs/a.md", "b.c"));
    commit(fix);
    add(fix, (struct vcm_path_filter_spec){.include = LIST("docs/", "*.md", "*.rst"),
                                           .exclude = LIST("docs/*", "*.h")});
    vcm_path_filter_note_use(fix->filter);
    assert_int_equal(walk(fix, ""), VCM_OK);
    assert_true(vcm_path_filter_include_used(fix->filter, 0, 0));
    assert_true(vcm_path_filter_include_used(fix->filter, 0, 1));
    assert_false(vcm_path_filter_include_used(fix->filter, 0, 2));
    assert_true(vcm_path_filter_exclude_used(fix->filter, 0, 0));
    assert_false(vcm_path_filter_exclude_used(fix->filter, 0, 1));
}

/* Takes the verdicts of exclusion, " 3x", out of what was seen. */
static void drop_excluded(struct vcm_buf *out, const char *seen)
{
    while (*seen != '\0') {
        size_t len = *seen == ' ' ? 1 + strspn(seen + 1, "0123456789") : 0;
        if (len > 1 && seen[len] == 'x')
            seen += len + 1;
        else
            vcm_buf_append_byte(out, *seen++);
    }
}

static void what_is_taken_does_not_depend_on_skipping_what_is_excluded(void **state)
{
    static const char *const includes[] = {"*.c",   "/x/y/*.c", "x/**",   "x/y/b.c", "/y",
                                           "y/",    "!a.c",     "x*/z/",  "**/b.c",  "/x/",
                                           "x/?/*", "a.c",      "x/y/z/", "/x/y*",   "z"};
    const unsigned count = sizeof includes / sizeof includes[0];
    struct fixture *fix = *state;
    struct vcm_buf expected = VCM_BUF_INIT(VCM_MIB);

    write_files(fix, LIST("a.c", "b.c", "x/a.c", "x/b.h", "x/y/a.c", "x/y/b.c", "x/y/z/a.c",
                          "xx/z/a.c", "y/a.c", "y/z/b.c", "z/y/x/a.c"));
    test_repo_write_text(&fix->disk, ".gitignore", "z/b.c\n");
    commit(fix);
    for (unsigned i = 0; i < count * count; i++)
        add(fix, (struct vcm_path_filter_spec){
                     .start_dir = i % 3 == 0 ? "x" : "",
                     .include = LIST(includes[i / count], includes[i % count]),
                     .exclude = LIST(includes[i * 7 % count]),
                     .heed_ignore_files = i % 2 == 0,
                 });
    assert_int_equal(walk(fix, ""), VCM_OK);
    drop_excluded(&expected, vcm_buf_text(&fix->seen));
    vcm_path_filter_skip_excluded(fix->filter);
    check(fix, vcm_buf_text(&expected));
    vcm_path_filter_note_use(fix->filter);
    check(fix, vcm_buf_text(&expected));
    vcm_buf_release(&expected);
}

static int note_unchanged(void *context, struct vcm_slice directory, bool *skip,
                          struct vcm_error *err)
{
    struct fixture *fix = context;

    (void)err;
    vcm_buf_append_format(&fix->seen, "= %.*s\n", (int)directory.len, directory.data);
    *skip = true;
    return VCM_OK;
}

static void directories_that_have_not_changed_are_told_and_may_be_skipped(void **state)
{
    struct fixture *fix = *state;

    write_files(fix, LIST("a", "x/a", "x/y/a", "x/z/a", "w/a"));
    commit(fix);
    const struct vcm_git_id base = fix->commit;
    test_repo_write_text(&fix->disk, "x/a", "changed");
    commit(fix);
    add(fix, (struct vcm_path_filter_spec){.heed_ignore_files = true});
    vcm_path_filter_set_base(fix->filter, &base, note_unchanged);
    check(fix, "a 0t\n= w\nx/a 0t\n= x/y\n= x/z\n");
    assert_int_equal(walk(fix, "x"), VCM_OK);
    assert_string_equal(vcm_buf_text(&fix->seen), "x/a 0t\n= x/y\n= x/z\n");
    vcm_path_filter_set_base(fix->filter, NULL, NULL);
    check(fix, "a 0t\nw/a 0t\nx/a 0t\nx/y/a 0t\nx/z/a 0t\n");
}

static void below_an_ignore_file_that_has_changed_nothing_is_unchanged(void **state)
{
    struct fixture *fix = *state;

    write_files(fix, LIST("x/y/a", "w/v/a"));
    commit(fix);
    const struct vcm_git_id base = fix->commit;
    test_repo_write_text(&fix->disk, "x/.colonyignore", "a\n");
    test_repo_write_text(&fix->disk, "w/b", "");
    commit(fix);
    add(fix, (struct vcm_path_filter_spec){.heed_ignore_files = true});
    vcm_path_filter_set_base(fix->filter, &base, note_unchanged);
    check(fix, "w/b 0t\n= w/v\nx/.colonyignore 0t\nx/y/a 0i\n");
    assert_int_equal(walk(fix, "x/y"), VCM_OK);
    assert_string_equal(vcm_buf_text(&fix->seen), "x/y/a 0i\n");
}

static int note_left_out(void *context, const struct vcm_git_entry *entry,
                         enum vcm_path_filter_absence why,
                         const struct vcm_path_filter_verdict *verdicts, unsigned count,
                         struct vcm_error *err)
{
    assert_int_equal(why, VCM_PATH_FILTER_MISSING);
    return note(context, entry, verdicts, count, err);
}

static void a_directory_without_its_tree_is_judged_as_a_whole(void **state)
{
    static const char *const gone[] = {"HEAD:x", "HEAD:y", "HEAD:z", "HEAD:src"};
    struct fixture *fix = *state;

    write_files(fix, LIST("x/a", "y/a", "z/a", "src/a", "b"));
    test_repo_write_text(&fix->disk, ".gitignore", "y/\n");
    commit(fix);
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        char *id = test_repo_git_output(&fix->disk, "rev-parse", gone[i], NULL);
        char *path = test_repo_object_path(&fix->disk, id);
        assert_int_equal(unlink(path), 0);
        free(path);
        free(id);
    }
    add(fix, (struct vcm_path_filter_spec){.exclude = LIST("z/"), .heed_ignore_files = true});
    add(fix, (struct vcm_path_filter_spec){.include = LIST("/src/*.c")});
    assert_int_equal(walk(fix, ""), VCM_NOT_FOUND);
    vcm_path_filter_set_left_out(fix->filter, note_left_out);
    check(fix, ".gitignore 0t 1x\nb 0t 1x\nsrc 0t 1t\nx 0t 1x\ny 0i 1x\nz 0x 1x\n");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(patterns_are_relative_to_start_dir),
        TEST(no_include_takes_everything_and_exclude_wins),
        TEST(a_directory_that_matches_takes_all_below_it),
        TEST(ignore_files_count_behind_exclusion_and_only_for_those_who_heed_them),
        TEST(ignore_files_above_start_dir_count),
        TEST(an_ignore_file_that_is_a_link_is_none),
        TEST(an_ignore_file_that_is_too_large_is_named),
        TEST(a_start_dir_that_is_not_there_is_told),
        TEST(patterns_that_match_nothing_are_known),
        TEST(directories_that_have_not_changed_are_told_and_may_be_skipped),
        TEST(below_an_ignore_file_that_has_changed_nothing_is_unchanged),
        TEST(a_directory_without_its_tree_is_judged_as_a_whole),
        TEST(what_is_taken_does_not_depend_on_skipping_what_is_excluded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
