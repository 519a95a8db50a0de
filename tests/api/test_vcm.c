#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "api/vcm.h"
#include "tests/api/handle_fixture.h"

#include "base/banned.h"

#define FRAME                                                                                      \
    "{\"path\":\"a.c\",\"text\":\"int a;\\n\"}\n"                                                  \
    "{\"path\":\"b/b.c\",\"text\":\"int b;\\n\"}\n"

static int set_up(void **state)
{
    struct handle_fixture *fix = calloc(1, sizeof *fix);

    test_repo_init(&fix->repo);
    test_repo_write_text(&fix->repo, "a.c", "int a;\n");
    test_repo_write_text(&fix->repo, "b/b.c", "int b;\n");
    handle_fixture_open(fix);
    *state = fix;
    return 0;
}

static void map(struct handle_fixture *fix, struct vcm *vcm, enum vcm_status expected)
{
    const struct vcm_map_options options = {.repository = fix->repo.path, .base_scope_id = "base"};
    struct vcm_map_result *result = NULL;

    if (vcm_map(&result, vcm, &options, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
    assert_int_equal(result->status, expected);
    vcm_map_result_free(result);
}

struct seen {
    unsigned count;
    char last[128];
    int answer; /* what the callback returns */
};

static int see_scope(void *context, const struct vcm_scope_info *scope, struct vcm_error *err)
{
    struct seen *seen = context;

    (void)err;
    seen->count++;
    snprintf(seen->last, sizeof seen->last, "%s", scope->scope_id);
    return seen->answer;
}

static int see_page(void *context, const struct vcm_page_entry *page, struct vcm_error *err)
{
    struct seen *seen = context;

    (void)err;
    seen->count++;
    snprintf(seen->last, sizeof seen->last, "%s", page->page_id);
    return seen->answer;
}

static int see_setting(void *context, const struct vcm_config_entry *entry, struct vcm_error *err)
{
    struct seen *seen = context;

    (void)err;
    seen->count++;
    snprintf(seen->last, sizeof seen->last, "%s", entry->value);
    return seen->answer;
}

static int see_finding(void *context, const struct vcm_finding *finding, struct vcm_error *err)
{
    struct seen *seen = context;

    (void)err;
    assert_non_null(finding->check);
    assert_non_null(finding->detail);
    assert_true(finding->status == VCM_FINDING_OK || finding->remedy);
    seen->count++;
    return seen->answer;
}

static void a_missing_home_reads_as_an_empty_store_and_is_not_made(void **state)
{
    struct handle_fixture *fix = *state;
    struct seen scopes = {0}, pages = {0};
    struct vcm_stat stat_;
    struct stat status;
    char *cursor = NULL;

    assert_string_equal(vcm_home(fix->vcm), fix->home);
    assert_int_equal(vcm_scopes(fix->vcm, see_scope, &scopes, &fix->err), VCM_OK);
    assert_int_equal(
        vcm_pages(&cursor, fix->vcm, &(struct vcm_pages_query){0}, see_page, &pages, &fix->err),
        VCM_OK);
    assert_int_equal(vcm_stat(&stat_, fix->vcm, &fix->err), VCM_OK);
    assert_int_equal(scopes.count + pages.count, 0);
    assert_null(cursor);
    assert_int_equal(stat_.pages + stat_.scopes, 0);
    assert_int_not_equal(stat(fix->home, &status), 0);
}

static void what_is_mapped_is_listed_and_read(void **state)
{
    struct handle_fixture *fix = *state;
    struct seen scopes = {0}, pages = {0};
    struct vcm_page *page = NULL;
    struct vcm_stat stat_;
    char *cursor = NULL;

    map(fix, fix->vcm, VCM_STATUS_MAPPED);
    map(fix, fix->vcm, VCM_STATUS_ALREADY_MAPPED);
    assert_int_equal(vcm_scopes(fix->vcm, see_scope, &scopes, &fix->err), VCM_OK);
    assert_int_equal(scopes.count, 1);
    assert_string_equal(scopes.last, "base");
    const struct vcm_pages_query listing = {.scope = "base", .path = "b"};
    assert_int_equal(vcm_pages(&cursor, fix->vcm, &listing, see_page, &pages, &fix->err), VCM_OK);
    assert_int_equal(pages.count, 1);
    const struct vcm_page_query query = {.page = pages.last, .seq = -1};
    assert_int_equal(vcm_page_open(&page, fix->vcm, &query, &fix->err), VCM_OK);
    assert_int_equal(page->record_count, 2);
    assert_string_equal(page->records[1].path, "b/b.c");
    assert_int_equal(page->bytes, strlen(FRAME));
    assert_memory_equal(page->frame, FRAME, page->bytes);
    vcm_page_release(page);
    assert_int_equal(vcm_stat(&stat_, fix->vcm, &fix->err), VCM_OK);
    assert_int_equal(stat_.pages, 1);
    assert_int_equal(stat_.hits, 1);
}

static void two_handles_of_one_home_see_each_others_work(void **state)
{
    struct handle_fixture *fix = *state;
    struct vcm *other = handle_fixture_open_again(fix);
    struct seen scopes = {0};

    assert_int_equal(vcm_scopes(other, see_scope, &scopes, &fix->err), VCM_OK);
    assert_int_equal(scopes.count, 0);
    map(fix, fix->vcm, VCM_STATUS_MAPPED);
    assert_int_equal(vcm_scopes(other, see_scope, &scopes, &fix->err), VCM_OK);
    assert_int_equal(scopes.count, 1);
    test_repo_write_text(&fix->repo, "c.c", "int c;\n");
    test_repo_commit(&fix->repo, "second");
    map(fix, other, VCM_STATUS_MAPPED);
    map(fix, fix->vcm, VCM_STATUS_ALREADY_MAPPED);
    vcm_close(other);
    map(fix, fix->vcm, VCM_STATUS_ALREADY_MAPPED);
}

static void settings_are_checked_and_kept(void **state)
{
    struct handle_fixture *fix = *state;
    struct seen all = {0}, one = {0};

    assert_int_equal(vcm_config_list(fix->vcm, see_setting, &all, &fix->err), VCM_OK);
    assert_true(all.count >= 7);
    assert_int_equal(vcm_config_set(fix->vcm, "mmap.flush_threshold", "7", &fix->err), VCM_OK);
    assert_int_equal(vcm_config_get(fix->vcm, "mmap.flush_threshold", see_setting, &one, &fix->err),
                     VCM_OK);
    assert_string_equal(one.last, "7");
    struct vcm *other = handle_fixture_open_again(fix);
    assert_int_equal(vcm_config_get(other, "mmap.flush_threshold", see_setting, &one, &fix->err),
                     VCM_OK);
    assert_string_equal(one.last, "7");
    vcm_close(other);
    assert_int_equal(vcm_config_set(fix->vcm, "mmap.flush_threshold", "0", &fix->err),
                     VCM_INVALID_ARGUMENT);
    vcm_error_reset(&fix->err);
    assert_int_equal(vcm_config_get(fix->vcm, "nothing", see_setting, &one, &fix->err),
                     VCM_INVALID_ARGUMENT);
}

static void the_doctor_has_findings(void **state)
{
    struct handle_fixture *fix = *state;
    struct seen findings = {0};

    assert_int_equal(vcm_doctor(fix->vcm, see_finding, &findings, &fix->err), VCM_OK);
    assert_true(findings.count > 3);
}

static int see_place(void *context, const struct vcm_find_entry *entry, struct vcm_error *err)
{
    struct seen *seen = context;

    (void)entry;
    (void)err;
    seen->count++;
    return seen->answer;
}

static void a_callback_ends_the_call_with_its_answer(void **state)
{
    struct handle_fixture *fix = *state;
    const int answers[] = {VCM_TIMEOUT, VCM_NOT_FOUND, -1, 1000};
    const struct vcm_find_query query = {.path = "a.c"};

    map(fix, fix->vcm, VCM_STATUS_MAPPED);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        struct seen scopes = {.answer = answers[i]}, pages = scopes, settings = scopes,
                    places = scopes;
        char *cursor = NULL;
        assert_int_equal(vcm_scopes(fix->vcm, see_scope, &scopes, &fix->err), answers[i]);
        assert_int_equal(
            vcm_pages(&cursor, fix->vcm, &(struct vcm_pages_query){0}, see_page, &pages, &fix->err),
            answers[i]);
        assert_null(cursor);
        assert_int_equal(vcm_config_list(fix->vcm, see_setting, &settings, &fix->err), answers[i]);
        assert_int_equal(settings.count, 1);
        assert_int_equal(vcm_find(fix->vcm, &query, see_place, &places, &fix->err), answers[i]);
        assert_int_equal(places.count, 1);
        assert_int_equal(vcm_scopes(fix->vcm, see_scope, &scopes, NULL), answers[i]);
    }
}

static void wrong_arguments_are_answered(void **state)
{
    struct handle_fixture *fix = *state;
    struct vcm_map_result *result = NULL;
    struct vcm_map_report *report = NULL;
    struct vcm_page *page = NULL;
    const char *only[] = {"nope"};
    const struct {
        struct vcm_map_options options;
        int code;
    } cases[] = {
        {{.repository = "/nowhere/at/all"}, VCM_NOT_FOUND},
        {{.repository = fix->repo.path, .base_scope_id = "a b"}, VCM_INVALID_ARGUMENT},
        {{.repository = fix->repo.path, .branch = "nope"}, VCM_NOT_FOUND},
        {{.repository = fix->repo.path, .commit = "-x"}, VCM_INVALID_ARGUMENT},
        {{.repository = fix->repo.path, .only = only, .only_count = 1}, VCM_INVALID_ARGUMENT},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vcm_error_reset(&fix->err);
        assert_int_equal(vcm_map(&result, fix->vcm, &cases[i].options, &fix->err), cases[i].code);
        assert_int_equal(fix->err.code, cases[i].code);
        assert_null(result);
    }
    vcm_error_reset(&fix->err);
    assert_int_equal(vcm_map_preview(&report, fix->vcm,
                                     &(struct vcm_map_query){.repository = "/nowhere"}, &fix->err),
                     VCM_NOT_FOUND);
    assert_null(report);
    vcm_error_reset(&fix->err);
    const struct vcm_page_query unknown = {.page = "0123456789", .seq = -1};
    assert_int_equal(vcm_page_open(&page, fix->vcm, &unknown, &fix->err), VCM_NOT_FOUND);
    assert_null(page);
}

static void an_error_is_wanted_and_not_needed(void **state)
{
    struct handle_fixture *fix = *state;
    const struct vcm_page_query unknown = {.page = "0123456789", .seq = -1};
    struct vcm_map_result *result = NULL;
    struct vcm_map_report *report = NULL;
    struct vcm_page *page = NULL;

    assert_int_equal(vcm_page_open(&page, fix->vcm, &unknown, NULL), VCM_NOT_FOUND);
    assert_int_equal(
        vcm_map_check(&report, fix->vcm, &(struct vcm_map_query){.repository = "/nowhere"}, NULL),
        VCM_NOT_FOUND);
    test_repo_write_text(&fix->repo, ".colony/repo_map.yaml",
                         "schema_version: 1\n"
                         "sources: [{name: a, type: git_repo, start_dir: nowhere}]\n");
    test_repo_commit(&fix->repo, "second");
    const struct vcm_map_options options = {.repository = fix->repo.path};
    assert_int_equal(vcm_map(&result, fix->vcm, &options, NULL), VCM_OK);
    assert_int_equal(result->status, VCM_STATUS_ERROR);
    assert_non_null(result->sources[0].message);
    vcm_map_result_free(result);
    assert_int_equal(vcm_config_set(fix->vcm, "nothing", "x", NULL), VCM_INVALID_ARGUMENT);
}

static void a_request_to_stop_is_heard(void **state)
{
    struct handle_fixture *fix = *state;
    struct vcm_cancel cancel = {0};
    const struct vcm_open_options options = {.home = fix->home, .cancel = &cancel};
    const struct vcm_map_options map_options = {.repository = fix->repo.path};
    struct vcm_map_result *result = NULL;
    struct vcm *vcm = NULL;

    assert_int_equal(vcm_open(&vcm, &options, &fix->err), VCM_OK);
    vcm_cancel_request(&cancel);
    assert_int_equal(vcm_map(&result, vcm, &map_options, &fix->err), VCM_INTERRUPTED);
    assert_null(result);
    assert_int_equal(vcm_map(&result, vcm, &map_options, NULL), VCM_INTERRUPTED);
    vcm_close(vcm);
    vcm_error_reset(&fix->err);
    map(fix, fix->vcm, VCM_STATUS_MAPPED);
}

static void nothing_is_freed_in_vain(void **state)
{
    (void)state;
    vcm_close(NULL);
    vcm_map_result_free(NULL);
    vcm_map_report_free(NULL);
    vcm_page_release(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, handle_fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_missing_home_reads_as_an_empty_store_and_is_not_made),
        TEST(what_is_mapped_is_listed_and_read),
        TEST(two_handles_of_one_home_see_each_others_work),
        TEST(settings_are_checked_and_kept),
        TEST(the_doctor_has_findings),
        TEST(a_callback_ends_the_call_with_its_answer),
        TEST(wrong_arguments_are_answered),
        TEST(an_error_is_wanted_and_not_needed),
        TEST(a_request_to_stop_is_heard),
        cmocka_unit_test(nothing_is_freed_in_vain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
