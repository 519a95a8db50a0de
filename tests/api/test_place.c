#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "api/place.h"
#include "api/place_text.h"
#include "tests/api/handle_fixture.h"

#include "base/banned.h"

struct fixture {
    struct handle_fixture of;
    struct vcm_place *place;
    char warned[512]; /* the last warning */
    struct vcm_log log;
    char listing[1024];
};

static void note_warning(void *context, enum vcm_log_level level, const char *line)
{
    struct fixture *fix = context;

    if (level == VCM_LOG_WARNING)
        snprintf(fix->warned, sizeof fix->warned, "%s", line);
}

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    test_repo_init(&fix->of.repo);
    test_repo_write_text(&fix->of.repo, "src/a.c", "int a;\nint b;\n");
    test_repo_write_text(&fix->of.repo, "src/deep/b.c", "int c;");
    test_repo_write(&fix->of.repo, "logo.bin", "\0\1\2", 3);
    test_repo_write(&fix->of.repo, "latin.txt", "caf\xe9\n", 5);
    test_repo_write_text(&fix->of.repo, "empty", "");
    test_repo_git(&fix->of.repo, "config", "core.symlinks", "true", NULL);
    char *link = test_repo_path(&fix->of.repo, "link");
    assert_int_equal(symlink("src/a.c", link), 0);
    free(link);
    handle_fixture_open(&fix->of);
    vcm_close(fix->of.vcm);
    fix->log = (struct vcm_log){note_warning, fix, VCM_LOG_WARNING};
    const struct vcm_open_options options = {.home = fix->of.home, .log = &fix->log};
    assert_int_equal(vcm_open(&fix->of.vcm, &options, &fix->of.err), VCM_OK);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_place_close(fix->place);
    return handle_fixture_tear_down(state);
}

static int open_place(struct fixture *fix, const struct vcm_place_query *query)
{
    vcm_place_close(fix->place);
    vcm_error_reset(&fix->of.err);
    fix->warned[0] = '\0';
    return vcm_place_open(&fix->place, fix->of.vcm, query, &fix->of.err);
}

static void open_well(struct fixture *fix, const struct vcm_place_query *query)
{
    if (open_place(fix, query) != VCM_OK)
        fail_msg("%s", fix->of.err.message);
}

static void map(struct fixture *fix, const char *scope, uint32_t tokens)
{
    const struct vcm_mmap_config config = {.flush_token_budget = tokens};
    const struct vcm_mmap_options options = {.scope_id = scope,
                                             .origin_url = fix->of.repo.path,
                                             .config = &config,
                                             .chunk_overlap_tokens = -1};
    struct vcm_map_result *result = NULL;

    if (vcm_mmap_application_scope(&result, fix->of.vcm, &options, &fix->of.err) != VCM_OK)
        fail_msg("%s", fix->of.err.message);
    vcm_map_result_free(result);
}

/* The text of a file or, after a failure, the message. */
static int read_file(struct fixture *fix, char *out, size_t size, const char *path,
                     struct vcm_place_lines lines, enum vcm_place_source *source)
{
    struct vcm_place_text text;
    struct vcm_place_file file;

    vcm_error_reset(&fix->of.err);
    vcm_place_text_init(&text);
    int rc = vcm_place_find(&file, fix->place, path, &fix->of.err);
    if (rc == VCM_OK)
        rc = vcm_place_text_read(&text, fix->place, &file, &lines, &fix->of.err);
    if (rc == VCM_OK)
        snprintf(out, size, "%u/%u:%s", text.first_line, text.line_count, vcm_buf_text(&text.text));
    else
        snprintf(out, size, "%s", fix->of.err.message);
    if (source)
        *source = text.source;
    vcm_place_text_release(&text);
    return rc;
}

static int list_file(void *context, const struct vcm_place_file *file, struct vcm_error *err)
{
    struct fixture *fix = context;
    size_t len = strlen(fix->listing);

    (void)err;
    snprintf(fix->listing + len, sizeof fix->listing - len, "%.*s ", (int)file->path.len,
             file->path.data);
    return VCM_OK;
}

static void list(struct fixture *fix, const char *directory)
{
    fix->listing[0] = '\0';
    assert_int_equal(vcm_place_each(fix->place, directory, list_file, fix, &fix->of.err), VCM_OK);
}

