#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "api/vcm.h"
#include "tests/api/handle_fixture.h"

#include "base/banned.h"

#define MAP                                                                                        \
    "schema_version: 1\n"                                                                          \
    "sources:\n"                                                                                   \
    "- {name: code, type: git_repo, include_globs: ['*.c']}\n"                                     \
    "- {name: notes, type: git_repo, include_globs: ['*.txt']}\n"

#define COLONY "framework:tenant:t1:colony:c1"

static int set_up(void **state)
{
    struct handle_fixture *fix = calloc(1, sizeof *fix);

    test_repo_init(&fix->repo);
    test_repo_write_text(&fix->repo, ".colony/repo_map.yaml", MAP);
    test_repo_write_text(&fix->repo, "src/a.c", "int a;\n");
    test_repo_write_text(&fix->repo, "notes.txt", "text\n");
    handle_fixture_open(fix);
    *state = fix;
    return 0;
}

/* Maps by the repository's map; writes "scope=status" for each row. */
static int materialize(struct handle_fixture *fix, char *out, size_t size,
                       struct vcm_materialize_options options)
{
    struct vcm_map_result *result = NULL;

    vcm_error_reset(&fix->err);
    options.origin_url = fix->repo.path;
    options.base_scope_id = COLONY;
    int rc = vcm_materialize_repo_map(&result, fix->vcm, &options, &fix->err);
    out[0] = '\0';
    for (size_t i = 0; rc == VCM_OK && i < result->source_count; i++)
        snprintf(out + strlen(out), size - strlen(out), "%s=%s ", result->sources[i].scope_id,
                 vcm_status_name(result->sources[i].status));
    vcm_map_result_free(result);
    return rc;
}

static void a_repo_map_becomes_one_scope_a_row(void **state)
{
    struct handle_fixture *fix = *state;
    char out[512];

    assert_int_equal(materialize(fix, out, sizeof out, (struct vcm_materialize_options){0}),
                     VCM_OK);
    assert_string_equal(out, COLONY ":code=mapped " COLONY ":notes=mapped ");
    assert_int_equal(materialize(fix, out, sizeof out, (struct vcm_materialize_options){0}),
                     VCM_OK);
    assert_string_equal(out, COLONY ":code=already_mapped " COLONY ":notes=already_mapped ");

    const struct vcm_mmap_config config = {.flush_token_budget = 64};
    assert_int_equal(
        materialize(fix, out, sizeof out, (struct vcm_materialize_options){.config = &config}),
        VCM_OK);
    assert_string_equal(out, COLONY ":code=remapped " COLONY ":notes=remapped ");
}

static void enabled_sources_are_all_some_or_none(void **state)
{
    struct handle_fixture *fix = *state;
    const char *const names[] = {"notes", "unknown"};
    struct vcm_materialize_options options = {.enabled_sources = names, .enabled_count = 0};
    struct vcm_stat stat;
    char out[512];

    assert_int_equal(materialize(fix, out, sizeof out, options), VCM_OK);
    assert_string_equal(out, "");
    assert_int_equal(vcm_stat(&stat, fix->vcm, &fix->err), VCM_OK);
    assert_int_equal(stat.scopes, 0);

    options.enabled_count = 1;
    assert_int_equal(materialize(fix, out, sizeof out, options), VCM_OK);
    assert_string_equal(out, COLONY ":notes=mapped ");

    options.enabled_count = 2;
    assert_int_equal(materialize(fix, out, sizeof out, options), VCM_INVALID_ARGUMENT);
    assert_non_null(strstr(fix->err.message, "unknown"));
}

static int map_scope(struct handle_fixture *fix, enum vcm_status *status,
                     struct vcm_mmap_options options)
{
    struct vcm_map_result *result = NULL;

    vcm_error_reset(&fix->err);
    if (!options.scope_id)
        options.scope_id = COLONY;
    options.origin_url = fix->repo.path;
    int rc = vcm_mmap_application_scope(&result, fix->vcm, &options, &fix->err);
    if (rc == VCM_OK) {
        assert_int_equal(result->source_count, 1);
        assert_string_equal(result->sources[0].scope_id, options.scope_id);
        *status = result->sources[0].status;
    }
    vcm_map_result_free(result);
    return rc;
}

