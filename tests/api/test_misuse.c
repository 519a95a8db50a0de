#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "api/vcm.h"
#include "tests/support/repo.h"

#include "base/banned.h"

static int take_finding(void *context, const struct vcm_finding *finding, struct vcm_error *err)
{
    (void)context, (void)finding, (void)err;
    return VCM_OK;
}

static int call_map(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_map_result *out = NULL;
    return vcm_map(&out, vcm, &(struct vcm_map_options){.repository = "."}, err);
}

static int call_materialize(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_map_result *out = NULL;
    return vcm_materialize_repo_map(&out, vcm, &(struct vcm_materialize_options){.origin_url = "."},
                                    err);
}

static int call_mmap(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_map_result *out = NULL;
    return vcm_mmap_application_scope(
        &out, vcm, &(struct vcm_mmap_options){.scope_id = "s", .origin_url = "."}, err);
}

static int call_munmap(struct vcm *vcm, struct vcm_error *err)
{
    enum vcm_status status;
    return vcm_munmap_application_scope(&status, vcm, "s", err);
}

static int call_watch(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_watch(vcm, &(struct vcm_watch_options){.map = {.repository = "."}}, err);
}

static int call_check(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_map_report *out = NULL;
    return vcm_map_check(&out, vcm, &(struct vcm_map_query){.repository = "."}, err);
}

static int call_preview(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_map_report *out = NULL;
    return vcm_map_preview(&out, vcm, &(struct vcm_map_query){.repository = "."}, err);
}

static int call_show(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_map_report *out = NULL;
    return vcm_map_show(&out, vcm, &(struct vcm_map_query){.repository = "."}, err);
}

static int call_init(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_init_result *out = NULL;
    return vcm_init(&out, vcm, &(struct vcm_init_options){.directory = "/nowhere"}, err);
}

static int call_lfs_status(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_lfs_status(vcm, ".", NULL, NULL, NULL, err);
}

static int call_lfs_pull(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_lfs_pull(vcm, NULL, NULL, NULL, NULL, err);
}

static int call_scopes(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_scopes(vcm, NULL, NULL, err);
}

static int call_coverage(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_coverage(vcm, &(struct vcm_coverage_query){.scope = "s"}, NULL, NULL, NULL, err);
}

static int call_unmap(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_unmap(vcm, "s", NULL, NULL, err);
}

static int call_pages(struct vcm *vcm, struct vcm_error *err)
{
    char *next = NULL;
    return vcm_pages(&next, vcm, &(struct vcm_pages_query){0}, NULL, NULL, err);
}

static int call_find(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_find(vcm, &(struct vcm_find_query){.path = "a"}, NULL, NULL, err);
}

static int call_page(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_page *out = NULL;
    return vcm_page_open(&out, vcm, &(struct vcm_page_query){.page = "012345", .seq = -1}, err);
}

static int call_view(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_page_view *out = NULL;
    return vcm_page_view_open(&out, vcm, "012345", err);
}

static int call_view_hit(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_page_view *out = NULL;
    return vcm_page_view_open_hit(&out, vcm, "012345", err);
}

static const char *const page_names[] = {"012345"};

static int call_fault(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_fault(vcm, &(struct vcm_fault_query){.pages = page_names, .count = 1}, NULL, NULL,
                     err);
}

static int call_lock(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_lock(vcm, &(struct vcm_lock_query){.pages = page_names, .count = 1, .ttl_ms = 1000},
                    NULL, NULL, err);
}

static int call_unlock(struct vcm *vcm, struct vcm_error *err)
{
    uint64_t released;
    return vcm_unlock(&released, vcm, &(struct vcm_lock_query){.pages = page_names, .count = 1},
                      NULL, NULL, err);
}

static int call_locks(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_locks(vcm, NULL, NULL, NULL, err);
}

static int call_extend(struct vcm *vcm, struct vcm_error *err)
{
    uint64_t until;
    return vcm_lock_extend(&until, vcm, "012345", NULL, 1000, err);
}

static int call_pin(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_pin(vcm, "012345", NULL, NULL, err);
}

static int call_unpin(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_unpin(vcm, "012345", NULL, NULL, err);
}

static int call_evict(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_evict_result result;
    return vcm_evict(&result, vcm, &(struct vcm_evict_query){.all = true}, NULL, NULL, err);
}

static int call_tokens(struct vcm *vcm, struct vcm_error *err)
{
    const char *const paths[] = {"/nowhere"};
    return vcm_tokens(vcm, &(struct vcm_tokens_query){.paths = paths, .count = 1}, NULL, NULL, err);
}

static int call_kb_ingest(struct vcm *vcm, struct vcm_error *err)
{
    const char *const files[] = {"/nowhere"};
    return vcm_kb_ingest(vcm, &(struct vcm_kb_ingest_options){.files = files, .file_count = 1},
                         NULL, NULL, err);
}

