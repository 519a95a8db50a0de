/* Every exported function with every argument wrong: an error, never a crash. The calls are made by
 * calls.py from the public headers. */
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

#define NO_UTF8 "caf\xe9 \xff\xfe\xc3"
/* Of a function that returns no code. */
#define NO_CODE (-1)

enum expected {
    REFUSED,  /* INVALID_ARGUMENT */
    ANYTHING, /* but a crash */
};

struct fixture {
    struct test_repo repo, folder;
    char *home, *document, *nowhere;
    struct vcm *vcm;
    struct vcm *stopped; /* one that was asked to stop, for what would not end */
    struct vcm_cancel cancel;
    char page[41];
    const char *pages[1];
    const char *texts[1];
    const char *paths[1];
};

struct call {
    enum expected expected;
    const char *label;
    int (*make)(struct fixture *fix, struct vcm_error *err);
};

static const char *const list_of_null[] = {NULL};
static const char *const list_of_path[] = {"a.c"};
static const char *const list_of_no_utf8[] = {NO_UTF8};
static const struct vcm_mmap_config a_config = {.flush_threshold = 3};
static const struct vcm_kb_bytes a_document = {.name = "a.txt", .data = "text", .len = 4};

/* Functions of options */

static int take_sample(void *context, const struct vcm_top_sample *sample, struct vcm_error *err)
{
    (void)context, (void)sample, (void)err;
    return VCM_OK;
}

static int take_access(void *context, const struct vcm_trace_access *access, struct vcm_error *err)
{
    (void)context, (void)access, (void)err;
    return VCM_OK;
}

static int take_event(void *context, const struct vcm_page_event *event, struct vcm_error *err)
{
    (void)context, (void)event, (void)err;
    return VCM_OK;
}

static int take_match(void *context, const struct vcm_grep_match *match, struct vcm_error *err)
{
    (void)context, (void)match, (void)err;
    return VCM_OK;
}

static int enter(void *context, const char *path, bool is_directory, struct vcm_error *err)
{
    (void)context, (void)path, (void)is_directory, (void)err;
    return VCM_OK;
}

static int leave(void *context, struct vcm_error *err)
{
    (void)context, (void)err;
    return VCM_OK;
}

static int open_source(void **source, void *context, const struct vcm_source_row *row,
                       struct vcm_error *err)
{
    (void)source, (void)context, (void)row;
    return vcm_error_fill(err, VCM_UNSUPPORTED, "not opened here");
}

static int walk_source(void *source, vcm_source_entry_fn visit, void *context,
                       struct vcm_error *err)
{
    (void)source, (void)visit, (void)context, (void)err;
    return VCM_OK;
}

static int read_source(void *source, const struct vcm_source_entry *entry,
                       vcm_source_text_fn write_text, void *context, struct vcm_error *err)
{
    (void)source, (void)entry, (void)write_text, (void)context, (void)err;
    return VCM_OK;
}

static void close_source(void *source)
{
    (void)source;
}

/* Right arguments: of a struct by its name, of a string by the names of function and parameter */

#define example_vcm_open_options                                                                   \
    (struct vcm_open_options)                                                                      \
    {                                                                                              \
        .home = fix->home                                                                          \
    }
#define example_vcm_map_options                                                                    \
    (struct vcm_map_options)                                                                       \
    {                                                                                              \
        .repository = fix->repo.path, .base_scope_id = "map"                                       \
    }
#define example_vcm_materialize_options                                                            \
    (struct vcm_materialize_options)                                                               \
    {                                                                                              \
        .origin_url = fix->repo.path, .base_scope_id = "base", .config = &a_config                 \
    }
#define example_vcm_mmap_options                                                                   \
    (struct vcm_mmap_options)                                                                      \
    {                                                                                              \
        .scope_id = "scope", .origin_url = fix->repo.path, .config = &a_config,                    \
        .chunk_overlap_tokens = -1                                                                 \
    }
#define example_vcm_watch_options                                                                  \
    (struct vcm_watch_options)                                                                     \
    {                                                                                              \
        .map = example_vcm_map_options, .poll_ms = 1000, .event = take_event                       \
    }
