#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/handle.h"
#include "sources/registry.h"
#include "tests/api/handle_fixture.h"
#include "tests/support/memory_source.h"

#include "base/banned.h"

#define MAP                                                                                        \
    "schema_version: 1\n"                                                                          \
    "sources:\n"                                                                                   \
    "- {name: code, type: git_repo}\n"                                                             \
    "- {name: wiki, type: wiki, start_dir: docs, include_globs: ['*.wiki']}\n"

static const struct memory_item items[] = {
    {"Home.wiki", "= Home =\nsee [[Other]]\n", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
    {"Other.wiki", "= Other =\n", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
    {"talk/Home.wiki", "", VCM_SOURCE_EXCLUDED, VCM_SOURCE_PAGED, NULL},
    {"logo", "", VCM_SOURCE_PAGED, VCM_SOURCE_BINARY, NULL},
};

/* What the type's open() was asked for, and the source that it gave out. */
static struct memory_source wiki;
static char asked_for[512];

static int open_wiki(struct vcm_source **out, const struct vcm_source_request *request,
                     struct vcm_error *err)
{
    *out = NULL;
    if (request->include_count != 1)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "a wiki needs one pattern");
    snprintf(asked_for, sizeof asked_for, "%s %s %s", request->repository, request->start_dir,
             request->include[0]);
    memory_source_init(&wiki, items, sizeof items / sizeof items[0]);
    *out = &wiki.source;
    return VCM_OK;
}

static const struct vcm_source_type wiki_type = {.name = "wiki", .open = open_wiki};

static int set_up(void **state)
{
    struct handle_fixture *fix = calloc(1, sizeof *fix);

    test_repo_init(&fix->repo);
    test_repo_write_text(&fix->repo, ".colony/repo_map.yaml", MAP);
    test_repo_write_text(&fix->repo, "docs/a.wiki", "text\n");
    handle_fixture_open(fix);
    *state = fix;
    return 0;
}

static void register_wiki(struct handle_fixture *fix)
{
    if (vcm_handle_register_source_type(fix->vcm, &wiki_type, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
}

static struct vcm_map_result *map(struct handle_fixture *fix)
{
    struct vcm_map_result *result = NULL;
    const struct vcm_map_options options = {.repository = fix->repo.path, .base_scope_id = "s"};

    if (vcm_map(&result, fix->vcm, &options, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
    return result;
}

static int keep_page_id(void *context, const struct vcm_page_entry *page, struct vcm_error *err)
{
    (void)err;
    snprintf(context, 41, "%s", page->page_id);
    return VCM_OK;
}

static void a_row_of_a_type_of_ones_own_is_mapped_and_read_back(void **state)
{
    struct handle_fixture *fix = *state;
    const struct vcm_pages_query pages = {.scope = "s:wiki"};
    char page_id[41] = "", expected[512], *cursor = NULL;
    struct vcm_page *page = NULL;

    register_wiki(fix);
    struct vcm_map_result *result = map(fix);
    assert_int_equal(result->status, VCM_STATUS_MAPPED);
    assert_int_equal(result->source_count, 2);
    const struct vcm_map_source *row = &result->sources[1];
    assert_string_equal(row->scope_id, "s:wiki");
    assert_int_equal(row->records, 2);
    assert_int_equal(row->coverage.tracked, 4);
    assert_int_equal(row->coverage.paged, 2);
    assert_int_equal(row->coverage.excluded, 1);
    assert_int_equal(row->coverage.binary, 1);
    vcm_map_result_free(result);
    snprintf(expected, sizeof expected, "%s docs *.wiki", fix->repo.path);
    assert_string_equal(asked_for, expected);
    assert_int_equal(wiki.closed, 1);
    assert_int_equal(wiki.readers_open, 0);

    assert_int_equal(vcm_pages(&cursor, fix->vcm, &pages, keep_page_id, page_id, &fix->err),
                     VCM_OK);
    assert_null(cursor);
    const struct vcm_page_query query = {.page = page_id, .seq = -1};
    assert_int_equal(vcm_page_open(&page, fix->vcm, &query, &fix->err), VCM_OK);
    assert_int_equal(page->record_count, 2);
    assert_string_equal(page->records[0].path, "Home.wiki");
    assert_memory_equal(page->records[0].text, items[0].text, page->records[0].text_len);
    assert_string_equal(page->records[1].path, "Other.wiki");
    vcm_page_release(page);
}

static void mapping_again_does_nothing(void **state)
{
    struct handle_fixture *fix = *state;

    register_wiki(fix);
    vcm_map_result_free(map(fix));
    struct vcm_map_result *result = map(fix);
    assert_int_equal(result->status, VCM_STATUS_ALREADY_MAPPED);
    assert_int_equal(wiki.reads, 0);
    vcm_map_result_free(result);
}

static void a_taken_name_is_refused(void **state)
{
    struct handle_fixture *fix = *state;
    const struct vcm_source_type again = {.name = "git_repo", .open = open_wiki};

    register_wiki(fix);
    assert_int_equal(vcm_handle_register_source_type(fix->vcm, &wiki_type, &fix->err),
                     VCM_INVALID_ARGUMENT);
    assert_non_null(strstr(fix->err.message, "'wiki'"));
    vcm_error_reset(&fix->err);
    assert_int_equal(vcm_handle_register_source_type(fix->vcm, &again, &fix->err),
                     VCM_INVALID_ARGUMENT);
    assert_non_null(strstr(fix->err.message, "'git_repo'"));
}

static void without_registering_the_type_is_an_error_with_its_place(void **state)
{
    struct handle_fixture *fix = *state;
    const struct vcm_map_query query = {.repository = fix->repo.path};
    struct vcm_map_report *report = NULL;

    assert_int_equal(vcm_map_check(&report, fix->vcm, &query, &fix->err), VCM_OK);
    assert_false(report->ok);
    assert_int_equal(report->problem_count, 1);
    assert_int_equal(report->problems[0].line, 4);
    assert_int_equal(report->problems[0].column, 22);
    assert_string_equal(report->problems[0].where, "sources[1].type");
    assert_non_null(strstr(report->problems[0].message, "known: git_repo, literature"));
    vcm_map_report_free(report);

    register_wiki(fix);
    assert_int_equal(vcm_map_check(&report, fix->vcm, &query, &fix->err), VCM_OK);
    assert_true(report->ok);
    assert_string_equal(report->rows[1].type, "wiki");
    vcm_map_report_free(report);
}

static void a_registration_is_of_its_handle_alone(void **state)
{
    struct handle_fixture *fix = *state;
    const struct vcm_map_options options = {.repository = fix->repo.path};
    struct vcm_map_result *result = NULL;

    register_wiki(fix);
    vcm_close(fix->vcm);
    fix->vcm = handle_fixture_open_again(fix);
    assert_int_equal(vcm_map(&result, fix->vcm, &options, &fix->err), VCM_INVALID_REPO_MAP);
    assert_null(result);
    assert_non_null(strstr(fix->err.message, "4:22"));
}

static void a_source_that_cannot_be_opened_fails_its_row_alone(void **state)
{
    struct handle_fixture *fix = *state;

    test_repo_write_text(&fix->repo, ".colony/repo_map.yaml",
                         "schema_version: 1\n"
                         "sources:\n"
                         "- {name: code, type: git_repo}\n"
                         "- {name: wiki, type: wiki}\n");
    test_repo_commit(&fix->repo, "second");
    register_wiki(fix);
    struct vcm_map_result *result = map(fix);
    assert_int_equal(result->status, VCM_STATUS_PARTIAL);
    assert_int_equal(result->sources[0].status, VCM_STATUS_MAPPED);
    assert_int_equal(result->sources[1].code, VCM_INVALID_ARGUMENT);
    assert_non_null(strstr(result->sources[1].message, "a wiki needs one pattern"));
    vcm_map_result_free(result);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, handle_fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_row_of_a_type_of_ones_own_is_mapped_and_read_back),
        TEST(mapping_again_does_nothing),
        TEST(a_taken_name_is_refused),
        TEST(without_registering_the_type_is_an_error_with_its_place),
        TEST(a_registration_is_of_its_handle_alone),
        TEST(a_source_that_cannot_be_opened_fails_its_row_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