static void a_scope_is_mapped_and_unmapped_without_a_map(void **state)
{
    struct handle_fixture *fix = *state;
    const char *const globs[] = {"*.c"};
    const struct vcm_mmap_options options = {.start_dir = "src/",
                                             .include_globs = globs,
                                             .include_count = 1,
                                             .chunk_overlap_tokens = -1};
    enum vcm_status status;

    assert_int_equal(vcm_munmap_application_scope(&status, fix->vcm, COLONY, &fix->err), VCM_OK);
    assert_int_equal(status, VCM_STATUS_NOT_MAPPED);
    assert_int_equal(map_scope(fix, &status, options), VCM_OK);
    assert_int_equal(status, VCM_STATUS_MAPPED);
    assert_int_equal(map_scope(fix, &status, options), VCM_OK);
    assert_int_equal(status, VCM_STATUS_ALREADY_MAPPED);
    test_repo_write_text(&fix->repo, "src/b.c", "int b;\n");
    test_repo_commit(&fix->repo, "second");
    assert_int_equal(map_scope(fix, &status, options), VCM_OK);
    assert_int_equal(status, VCM_STATUS_REMAPPED);
    assert_int_equal(vcm_munmap_application_scope(&status, fix->vcm, COLONY, &fix->err), VCM_OK);
    assert_int_equal(status, VCM_STATUS_UNMAPPED);
    assert_int_equal(vcm_munmap_application_scope(&status, fix->vcm, COLONY, &fix->err), VCM_OK);
    assert_int_equal(status, VCM_STATUS_NOT_MAPPED);
}

static void a_wrong_field_is_an_invalid_argument_that_names_it(void **state)
{
    struct handle_fixture *fix = *state;
    const struct vcm_mmap_config config = {.flush_token_budget = 3};
    const struct {
        struct vcm_mmap_options options;
        const char *said;
    } cases[] = {
        {{.scope_id = "a b", .chunk_overlap_tokens = -1}, "scope"},
        {{.scope_id = "a::b", .chunk_overlap_tokens = -1}, "scope"},
        {{.scope_id = ":", .chunk_overlap_tokens = -1}, "scope"},
        {{.source_type = "wiki", .chunk_overlap_tokens = -1}, "type"},
        {{.start_dir = "../x", .chunk_overlap_tokens = -1}, "start_dir"},
        {{.binary_policy = "maybe", .chunk_overlap_tokens = -1}, "binary_policy"},
        {{.config = &config, .chunk_overlap_tokens = -1}, "flush_token_budget"},
        {{.start_dir = "\xff", .chunk_overlap_tokens = -1}, ""},
    };
    enum vcm_status status;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int rc = map_scope(fix, &status, cases[i].options);
        if (rc == VCM_OK && status == VCM_STATUS_ERROR)
            continue; /* the row says it */
        assert_int_equal(rc, VCM_INVALID_ARGUMENT);
        assert_non_null(strstr(fix->err.message, cases[i].said));
    }
}

static void a_base_does_not_hold_the_scopes_of_a_nested_one(void **state)
{
    struct handle_fixture *fix = *state;
    const struct vcm_map_options outer = {.repository = fix->repo.path,
                                          .base_scope_id = "framework"};
    struct vcm_map_result *result = NULL;
    char out[512];

    assert_int_equal(materialize(fix, out, sizeof out, (struct vcm_materialize_options){0}),
                     VCM_OK);
    assert_int_equal(vcm_map(&result, fix->vcm, &outer, &fix->err), VCM_OK);
    assert_int_equal(result->unmapped_count, 0);
    vcm_map_result_free(result);
}

static int keep_page_id(void *context, const struct vcm_page_entry *page, struct vcm_error *err)
{
    (void)err;
    snprintf(context, 41, "%s", page->page_id);
    return VCM_OK;
}