static int call_kb_search(struct vcm *vcm, struct vcm_error *err)
{
    uint64_t total;
    return vcm_kb_search(&total, vcm, &(struct vcm_kb_search_options){.query = "a"}, NULL, NULL,
                         err);
}

static int call_kb_show(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_kb_show(vcm, "012345", NULL, NULL, err);
}

static int call_kb_list(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_kb_list(vcm, &(struct vcm_kb_filter){0}, NULL, NULL, err);
}

static int call_kb_clear(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_kb_clear(vcm, &(struct vcm_kb_clear_options){0}, NULL, NULL, err);
}

static int call_kb_stat(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_kb_stat out;
    return vcm_kb_stat(&out, vcm, err);
}

static int call_stat(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_stat out;
    return vcm_stat(&out, vcm, err);
}

static int call_config_list(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_config_list(vcm, NULL, NULL, err);
}

static int call_config_get(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_config_get(vcm, "tokenizer", NULL, NULL, err);
}

static int call_config_set(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_config_set(vcm, "tokenizer", "approx4", err);
}

static int call_doctor(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_doctor(vcm, take_finding, NULL, err);
}

static int call_top(struct vcm *vcm, struct vcm_error *err)
{
    return vcm_top(vcm, &(struct vcm_top_options){0}, err);
}

static int call_verify(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_verify_result result;
    return vcm_verify(&result, vcm, false, NULL, NULL, err);
}

static int call_gc(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_gc_counts counts;
    return vcm_gc(&counts, vcm, err);
}

static int call_trace_record(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_trace_recorded out;
    return vcm_trace_record(&out, vcm, &(struct vcm_trace_record_options){.duration_ms = 1}, err);
}

static int call_trace_replay(struct vcm *vcm, struct vcm_error *err)
{
    uint64_t accesses;
    return vcm_trace_replay_file(&accesses, vcm, "/nowhere", 0, NULL, NULL, err);
}

static int (*const calls[])(struct vcm *vcm, struct vcm_error *err) = {
    call_map,         call_materialize,  call_mmap,         call_munmap,    call_watch,
    call_check,       call_preview,      call_show,         call_init,      call_lfs_status,
    call_lfs_pull,    call_scopes,       call_coverage,     call_unmap,     call_pages,
    call_find,        call_page,         call_view,         call_view_hit,  call_fault,
    call_lock,        call_unlock,       call_locks,        call_extend,    call_pin,
    call_unpin,       call_evict,        call_tokens,       call_kb_ingest, call_kb_search,
    call_kb_show,     call_kb_list,      call_kb_clear,     call_kb_stat,   call_stat,
    call_config_list, call_config_get,   call_config_set,   call_top,       call_verify,
    call_gc,          call_trace_record, call_trace_replay, call_doctor,
};
#define CALLS (sizeof calls / sizeof calls[0])

/* How many calls refuse the handle, and the last message. */
static size_t refusals(struct vcm *vcm, const char *word)
{
    size_t count = 0;

    for (size_t i = 0; i < CALLS; i++) {
        struct vcm_error err = {0};
        int rc = calls[i](vcm, &err);
        if (rc == VCM_INVALID_ARGUMENT && err.code == VCM_INVALID_ARGUMENT &&
            strstr(err.message, word))
            count++;
        else
            fprintf(stderr, "call %zu: %d %s\n", i, rc, err.message);
    }
    return count;
}

static void every_call_refuses_no_handle(void **state)
{
    (void)state;
    assert_int_equal(refusals(NULL, "NULL"), CALLS);
    assert_null(vcm_home(NULL));
    vcm_close(NULL);
}

static void every_call_refuses_the_handle_of_a_parent(void **state)
{
    struct vcm_error err = {0};
    struct test_repo repo;
    struct vcm *vcm = NULL;
    int status = 0;

    (void)state;
    test_repo_init(&repo);
    test_repo_write_text(&repo, "a.c", "int a;\n");
    test_repo_commit(&repo, "first");
    char *home = test_repo_path(&repo, ".git/home");
    assert_int_equal(vcm_open(&vcm, &(struct vcm_open_options){.home = home}, &err), VCM_OK);
    struct vcm_map_result *result = NULL;
    const struct vcm_mmap_options options = {
        .scope_id = "s", .origin_url = repo.path, .chunk_overlap_tokens = -1};
    assert_int_equal(vcm_mmap_application_scope(&result, vcm, &options, &err), VCM_OK);
    vcm_map_result_free(result);

    pid_t child = fork();
    if (child == 0) {
        size_t count = refusals(vcm, "before a fork");
        vcm_close(vcm);
        _exit(count == CALLS ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);

    struct vcm_stat stat;
    assert_int_equal(vcm_stat(&stat, vcm, &err), VCM_OK);
    assert_int_equal(stat.scopes, 1);
    vcm_close(vcm);
    free(home);
    test_repo_release(&repo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_refuses_no_handle),
        cmocka_unit_test(every_call_refuses_the_handle_of_a_parent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