#define example_vcm_map_query                                                                      \
    (struct vcm_map_query)                                                                         \
    {                                                                                              \
        .repository = fix->repo.path                                                               \
    }
#define example_vcm_directory_query                                                                \
    (struct vcm_directory_query)                                                                   \
    {                                                                                              \
        .root = fix->repo.path, .max_depth = 1, .max_nodes = 10                                    \
    }
#define example_vcm_directory_visitor                                                              \
    (struct vcm_directory_visitor)                                                                 \
    {                                                                                              \
        enter, leave                                                                               \
    }
#define example_vcm_grep_query                                                                     \
    (struct vcm_grep_query)                                                                        \
    {                                                                                              \
        .pattern = "a", .place = {.repo = fix->repo.path }                                         \
    }
#define example_vcm_grep_visitor                                                                   \
    (struct vcm_grep_visitor)                                                                      \
    {                                                                                              \
        take_match, NULL, NULL                                                                     \
    }
#define example_vcm_init_options                                                                   \
    (struct vcm_init_options)                                                                      \
    {                                                                                              \
        .directory = fix->repo.path, .dry_run = true, .no_push = true                              \
    }
#define example_vcm_coverage_query                                                                 \
    (struct vcm_coverage_query)                                                                    \
    {                                                                                              \
        .scope = "scope"                                                                           \
    }
#define example_vcm_pages_query                                                                    \
    (struct vcm_pages_query)                                                                       \
    {                                                                                              \
        .scope = "scope"                                                                           \
    }
#define example_vcm_find_query                                                                     \
    (struct vcm_find_query)                                                                        \
    {                                                                                              \
        .path = "a.c"                                                                              \
    }
#define example_vcm_record_query                                                                   \
    (struct vcm_record_query)                                                                      \
    {                                                                                              \
        .record = fix->page                                                                        \
    }
#define example_vcm_page_query                                                                     \
    (struct vcm_page_query)                                                                        \
    {                                                                                              \
        .page = fix->page, .seq = -1                                                               \
    }
#define example_vcm_page                                                                           \
    (struct vcm_page)                                                                              \
    {                                                                                              \
        .page_id = fix->page, .scope_id = "scope"                                                  \
    }
#define example_vcm_cancel                                                                         \
    (struct vcm_cancel)                                                                            \
    {                                                                                              \
        0                                                                                          \
    }
#define example_vcm_render_options                                                                 \
    (struct vcm_render_options)                                                                    \
    {                                                                                              \
        .format = "xml"                                                                            \
    }
#define example_vcm_fault_query                                                                    \
    (struct vcm_fault_query)                                                                       \
    {                                                                                              \
        .pages = fix->pages, .count = 1                                                            \
    }
#define example_vcm_lock_query                                                                     \
    (struct vcm_lock_query)                                                                        \
    {                                                                                              \
        .pages = fix->pages, .count = 1, .ttl_ms = 1000                                            \
    }
#define example_vcm_evict_query                                                                    \
    (struct vcm_evict_query)                                                                       \
    {                                                                                              \
        .pages = fix->pages, .count = 1                                                            \
    }
#define example_vcm_tokens_count_encoding "cl100k_base"
#define example_vcm_tokens_count_text     "a text"
#define example_vcm_tokens_query                                                                   \
    (struct vcm_tokens_query)                                                                      \
    {                                                                                              \
        .paths = fix->paths, .count = 1                                                            \
    }
#define example_vcm_kb_ingest_options                                                              \
    (struct vcm_kb_ingest_options)                                                                 \
    {                                                                                              \
        .files = fix->paths, .file_count = 1, .documents = &a_document, .document_count = 1        \
    }
#define example_vcm_promote_options                                                                \
    (struct vcm_promote_options)                                                                   \
    {                                                                                              \
        .repository = fix->repo.path, .paths = fix->texts, .path_count = 1, .dry_run = true        \
    }
#define example_vcm_kb_search_options                                                              \
    (struct vcm_kb_search_options)                                                                 \
    {                                                                                              \
        .query = "text"                                                                            \
    }
#define example_vcm_kb_filter                                                                      \
    (struct vcm_kb_filter)                                                                         \
    {                                                                                              \
        .path = "a*"                                                                               \
    }