static void the_files_of_a_commit_are_found_and_read(void **state)
{
    struct fixture *fix = *state;
    enum vcm_place_source source;
    char text[600];

    open_well(fix, &(struct vcm_place_query){.repo = fix->of.repo.path});
    test_repo_write_text(&fix->of.repo, "src/a.c", "changed\n");
    assert_int_equal(
        read_file(fix, text, sizeof text, "src/a.c", (struct vcm_place_lines){0}, &source), VCM_OK);
    assert_string_equal(text, "1/2:int a;\nint b;\n");
    assert_int_equal(source, VCM_PLACE_COMMIT);
    assert_int_equal(read_file(fix, text, sizeof text, "empty", (struct vcm_place_lines){0}, NULL),
                     VCM_OK);
    assert_string_equal(text, "0/0:");
    assert_int_equal(
        read_file(fix, text, sizeof text, "latin.txt", (struct vcm_place_lines){0}, NULL), VCM_OK);
    assert_string_equal(text, "1/1:caf\xef\xbf\xbd\n");
    list(fix, "src");
    assert_string_equal(fix->listing, "src/a.c src/deep/b.c ");
}

static void what_has_no_lines_is_told_as_what_it_is(void **state)
{
    struct fixture *fix = *state;
    char text[600];

    open_well(fix, &(struct vcm_place_query){.repo = fix->of.repo.path});
    assert_int_equal(
        read_file(fix, text, sizeof text, "logo.bin", (struct vcm_place_lines){0}, NULL),
        VCM_UNSUPPORTED);
    assert_non_null(strstr(text, "'logo.bin' is a binary file of 3 bytes"));
    assert_int_equal(read_file(fix, text, sizeof text, "link", (struct vcm_place_lines){0}, NULL),
                     VCM_UNSUPPORTED);
    assert_non_null(strstr(text, "a symbolic link to 'src/a.c'"));
    assert_int_equal(read_file(fix, text, sizeof text, "src", (struct vcm_place_lines){0}, NULL),
                     VCM_NOT_FOUND);
}

static void a_scope_is_read_from_its_pages_in_part(void **state)
{
    struct fixture *fix = *state;
    enum vcm_place_source source;
    char text[4096];
    struct vcm_stat before, after;
    size_t len = 0;

    for (int i = 1; i <= 60; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "line number %d of the file\n", i);
    test_repo_write_text(&fix->of.repo, "long.txt", text);
    test_repo_commit(&fix->of.repo, "long");
    map(fix, "pages", 64);
    open_well(fix, &(struct vcm_place_query){.scope = "pages"});
    assert_int_equal(vcm_stat(&before, fix->of.vcm, &fix->of.err), VCM_OK);
    assert_int_equal(read_file(fix, text, sizeof text, "long.txt",
                               (struct vcm_place_lines){.first = 30, .last = 30}, &source),
                     VCM_OK);
    assert_int_equal(vcm_stat(&after, fix->of.vcm, &fix->of.err), VCM_OK);
    assert_int_equal(source, VCM_PLACE_PAGE);
    assert_int_equal(after.hits, before.hits + 1);
    assert_non_null(strstr(text, "/60:line number "));
    assert_non_null(strstr(text, "line number 30 of the file\n"));
    assert_true(strlen(text) < 600);
    assert_int_equal(
        read_file(fix, text, sizeof text, "logo.bin", (struct vcm_place_lines){0}, NULL),
        VCM_NOT_FOUND);
    assert_non_null(strstr(text, "leaves it out as binary"));
    list(fix, "src");
    assert_string_equal(fix->listing, "src/a.c src/deep/b.c ");
}

static void another_file_by_the_same_path_in_another_scope_is_ambiguous(void **state)
{
    struct fixture *fix = *state;
    struct vcm_place_file file;

    map(fix, "one", 4096);
    map(fix, "same", 4096);
    open_well(fix, &(struct vcm_place_query){.all_scopes = true});
    assert_int_equal(vcm_place_find(&file, fix->place, "src/a.c", &fix->of.err), VCM_OK);
    test_repo_write_text(&fix->of.repo, "src/a.c", "int other;\n");
    test_repo_commit(&fix->of.repo, "other");
    map(fix, "two", 4096);
    open_well(fix, &(struct vcm_place_query){.all_scopes = true});
    assert_int_equal(vcm_place_find(&file, fix->place, "src/a.c", &fix->of.err), VCM_AMBIGUOUS);
    assert_non_null(strstr(fix->of.err.details, "\"candidates\":[\"one\",\"two\"]"));
    assert_int_equal(vcm_place_find(&file, fix->place, "empty", &fix->of.err), VCM_OK);
}

