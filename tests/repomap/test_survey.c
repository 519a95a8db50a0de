#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/limits.h"
#include "repomap/repo_map_load.h"
#include "repomap/survey.h"
#include "tests/support/repo.h"

#include "base/banned.h"

struct fixture {
    struct test_repo disk;
    struct vcm_git_repo *repo;
    struct vcm_git_id commit;
    struct vcm_repo_map map;
    struct vcm_problem_list problems;
    struct vcm_survey survey;
    struct vcm_survey_options options;
    struct vcm_error err;
};

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    vcm_problem_list_init(&fix->problems);
    fix->options.problems = &fix->problems;
    test_repo_init(&fix->disk);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_survey_release(&fix->survey);
    vcm_repo_map_release(&fix->map);
    vcm_problem_list_release(&fix->problems);
    vcm_git_repo_close(fix->repo);
    test_repo_release(&fix->disk);
    free(fix);
    return 0;
}

static void write_files(struct fixture *fix, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        test_repo_write_text(&fix->disk, names[i], names[i]);
}

#define WRITE(...)                                                                                 \
    write_files(fix, (const char *const[]){__VA_ARGS__},                                           \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void load(struct fixture *fix, const char *yaml)
{
    test_repo_git(&fix->disk, "add", "-A", "-f", NULL);
    test_repo_git(&fix->disk, "commit", "-q", "-m", "x", NULL);
    if (vcm_git_repo_open(&fix->repo, fix->disk.path, &fix->err) != VCM_OK ||
        vcm_git_repo_resolve(&fix->commit, fix->repo, NULL, NULL, &fix->err) != VCM_OK ||
        vcm_repo_map_load(&fix->map, &fix->problems, vcm_slice_of_string(yaml), NULL, &fix->err) !=
            VCM_OK)
        fail_msg("%s", fix->err.message);
}

static void run(struct fixture *fix, const char *yaml)
{
    load(fix, yaml);
    if (vcm_survey_run(&fix->survey, &fix->map, fix->repo, &fix->commit, &fix->options,
                       &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
}

static void check_problems(const struct fixture *fix, const char *expected)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);

    for (unsigned i = 0; i < fix->problems.count; i++) {
        const struct vcm_problem *problem = &fix->problems.items[i];
        assert_true(problem->is_warning);
        vcm_buf_append_format(&text, "%u:%u %s: %s\n", problem->place.line, problem->place.column,
                              problem->where, problem->message);
    }
    assert_string_equal(vcm_buf_text(&text), expected);
    vcm_buf_release(&text);
}

static void files_are_counted_for_rows_routes_and_neither(void **state)
{
    struct fixture *fix = *state;
    char *link = test_repo_path(&fix->disk, "src/link.c");

    WRITE("src/a.c", "src/b.c", "src/b.h", "src/gen.c", "docs/a.md", "docs/b.txt", "docs/x.c",
          "Makefile");
    test_repo_write_text(&fix->disk, ".gitignore", "gen.c\n");
    assert_int_equal(symlink("a.c", link), 0);
    free(link);
    run(fix, "schema_version: 1\n"
             "sources:\n"
             "- {name: code, type: git_repo, start_dir: src, include_globs: ['*.c']}\n"
             "- {name: docs, type: literature}\n"
             "- {name: other, type: git_repo, origin_url: 'https://example.org/x'}\n"
             "- {name: lib, type: git_repo, submodule: lib}\n"
             "knowledge_routing:\n"
             "- {paths: ['*.md', 'Makefile']}\n"
             "- {paths: ['docs/'], ingest_to: vcm}\n");
    assert_int_equal(fix->survey.files, 9);
    assert_int_equal(fix->survey.rows[0].matched_files, 2);
    assert_int_equal(fix->survey.rows[1].matched_files, 2);
    assert_true(fix->survey.rows[0].counted && fix->survey.rows[1].counted);
    assert_false(fix->survey.rows[2].counted || fix->survey.rows[3].counted);
    assert_int_equal(fix->survey.routes[0].matched_files, 2);
    assert_int_equal(fix->survey.routes[1].matched_files, 3);
    assert_int_equal(fix->survey.routes[1].uncovered_files, 1);
    /* .gitignore, src/b.h, src/gen.c */
    assert_int_equal(fix->survey.unmapped_files, 3);
    check_problems(fix,
                   "9:3 knowledge_routing[1]: 1 of 3 files go to vcm, but no literature source "
                   "covers them; they are in no page and not in the knowledge base\n");
}

static void globs_that_match_nothing_are_warned_of(void **state)
{
    struct fixture *fix = *state;

    WRITE("src/a.c", "docs/a.md");
    run(fix, "schema_version: 1\n"
             "sources:\n"
             "- name: code\n"
             "  type: git_repo\n"
             "  start_dir: src\n"
             "  include_globs: ['*.c', '*.cc', 'src/*.c']\n"
             "  exclude_globs: ['build/']\n"
             "- {name: docs, type: literature}\n"
             "knowledge_routing:\n"
             "- paths: ['doc/']\n");
    check_problems(fix, "6:26 sources[0].include_globs[1]: '*.cc' matches nothing\n"
                        "6:34 sources[0].include_globs[2]: 'src/*.c' matches nothing\n"
                        "7:19 sources[0].exclude_globs[0]: 'build/' matches nothing\n"
                        "10:11 knowledge_routing[0].paths[0]: 'doc/' matches nothing\n");
}

static void a_start_dir_that_is_not_there_is_one_warning(void **state)
{
    struct fixture *fix = *state;

    WRITE("a");
    run(fix, "schema_version: 1\n"
             "sources: [{name: a, type: git_repo, start_dir: src, include_globs: ['*.c']}]\n");
    assert_false(fix->survey.rows[0].start_dir_found);
    check_problems(fix, "2:48 sources[0].start_dir: is no directory of the tree\n");
}

static void a_pinned_row_larger_than_a_quarter_of_the_cache_is_warned_of(void **state)
{
    struct fixture *fix = *state;
    char large[1001] = {0};

    test_repo_write(&fix->disk, "big/a", large, sizeof large);
    test_repo_write(&fix->disk, "small/a", large, 1000);
    fix->options.cache_capacity = 4000;
    run(fix, "schema_version: 1\n"
             "sources:\n"
             "- {name: a, type: git_repo, start_dir: big, pinned: true}\n"
             "- {name: b, type: git_repo, start_dir: small, pinned: true}\n"
             "- {name: c, type: git_repo, start_dir: big}\n");
    check_problems(fix,
                   "3:53 sources[0].pinned: the row has 1001 bytes, more than a quarter of the "
                   "cache (4000), and none of them can be evicted\n");
    assert_int_equal(fix->survey.rows[2].bytes, 0);
}

static void a_row_of_another_repository_is_counted_there(void **state)
{
    struct fixture *fix = *state;
    struct vcm_survey_row row;

    WRITE("a.c", "b.h");
    load(fix, "schema_version: 1\n"
              "sources:\n"
              "- {name: a, type: git_repo}\n"
              "- {name: b, type: git_repo, submodule: lib, include_globs: ['*.c', '*.x']}\n");
    assert_int_equal(
        vcm_survey_row(&row, &fix->map, 1, fix->repo, &fix->commit, &fix->options, &fix->err),
        VCM_OK);
    assert_true(row.counted && row.start_dir_found);
    assert_int_equal(row.matched_files, 1);
    check_problems(fix, "4:68 sources[1].include_globs[1]: '*.x' matches nothing\n");
}

static void the_default_map_takes_everything(void **state)
{
    struct fixture *fix = *state;

    WRITE("a.c", "x/b.h");
    load(fix, "schema_version: 1\nsources: []\n");
    assert_int_equal(vcm_survey_run(&fix->survey, &vcm_repo_map_default, fix->repo, &fix->commit,
                                    &fix->options, &fix->err),
                     VCM_OK);
    assert_int_equal(fix->survey.rows[0].matched_files, 2);
    assert_int_equal(fix->survey.unmapped_files, 0);
    assert_int_equal(fix->problems.count, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_are_counted_for_rows_routes_and_neither),
        TEST(globs_that_match_nothing_are_warned_of),
        TEST(a_start_dir_that_is_not_there_is_one_warning),
        TEST(a_pinned_row_larger_than_a_quarter_of_the_cache_is_warned_of),
        TEST(a_row_of_another_repository_is_counted_there),
        TEST(the_default_map_takes_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