#define example_vcm_kb_clear_options                                                               \
    (struct vcm_kb_clear_options)                                                                  \
    {                                                                                              \
        .repository = fix->repo.path                                                               \
    }
#define example_vcm_top_options                                                                    \
    (struct vcm_top_options)                                                                       \
    {                                                                                              \
        .interval_ms = 1, .count = 1, .visit = take_sample                                         \
    }
#define example_vcm_trace_record_options                                                           \
    (struct vcm_trace_record_options)                                                              \
    {                                                                                              \
        .duration_ms = 1, .visit = take_access                                                     \
    }
#define example_vcm_repo_fetch_options                                                             \
    (struct vcm_repo_fetch_options)                                                                \
    {                                                                                              \
        .url = fix->nowhere                                                                        \
    }
#define example_vcm_repo_map_options                                                               \
    (struct vcm_repo_map_options)                                                                  \
    {                                                                                              \
        .path = fix->repo.path                                                                     \
    }
#define example_vcm_symbol_query                                                                   \
    (struct vcm_symbol_query)                                                                      \
    {                                                                                              \
        .path = fix->repo.path                                                                     \
    }
#define example_vcm_outline_query                                                                  \
    (struct vcm_outline_query)                                                                     \
    {                                                                                              \
        .place = {.repo = fix->repo.path}, .what = list_of_path, .what_count = 1                   \
    }
#define example_vcm_diff_query                                                                     \
    (struct vcm_diff_query)                                                                        \
    {                                                                                              \
        .repo = fix->repo.path, .range = "HEAD..HEAD"                                              \
    }
#define example_vcm_read_query                                                                     \
    (struct vcm_read_query)                                                                        \
    {                                                                                              \
        .place = {.repo = fix->repo.path}, .what = list_of_path, .what_count = 1                   \
    }
#define example_vcm_reference_query                                                                \
    (struct vcm_reference_query)                                                                   \
    {                                                                                              \
        .path = fix->repo.path, .name = "a"                                                        \
    }
#define example_vcm_source_definition                                                              \
    (struct vcm_source_definition)                                                                 \
    {                                                                                              \
        .name = "own", .open = open_source, .walk = walk_source, .read = read_source,              \
        .close = close_source                                                                      \
    }

#define example_vcm_trace_replay_file_path            fix->document
#define example_vcm_lock_extend_page                  fix->page
#define example_vcm_lock_extend_owner                 "owner"
#define example_vcm_lfs_status_repository             fix->repo.path
#define example_vcm_lfs_pull_scope                    "scope"
#define example_vcm_unpin_name                        fix->page
#define example_vcm_pin_name                          fix->page
#define example_vcm_unmap_scope                       "scope"
#define example_vcm_locks_page                        fix->page
#define example_vcm_kb_show_chunk                     fix->page
#define example_vcm_config_set_key                    "mmap.pinned"
#define example_vcm_config_set_value                  "false"
#define example_vcm_config_get_key                    "mmap.pinned"
#define example_vcm_page_view_open_name               fix->page
#define example_vcm_page_view_open_hit_page           fix->page
#define example_vcm_munmap_application_scope_scope_id "other"
#define example_vcm_error_fill_format                 "said"

#include "calls.h"

#include "base/banned.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

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
    struct vcm_error err = {0};
    char *cursor = NULL;

    test_repo_init(&fix->repo);
    test_repo_write_text(&fix->repo, "a.c", "int a;\n");
    test_repo_write_text(&fix->repo, "notes.md", "# Notes\n\nA text.\n");
    test_repo_commit(&fix->repo, "first");
    assert_int_equal(chdir(fix->repo.path), 0); /* where paths that are NULL lead to */
    test_repo_init_directory(&fix->folder);
    test_repo_write_text(&fix->folder, "a.txt", "A text.\n");
    fix->home = test_repo_path(&fix->folder, "home");
    fix->document = test_repo_path(&fix->folder, "a.txt");
    fix->nowhere = test_repo_path(&fix->folder, "nowhere");
    fix->paths[0] = fix->document;
    fix->texts[0] = "notes.md";
    vcm_cancel_request(&fix->cancel);
    const struct vcm_open_options stopped = {.home = fix->home, .cancel = &fix->cancel};
    assert_int_equal(vcm_open(&fix->vcm, &example_vcm_open_options, &err), VCM_OK);
    assert_int_equal(vcm_open(&fix->stopped, &stopped, &err), VCM_OK);
    assert_int_equal(vcm_mmap_application_scope(&result, fix->vcm, &example_vcm_mmap_options, &err),
                     VCM_OK);
    vcm_map_result_free(result);
    assert_int_equal(
        vcm_pages(&cursor, fix->vcm, &(struct vcm_pages_query){0}, keep_page_id, fix->page, &err),
        VCM_OK);
    fix->pages[0] = fix->page;
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_close(fix->stopped);
    vcm_close(fix->vcm);
    free(fix->home);
    free(fix->document);
    free(fix->nowhere);
    assert_int_equal(chdir("/"), 0);
    test_repo_release(&fix->folder);
    test_repo_release(&fix->repo);
    free(fix);
    return 0;
}

