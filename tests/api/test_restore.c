/* Scopes that a program mapped without a repo map, in a store that is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "api/vcm.h"
#include "tests/support/repo.h"

#include "base/banned.h"

struct fixture {
    struct test_repo repo, other;
    char *home;
    struct vcm *vcm;
    struct vcm_error err;
    struct vcm_log log;
    char listing[8192]; /* of everything that is mapped */
    char warnings[4096];
};

static void keep_warning(void *context, enum vcm_log_level level, const char *line)
{
    struct fixture *fix = context;
    size_t len = strlen(fix->warnings);

    (void)level;
    snprintf(fix->warnings + len, sizeof fix->warnings - len, "%s\n", line);
}

static void open_home(struct fixture *fix)
{
    fix->log = (struct vcm_log){keep_warning, fix, VCM_LOG_WARNING};
    const struct vcm_open_options options = {.home = fix->home, .log = &fix->log};
    if (vcm_open(&fix->vcm, &options, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
}

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    test_repo_init(&fix->repo);
    test_repo_write_text(&fix->repo, "src/a.c", "int a;\n");
    test_repo_write_text(&fix->repo, "src/b.c", "int b;\n");
    test_repo_write(&fix->repo, "src/c.bin", "\0\1\2\3", 4);
    test_repo_write_text(&fix->repo, "notes.md", "# Notes\n\nWhat the notes say.\n");
    test_repo_commit(&fix->repo, "first");
    test_repo_git(&fix->repo, "branch", "side", NULL);
    test_repo_write_text(&fix->repo, "src/a.c", "int later;\n");
    test_repo_commit(&fix->repo, "second");
    test_repo_init(&fix->other);
    test_repo_write_text(&fix->other, "x.c", "int x;\n");
    test_repo_commit(&fix->other, "first");
    fix->home = test_repo_path(&fix->repo, ".git/home");
    open_home(fix);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_close(fix->vcm);
    free(fix->home);
    test_repo_release(&fix->other);
    test_repo_release(&fix->repo);
    free(fix);
    return 0;
}

static void map_scope(struct fixture *fix, struct vcm_mmap_options options)
{
    struct vcm_map_result *result = NULL;

    if (!options.origin_url)
        options.origin_url = fix->repo.path;
    if (vcm_mmap_application_scope(&result, fix->vcm, &options, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
    assert_int_not_equal(result->sources[0].status, VCM_STATUS_ERROR);
    vcm_map_result_free(result);
}

/* One of each kind: what the arguments say is all that is known of them. */
static void map_scopes(struct fixture *fix)
{
    static const char *const globs[] = {"*.c", "*.bin"}, *const without[] = {"b.c"};
    const struct vcm_mmap_config config = {.flush_threshold = 1, .pinned = true};

    map_scope(fix, (struct vcm_mmap_options){.scope_id = "colony:code",
                                             .branch = "side",
                                             .config = &config,
                                             .start_dir = "src",
                                             .include_globs = globs,
                                             .include_count = 2,
                                             .exclude_globs = without,
                                             .exclude_count = 1,
                                             .binary_policy = "include",
                                             .chunk_overlap_tokens = -1});
    map_scope(fix, (struct vcm_mmap_options){.scope_id = "colony:notes",
                                             .source_type = "literature",
                                             .chunk_target_tokens = 100,
                                             .chunk_overlap_tokens = 7});
    map_scope(fix, (struct vcm_mmap_options){.scope_id = "all", .chunk_overlap_tokens = -1});
}

static int list_scope(void *context, const struct vcm_scope_info *scope, struct vcm_error *err)
{
    struct fixture *fix = context;
    size_t len = strlen(fix->listing);

    (void)err;
    snprintf(fix->listing + len, sizeof fix->listing - len, "%s %s %s %s %d %u\n", scope->scope_id,
             scope->type, scope->branch ? scope->branch : "-", scope->commit, scope->pinned,
             (unsigned)scope->flush_threshold);
    return VCM_OK;
}

static int list_page(void *context, const struct vcm_page_entry *page, struct vcm_error *err)
{
    struct fixture *fix = context;
    size_t len = strlen(fix->listing);

    (void)err;
    snprintf(fix->listing + len, sizeof fix->listing - len, "%s %u %s\n", page->scope_id,
             (unsigned)page->seq, page->page_id);
    return VCM_OK;
}

static const char *list(struct fixture *fix)
{
    char *cursor = NULL;

    fix->listing[0] = '\0';
    assert_int_equal(vcm_scopes(fix->vcm, list_scope, fix, &fix->err), VCM_OK);
    assert_int_equal(
        vcm_pages(&cursor, fix->vcm, &(struct vcm_pages_query){0}, list_page, fix, &fix->err),
        VCM_OK);
    return fix->listing;
}

/* The data file is that of the current generation, which setting a store aside raises. */
static char *data_file(struct fixture *fix)
{
    char name[64] = ".git/home/store/data.mdb";
    char *path = test_repo_path(&fix->repo, name);

    for (unsigned i = 1; access(path, F_OK) != 0 && i < 10; i++) {
        free(path);
        snprintf(name, sizeof name, ".git/home/store/%u/data.mdb", i);
        path = test_repo_path(&fix->repo, name);
    }
    return path;
}

/* Cuts the store short while nobody has it open. */
static void damage(struct fixture *fix)
{
    char *data = data_file(fix);

    vcm_close(fix->vcm);
    assert_int_equal(truncate(data, 8192), 0);
    free(data);
    open_home(fix);
}

static void map_other(struct fixture *fix)
{
    const struct vcm_map_options options = {.repository = fix->other.path,
                                            .base_scope_id = "other"};
    struct vcm_map_result *result = NULL;

    if (vcm_map(&result, fix->vcm, &options, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
    vcm_map_result_free(result);
}

static void a_map_of_another_repository_restores_them(void **state)
{
    struct fixture *fix = *state;

    map_scopes(fix);
    map_other(fix);
    char *before = strdup(list(fix));
    damage(fix);
    map_other(fix);
    assert_string_equal(list(fix), before);
    damage(fix); /* the restored ones are on the roster, too */
    map_other(fix);
    assert_string_equal(list(fix), before);
    free(before);
}

static void the_mapping_of_one_restores_the_others(void **state)
{
    struct fixture *fix = *state;

    map_scopes(fix);
    map_other(fix);
    char *before = strdup(list(fix));
    damage(fix);
    map_scope(fix, (struct vcm_mmap_options){.scope_id = "all", .chunk_overlap_tokens = -1});
    assert_string_equal(list(fix), before);
    free(before);
}

static void what_was_unmapped_does_not_come_back(void **state)
{
    struct fixture *fix = *state;
    enum vcm_status status;

    map_scopes(fix);
    assert_int_equal(vcm_munmap_application_scope(&status, fix->vcm, "colony:code", &fix->err),
                     VCM_OK);
    damage(fix);
    map_other(fix);
    assert_null(strstr(list(fix), "colony:code"));
    assert_non_null(strstr(fix->listing, "colony:notes"));
}

static void one_whose_repository_is_gone_is_named(void **state)
{
    struct fixture *fix = *state;

    map_scope(fix, (struct vcm_mmap_options){.scope_id = "gone",
                                             .origin_url = fix->other.path,
                                             .chunk_overlap_tokens = -1});
    damage(fix);
    test_repo_release(&fix->other);
    map_scope(fix, (struct vcm_mmap_options){.scope_id = "all", .chunk_overlap_tokens = -1});
    assert_non_null(strstr(fix->warnings, "'gone' could not be mapped anew"));
    assert_null(strstr(list(fix), "gone"));
    test_repo_init(&fix->other);
}

static int keep_page(void *context, const struct vcm_page_entry *page, struct vcm_error *err)
{
    (void)err;
    snprintf(context, 41, "%s", page->page_id);
    return VCM_OK;
}

static int see_page(void *context, const struct vcm_page_entry *page, struct vcm_error *err)
{
    (void)err;
    *(bool *)context = page->pinned;
    return VCM_OK;
}

static void each_page(struct fixture *fix, struct vcm *vcm, vcm_page_entry_fn visit, void *context)
{
    char *cursor = NULL;

    assert_int_equal(vcm_pages(&cursor, vcm, &(struct vcm_pages_query){.scope = "all"}, visit,
                               context, &fix->err),
                     VCM_OK);
}

/* Marks the store, and lets a second handle set it aside. */
static struct vcm *set_aside_elsewhere(struct fixture *fix)
{
    const struct vcm_open_options options = {.home = fix->home};
    struct vcm *first = fix->vcm, *other = NULL;

    test_repo_write_text(&fix->repo, ".git/home/store.damaged", "a test says so\n");
    assert_int_equal(vcm_open(&other, &options, &fix->err), VCM_OK);
    fix->vcm = other;
    map_other(fix);
    fix->vcm = first;
    return other;
}

static void a_handle_that_was_open_goes_on_with_the_new_store(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_view *before = NULL, *after = NULL;
    char page[41], bytes[4096];
    bool pinned = false;

    map_scope(fix, (struct vcm_mmap_options){.scope_id = "all", .chunk_overlap_tokens = -1});
    each_page(fix, fix->vcm, keep_page, page);
    assert_int_equal(vcm_page_view_open(&before, fix->vcm, page, &fix->err), VCM_OK);
    assert_true(before->bytes < sizeof bytes);
    memcpy(bytes, before->data, before->bytes);
    struct vcm *other = set_aside_elsewhere(fix);

    assert_non_null(strstr(list(fix), "other"));
    assert_int_equal(vcm_pin(fix->vcm, page, NULL, NULL, &fix->err), VCM_OK);
    each_page(fix, other, see_page, &pinned);
    assert_true(pinned);
    assert_memory_equal(before->data, bytes, before->bytes);
    assert_int_equal(vcm_page_view_open(&after, fix->vcm, page, &fix->err), VCM_OK);
    assert_int_equal(after->bytes, before->bytes);
    assert_memory_equal(after->data, bytes, after->bytes);
    vcm_page_view_release(after);
    vcm_page_view_release(before);
    vcm_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_map_of_another_repository_restores_them, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_mapping_of_one_restores_the_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_unmapped_does_not_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_handle_that_was_open_goes_on_with_the_new_store, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(one_whose_repository_is_gone_is_named, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