static int keep_lock(void *context, const struct vcm_lock_entry *lock, struct vcm_error *err)
{
    (void)err;
    snprintf(context, 64, "%s %s", lock->owner, lock->reason ? lock->reason : "-");
    return VCM_OK;
}

static void a_lock_is_listed_and_extended(void **state)
{
    struct handle_fixture *fix = *state;
    char page[41] = "", seen[64] = "", *cursor = NULL;
    enum vcm_status status;
    uint64_t until = 0;

    assert_int_equal(map_scope(fix, &status, (struct vcm_mmap_options){.chunk_overlap_tokens = -1}),
                     VCM_OK);
    assert_int_equal(
        vcm_pages(&cursor, fix->vcm, &(struct vcm_pages_query){0}, keep_page_id, page, &fix->err),
        VCM_OK);
    assert_int_equal(vcm_lock_extend(&until, fix->vcm, page, "agent", 1000, &fix->err),
                     VCM_NOT_FOUND);
    vcm_error_reset(&fix->err);
    const char *const pages[] = {page};
    const struct vcm_lock_query lock = {
        .pages = pages, .count = 1, .owner = "agent", .ttl_ms = 60000, .reason = "reads it"};
    assert_int_equal(vcm_lock(fix->vcm, &lock, NULL, NULL, &fix->err), VCM_OK);
    assert_int_equal(vcm_locks(fix->vcm, page, keep_lock, seen, &fix->err), VCM_OK);
    assert_string_equal(seen, "agent reads it");
    assert_int_equal(vcm_lock_extend(&until, fix->vcm, page, "agent", 3600000, &fix->err), VCM_OK);
    assert_in_range(until, (uint64_t)time(NULL) + 3600, (uint64_t)time(NULL) + 3662);
    seen[0] = '\0';
    assert_int_equal(vcm_locks(fix->vcm, NULL, keep_lock, seen, &fix->err), VCM_OK);
    assert_string_equal(seen, "agent reads it");
}

static void a_hit_is_viewed_and_what_is_not_in_memory_is_not(void **state)
{
    struct handle_fixture *fix = *state;
    struct vcm_page_view *view = NULL;
    struct vcm_evict_result evicted;
    char page[41] = "", *cursor = NULL;
    enum vcm_status status;

    assert_int_equal(map_scope(fix, &status, (struct vcm_mmap_options){.chunk_overlap_tokens = -1}),
                     VCM_OK);
    assert_int_equal(
        vcm_pages(&cursor, fix->vcm, &(struct vcm_pages_query){0}, keep_page_id, page, &fix->err),
        VCM_OK);
    assert_int_equal(vcm_page_view_open_hit(&view, fix->vcm, page, &fix->err), VCM_OK);
    assert_string_equal(view->page_id, page);
    assert_memory_equal(view->data, "{\"path\":", 8);
    vcm_page_view_release(view);
    const struct vcm_evict_query all = {.all = true, .target = "evicted"};
    assert_int_equal(vcm_evict(&evicted, fix->vcm, &all, NULL, NULL, &fix->err), VCM_OK);
    assert_int_equal(vcm_page_view_open_hit(&view, fix->vcm, page, &fix->err), VCM_OK);
    assert_null(view);
    assert_int_equal(vcm_page_view_open(&view, fix->vcm, page, &fix->err), VCM_OK);
    assert_non_null(view);
    vcm_page_view_release(view);
    assert_int_equal(vcm_page_view_open_hit(&view, fix->vcm, "ffffffffff", &fix->err),
                     VCM_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_repo_map_becomes_one_scope_a_row, set_up,
                                        handle_fixture_tear_down),
        cmocka_unit_test_setup_teardown(enabled_sources_are_all_some_or_none, set_up,
                                        handle_fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_scope_is_mapped_and_unmapped_without_a_map, set_up,
                                        handle_fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_wrong_field_is_an_invalid_argument_that_names_it, set_up,
                                        handle_fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_base_does_not_hold_the_scopes_of_a_nested_one, set_up,
                                        handle_fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_lock_is_listed_and_extended, set_up,
                                        handle_fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_hit_is_viewed_and_what_is_not_in_memory_is_not, set_up,
                                        handle_fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