static void commits_are_named_by_branch_and_by_prefix(void **state)
{
    struct fixture *fix = *state;
    char text[600];

    test_repo_git(&fix->of.repo, "branch", "old", NULL);
    char *id = test_repo_git_output(&fix->of.repo, "rev-parse", "--short=8", "HEAD", NULL);
    test_repo_write_text(&fix->of.repo, "src/a.c", "new\n");
    test_repo_commit(&fix->of.repo, "new");
    const char *const names[] = {"old", id, "HEAD~1"};
    for (size_t i = 0; i < 3; i++) {
        open_well(fix, &(struct vcm_place_query){.repo = fix->of.repo.path, .commit = names[i]});
        read_file(fix, text, sizeof text, "src/a.c", (struct vcm_place_lines){0}, NULL);
        assert_string_equal(text, "1/2:int a;\nint b;\n");
    }
    free(id);
    assert_int_equal(
        open_place(fix, &(struct vcm_place_query){.repo = fix->of.repo.path, .commit = "nope"}),
        VCM_NOT_FOUND);
    assert_null(fix->place);
}

static void a_missing_object_is_replaced_by_its_page_and_told(void **state)
{
    struct fixture *fix = *state;
    enum vcm_place_source source;
    char text[600];

    map(fix, "kept", 4096);
    char *id = test_repo_git_output(&fix->of.repo, "rev-parse", "HEAD:src/a.c", NULL);
    char *path = test_repo_object_path(&fix->of.repo, id);
    assert_int_equal(unlink(path), 0);
    open_well(fix, &(struct vcm_place_query){.repo = fix->of.repo.path});
    assert_int_equal(
        read_file(fix, text, sizeof text, "src/a.c", (struct vcm_place_lines){0}, &source), VCM_OK);
    assert_string_equal(text, "1/2:int a;\nint b;\n");
    assert_int_equal(source, VCM_PLACE_PAGE);
    assert_non_null(strstr(fix->warned, "mapped pages of scope 'kept'"));
    free(path);
    free(id);
}

static void a_repository_that_is_gone_is_answered_from_its_pages(void **state)
{
    struct fixture *fix = *state;
    struct test_repo gone;
    char text[600];

    test_repo_init(&gone);
    test_repo_write_text(&gone, "x.txt", "kept in pages\n");
    test_repo_commit(&gone, "x");
    const struct vcm_mmap_options options = {
        .scope_id = "gone", .origin_url = gone.path, .chunk_overlap_tokens = -1};
    struct vcm_map_result *result = NULL;
    assert_int_equal(vcm_mmap_application_scope(&result, fix->of.vcm, &options, &fix->of.err),
                     VCM_OK);
    vcm_map_result_free(result);
    const struct test_repo was = gone;
    test_repo_release(&gone);
    open_well(fix, &(struct vcm_place_query){.repo = was.path});
    assert_non_null(strstr(fix->warned, "mapped pages of scope 'gone'"));
    assert_int_equal(read_file(fix, text, sizeof text, "x.txt", (struct vcm_place_lines){0}, NULL),
                     VCM_OK);
    assert_string_equal(text, "1/1:kept in pages\n");
}

static void a_commit_that_is_not_here_is_answered_from_its_pages(void **state)
{
    struct fixture *fix = *state;
    char text[600];

    char *id = test_repo_git_output(&fix->of.repo, "rev-parse", "HEAD", NULL);
    map(fix, "first", 4096);
    char *path = test_repo_object_path(&fix->of.repo, id);
    test_repo_write_text(&fix->of.repo, "src/a.c", "new\n");
    test_repo_git(&fix->of.repo, "checkout", "-q", "--orphan", "next", NULL);
    test_repo_commit(&fix->of.repo, "new");
    assert_int_equal(unlink(path), 0);
    open_well(fix, &(struct vcm_place_query){.repo = fix->of.repo.path, .commit = id});
    assert_non_null(strstr(fix->warned, "mapped pages of scope 'first'"));
    read_file(fix, text, sizeof text, "src/a.c", (struct vcm_place_lines){0}, NULL);
    assert_string_equal(text, "1/2:int a;\nint b;\n");
    free(path);
    free(id);
}