/* How many calls do not refuse, with a word that they have to say. */
static size_t not_refused(struct fixture *fix, const struct call *calls, size_t count,
                          const char *word)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        struct vcm_error err = {0};
        int rc = calls[i].make(fix, &err);
        bool refused = rc == VCM_INVALID_ARGUMENT && err.code == VCM_INVALID_ARGUMENT &&
                       err.message[0] != '\0' && strstr(err.message, word);
        if (calls[i].expected == REFUSED && !refused) {
            fprintf(stderr, "%s: %d %s\n", calls[i].label, rc, err.message);
            found++;
        }
    }
    return found;
}

static void what_is_wrong_with_an_argument_is_an_error(void **state)
{
    assert_in_range(COUNT(wrong_calls), 400, 100000);
    assert_int_equal(not_refused(*state, wrong_calls, COUNT(wrong_calls), ""), 0);
}

static void what_is_exported_works_with_right_arguments(void **state)
{
    struct fixture *fix = *state;

    for (size_t i = 0; i < COUNT(right_calls); i++) {
        struct vcm_error err = {0};
        int rc = right_calls[i].make(fix, &err);
        if (rc == VCM_INVALID_ARGUMENT && !strstr(err.message, "trace"))
            fail_msg("%s, and %s", right_calls[i].label, err.message);
    }
}

static bool can_read(const struct fixture *fix)
{
    struct vcm_page_view *view = NULL;
    struct vcm_error err = {0};
    struct vcm *vcm = NULL;

    int rc = vcm_open(&vcm, &(struct vcm_open_options){.home = fix->home}, &err);
    if (rc == VCM_OK)
        rc = vcm_page_view_open(&view, vcm, fix->page, &err);
    if (rc != VCM_OK)
        fprintf(stderr, "%s\n", err.message);
    vcm_page_view_release(view);
    vcm_close(vcm);
    return rc == VCM_OK;
}

static void the_handle_of_a_parent_is_refused_in_its_child_which_opens_its_own(void **state)
{
    struct fixture *fix = *state;
    int status = 0;

    pid_t child = fork();
    if (child == 0) {
        size_t found = 0;
        for (size_t i = 0; i < COUNT(right_calls); i++) {
            const struct call call = {REFUSED, right_calls[i].label, right_calls[i].make};
            found += not_refused(fix, &call, 1, "before a fork");
        }
        vcm_close(fix->vcm);
        found += !can_read(fix);
        _exit(found == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);

    struct vcm_error err = {0};
    struct vcm_stat stat;
    assert_int_equal(vcm_stat(&stat, fix->vcm, &err), VCM_OK);
    assert_int_equal(stat.scopes, 1);
}

static void what_takes_no_handle_takes_any_number(void **state)
{
    (void)state;
    assert_string_equal(vcm_status_name((enum vcm_status)77), "unknown");
    assert_non_null(vcm_error_code_name((enum vcm_code)77));
    assert_false(vcm_error_retryable((enum vcm_code)77));
    assert_null(vcm_home(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_wrong_with_an_argument_is_an_error, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_exported_works_with_right_arguments, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            the_handle_of_a_parent_is_refused_in_its_child_which_opens_its_own, set_up, tear_down),
        cmocka_unit_test(what_takes_no_handle_takes_any_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
