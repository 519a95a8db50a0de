/* What was given back and is used all the same: caught as far as that can be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "api/vcm.h"
#include "tests/api/handle_fixture.h"

#include "base/banned.h"

struct fixture {
    struct handle_fixture of;
    char page[41];
};

static int keep_page_id(void *context, const struct vcm_page_entry *page, struct vcm_error *err)
{
    (void)err;
    snprintf(context, 41, "%s", page->page_id);
    return VCM_OK;
}

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);
    struct vcm_map_result *result = NULL;
    char *cursor = NULL;

    test_repo_init(&fix->of.repo);
    test_repo_write_text(&fix->of.repo, ".colony/repo_map.yaml",
                         "schema_version: 1\nsources:\n- {name: default, type: git_repo}\n");
    test_repo_write_text(&fix->of.repo, "notes.md", "# Notes\n\nA text.\n");
    handle_fixture_open(&fix->of);
    const struct vcm_mmap_options options = {.scope_id = "s",
                                             .origin_url = fix->of.repo.path,
                                             .chunk_overlap_tokens = -1,
                                             .source_type = "literature"};
    assert_int_equal(vcm_mmap_application_scope(&result, fix->of.vcm, &options, &fix->of.err),
                     VCM_OK);
    vcm_map_result_free(result);
    assert_int_equal(vcm_pages(&cursor, fix->of.vcm, &(struct vcm_pages_query){0}, keep_page_id,
                               fix->page, &fix->of.err),
                     VCM_OK);
    *state = fix;
    return 0;
}

static struct vcm *open_again(struct fixture *fix)
{
    struct vcm *vcm = NULL;
    if (vcm_open(&vcm, &(struct vcm_open_options){.home = fix->of.home}, NULL) != VCM_OK)
        _exit(3);
    return vcm;
}

static void close_handle_twice(struct fixture *fix)
{
    struct vcm *vcm = open_again(fix);

    vcm_close(vcm);
    vcm_close(vcm);
}

static void release_page_twice(struct fixture *fix)
{
    const struct vcm_page_query query = {.page = fix->page, .seq = -1};
    struct vcm_page *page = NULL;

    if (vcm_page_open(&page, open_again(fix), &query, NULL) != VCM_OK)
        _exit(3);
    vcm_page_release(page);
    vcm_page_release(page);
}

static void release_view_twice(struct fixture *fix)
{
    struct vcm_page_view *view = NULL;

    if (vcm_page_view_open(&view, open_again(fix), fix->page, NULL) != VCM_OK)
        _exit(3);
    vcm_page_view_release(view);
    vcm_page_view_release(view);
}

static void free_result_twice(struct fixture *fix)
{
    const struct vcm_map_options options = {.repository = fix->of.repo.path, .base_scope_id = "m"};
    struct vcm_map_result *result = NULL;

    if (vcm_map(&result, open_again(fix), &options, NULL) != VCM_OK)
        _exit(3);
    vcm_map_result_free(result);
    vcm_map_result_free(result);
}

static void free_report_twice(struct fixture *fix)
{
    const struct vcm_map_query query = {.repository = fix->of.repo.path};
    struct vcm_map_report *report = NULL;

    if (vcm_map_check(&report, open_again(fix), &query, NULL) != VCM_OK)
        _exit(3);
    vcm_map_report_free(report);
    vcm_map_report_free(report);
}

static void free_init_twice(struct fixture *fix)
{
    const struct vcm_init_options options = {.directory = fix->of.repo.path, .dry_run = true};
    struct vcm_init_result *result = NULL;

    if (vcm_init(&result, open_again(fix), &options, NULL) != VCM_OK)
        _exit(3);
    vcm_init_result_free(result);
    vcm_init_result_free(result);
}

static void free_promotion_twice(struct fixture *fix)
{
    const char *const paths[] = {"notes.md"};
    const struct vcm_promote_options options = {
        .repository = fix->of.repo.path, .paths = paths, .path_count = 1, .dry_run = true};
    struct vcm_promote_result *result = NULL;

    if (vcm_promote(&result, open_again(fix), &options, NULL) != VCM_OK)
        _exit(3);
    vcm_promote_result_free(result);
    vcm_promote_result_free(result);
}

/* What a child says on standard error, and how it ends. */
static int run_in_child(char *said, size_t size, struct fixture *fix,
                        void (*misuse)(struct fixture *fix))
{
    int ends[2], status = 0;
    size_t len = 0;
    ssize_t got;

    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        misuse(fix);
        _exit(0);
    }
    close(ends[1]);
    while ((got = read(ends[0], said + len, size - len - 1)) > 0)
        len += (size_t)got;
    said[len] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void what_is_given_back_twice_fails_an_assertion(void **state)
{
    static void (*const misuses[])(struct fixture * fix) = {
        close_handle_twice, release_page_twice, release_view_twice,   free_result_twice,
        free_report_twice,  free_init_twice,    free_promotion_twice,
    };
    static char said[1 << 20];

#ifdef NDEBUG
    skip();
#endif
    for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) {
        int status = run_in_child(said, sizeof said, *state, misuses[i]);
        bool caught =
            strstr(said, "given back twice") || strstr(said, "Sanitizer"); /* is quicker */
        if (status == 0 || !caught)
            fail_msg("misuse %zu ends with %d: %s", i, status, said);
    }
}

static bool memory_is_watched(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#endif
    return preloaded && strstr(preloaded, "vgpreload");
}

static void use_closed_handle(struct fixture *fix)
{
    struct vcm_error err = {0};
    struct vcm *vcm = open_again(fix);
    struct vcm_stat stat;

    vcm_close(vcm);
    int rc = vcm_stat(&stat, vcm, &err);
    _exit(rc == VCM_INVALID_ARGUMENT && strstr(err.message, "closed") ? 0 : 1);
}

static void a_closed_handle_is_refused(void **state)
{
    char said[4096];

    if (memory_is_watched())
        skip();
    assert_int_equal(run_in_child(said, sizeof said, *state, use_closed_handle), 0);
}

static void pages_and_views_outlive_their_handle(void **state)
{
    struct fixture *fix = *state;
    const struct vcm_page_query query = {.page = fix->page, .seq = -1};
    struct vcm_page_view *view = NULL;
    struct vcm_page *page = NULL;
    struct vcm *vcm = open_again(fix);

    assert_int_equal(vcm_page_open(&page, vcm, &query, &fix->of.err), VCM_OK);
    assert_int_equal(vcm_page_view_open(&view, vcm, fix->page, &fix->of.err), VCM_OK);
    vcm_close(vcm);
    assert_int_equal(view->bytes, page->bytes);
    assert_memory_equal(view->data, page->frame, view->bytes);
    assert_string_equal(page->records[0].path, "notes.md");
    vcm_page_release(page);
    vcm_page_view_release(view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_given_back_twice_fails_an_assertion, set_up,
                                        handle_fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_closed_handle_is_refused, set_up,
                                        handle_fixture_tear_down),
        cmocka_unit_test_setup_teardown(pages_and_views_outlive_their_handle, set_up,
                                        handle_fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