static void paths_are_taken_as_people_write_them(void **state)
{
    struct fixture *fix = *state;
    char *deep = test_repo_path(&fix->of.repo, "src/deep");
    char *whole = test_repo_path(&fix->of.repo, "src/a.c");
    const struct {
        const char *text, *path;
        bool local;
    } cases[] = {
        {"src/a.c", "src/a.c", false},    {"src//./a.c", "src/a.c", false},
        {"./b.c", "src/deep/b.c", false}, {"../a.c", "src/a.c", false},
        {"b.c", "src/deep/b.c", true},    {whole, "src/a.c", false},
        {"src/", "src", false},           {".", "src/deep", false},
        {"src/deep/..", "src", false},    {fix->of.repo.path, "", false},
    };

    open_well(fix, &(struct vcm_place_query){.repo = deep});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vcm_buf path = VCM_BUF_INIT(4096);
        assert_int_equal(
            vcm_place_path(&path, fix->place, cases[i].text, cases[i].local, &fix->of.err), VCM_OK);
        assert_string_equal(vcm_buf_text(&path), cases[i].path);
        vcm_buf_release(&path);
    }
    const char *const outside[] = {"../../../etc/passwd", "/etc/passwd", "src/../.."};
    for (size_t i = 0; i < 3; i++) {
        struct vcm_buf path = VCM_BUF_INIT(4096);
        vcm_error_reset(&fix->of.err);
        assert_int_equal(vcm_place_path(&path, fix->place, outside[i], false, &fix->of.err),
                         VCM_INVALID_ARGUMENT);
        vcm_buf_release(&path);
    }
    free(whole);
    free(deep);
}

static void what_cannot_be_meant_together_is_refused(void **state)
{
    struct fixture *fix = *state;
    const struct vcm_place_query wrong[] = {
        {.repo = ".", .scope = "one"},
        {.scope = "one", .all_scopes = true},
        {.repo = ".", .commit = "HEAD", .worktree = true},
        {.all_scopes = true, .commit = "HEAD"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(open_place(fix, &wrong[i]), VCM_INVALID_ARGUMENT);
    assert_int_equal(open_place(fix, &(struct vcm_place_query){.all_scopes = true}), VCM_NOT_FOUND);
    assert_int_equal(open_place(fix, &(struct vcm_place_query){.scope = "none"}), VCM_NOT_FOUND);
    assert_int_equal(open_place(fix, &(struct vcm_place_query){.repo = "/nowhere"}), VCM_NOT_FOUND);
}

static void the_files_of_a_working_tree_are_found_and_read(void **state)
{
    struct fixture *fix = *state;
    enum vcm_place_source source;
    char text[600];

    test_repo_write_text(&fix->of.repo, "src/a.c", "changed\n");
    test_repo_write_text(&fix->of.repo, "src/new.c", "int n;\n");
    char *gone = test_repo_path(&fix->of.repo, "src/deep/b.c");
    assert_int_equal(unlink(gone), 0);
    free(gone);
    open_well(fix, &(struct vcm_place_query){.repo = fix->of.repo.path, .worktree = true});
    test_repo_write_text(&fix->of.repo, "src/a.c", "changed again\n");
    assert_int_equal(
        read_file(fix, text, sizeof text, "src/a.c", (struct vcm_place_lines){0}, &source), VCM_OK);
    assert_string_equal(text, "1/1:changed\n");
    assert_int_equal(source, VCM_PLACE_WORKTREE);
    list(fix, "src");
    assert_string_equal(fix->listing, "src/a.c src/new.c ");
    test_repo_git(&fix->of.repo, "config", "core.bare", "true", NULL);
    assert_int_equal(
        open_place(fix, &(struct vcm_place_query){.repo = fix->of.repo.path, .worktree = true}),
        VCM_UNSUPPORTED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_files_of_a_commit_are_found_and_read),
        TEST(the_files_of_a_working_tree_are_found_and_read),
        TEST(what_has_no_lines_is_told_as_what_it_is),
        TEST(a_scope_is_read_from_its_pages_in_part),
        TEST(another_file_by_the_same_path_in_another_scope_is_ambiguous),
        TEST(commits_are_named_by_branch_and_by_prefix),
        TEST(a_missing_object_is_replaced_by_its_page_and_told),
        TEST(a_repository_that_is_gone_is_answered_from_its_pages),
        TEST(a_commit_that_is_not_here_is_answered_from_its_pages),
        TEST(paths_are_taken_as_people_write_them),
        TEST(what_cannot_be_meant_together_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
