#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/vcm.h"
#include "tests/api/handle_fixture.h"

#include "base/banned.h"

struct fixture {
    struct handle_fixture of;
    char found[1024];
    char page[41]; /* that holds src/f3.c in scope "one" */
    char record[41];
};

static void map(struct fixture *fix, const char *scope, uint32_t records)
{
    const struct vcm_mmap_config config = {.flush_threshold = records};
    const struct vcm_mmap_options options = {.scope_id = scope,
                                             .origin_url = fix->of.repo.path,
                                             .config = &config,
                                             .chunk_overlap_tokens = -1};
    struct vcm_map_result *result = NULL;

    if (vcm_mmap_application_scope(&result, fix->of.vcm, &options, &fix->of.err) != VCM_OK)
        fail_msg("%s", fix->of.err.message);
    vcm_map_result_free(result);
}

static int keep_page(void *context, const struct vcm_find_entry *entry, struct vcm_error *err)
{
    (void)err;
    snprintf(context, 41, "%s", entry->page_id);
    return VCM_OK;
}

/* Two scopes with the same files: one file a page in the first, all in one page in the second. */
static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);
    struct vcm_page *page = NULL;

    test_repo_init(&fix->of.repo);
    for (int i = 0; i < 6; i++) {
        char name[32], text[64];
        snprintf(name, sizeof name, "src/f%d.c", i);
        snprintf(text, sizeof text, "int f%d;\n", i);
        test_repo_write_text(&fix->of.repo, name, text);
    }
    handle_fixture_open(&fix->of);
    map(fix, "one", 1);
    map(fix, "two", 100);
    const struct vcm_find_query where = {.path = "src/f3.c", .scope = "one"};
    assert_int_equal(vcm_find(fix->of.vcm, &where, keep_page, fix->page, &fix->of.err), VCM_OK);
    assert_int_equal(vcm_page_open(&page, fix->of.vcm,
                                   &(struct vcm_page_query){.page = fix->page, .seq = -1},
                                   &fix->of.err),
                     VCM_OK);
    snprintf(fix->record, sizeof fix->record, "%s", page->records[0].record_id);
    vcm_page_release(page);
    *state = fix;
    return 0;
}

static int note(void *context, const struct vcm_find_entry *entry, struct vcm_error *err)
{
    struct fixture *fix = context;
    size_t len = strlen(fix->found);

    (void)err;
    snprintf(fix->found + len, sizeof fix->found - len, "%s/%u#%u %s %u-%u;", entry->scope_id,
             (unsigned)entry->seq, (unsigned)entry->record, entry->path,
             (unsigned)entry->start_line, (unsigned)entry->end_line);
    return VCM_OK;
}

static int find(struct fixture *fix, const char *record, const char *scope, const char *path)
{
    const struct vcm_record_query query = {record, scope, path};

    fix->found[0] = '\0';
    vcm_error_reset(&fix->of.err);
    return vcm_find_record(fix->of.vcm, &query, note, fix, &fix->of.err);
}

static void every_page_that_holds_a_record_is_found(void **state)
{
    struct fixture *fix = *state;

    assert_int_equal(find(fix, fix->record, NULL, NULL), VCM_OK);
    assert_string_equal(fix->found, "one/3#0 src/f3.c 1-1;two/0#3 src/f3.c 1-1;");
    assert_int_equal(find(fix, fix->record, NULL, "src/f3.c"), VCM_OK);
    assert_string_equal(fix->found, "one/3#0 src/f3.c 1-1;two/0#3 src/f3.c 1-1;");
    assert_int_equal(find(fix, fix->record, "two", NULL), VCM_OK);
    assert_string_equal(fix->found, "two/0#3 src/f3.c 1-1;");
}

static void looking_neither_counts_nor_moves_pages(void **state)
{
    struct fixture *fix = *state;
    struct vcm_evict_result evicted;
    struct vcm_stat before, after;

    const struct vcm_evict_query all = {.all = true, .target = "evicted"};
    assert_int_equal(vcm_evict(&evicted, fix->of.vcm, &all, NULL, NULL, &fix->of.err), VCM_OK);
    assert_int_equal(vcm_stat(&before, fix->of.vcm, &fix->of.err), VCM_OK);
    assert_int_equal(find(fix, fix->record, NULL, NULL), VCM_OK);
    assert_string_equal(fix->found, "one/3#0 src/f3.c 1-1;two/0#3 src/f3.c 1-1;");
    assert_int_equal(vcm_stat(&after, fix->of.vcm, &fix->of.err), VCM_OK);
    assert_int_equal(after.pages_evicted, 7);
    assert_int_equal(after.major_faults, before.major_faults);
    assert_int_equal(after.hits, before.hits);
}

static void what_is_no_record_or_nowhere_is_told(void **state)
{
    struct fixture *fix = *state;
    const char *nowhere = "0123456789012345678901234567890123456789";

    assert_int_equal(find(fix, nowhere, NULL, NULL), VCM_NOT_FOUND);
    assert_non_null(strstr(fix->of.err.message, nowhere));
    assert_int_equal(find(fix, fix->record, NULL, "src/f2.c"), VCM_NOT_FOUND);
    assert_int_equal(find(fix, fix->record, "nothing", NULL), VCM_NOT_FOUND);
    assert_int_equal(find(fix, "012345", NULL, NULL), VCM_INVALID_ARGUMENT);
    assert_int_equal(find(fix, NULL, NULL, NULL), VCM_INVALID_ARGUMENT);
    assert_int_equal(find(fix, "not a number, but of forty characters ..", NULL, NULL),
                     VCM_INVALID_ARGUMENT);
}

static void a_search_is_cancelled(void **state)
{
    struct fixture *fix = *state;
    const struct vcm_record_query query = {.record = fix->record};
    struct vcm_cancel cancel = {0};
    struct vcm *other = NULL;

    vcm_cancel_request(&cancel);
    const struct vcm_open_options options = {.home = fix->of.home, .cancel = &cancel};
    assert_int_equal(vcm_open(&other, &options, &fix->of.err), VCM_OK);
    assert_int_equal(vcm_find_record(other, &query, note, fix, &fix->of.err), VCM_INTERRUPTED);
    assert_string_equal(fix->found, "");
    vcm_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_page_that_holds_a_record_is_found, set_up,
                                        handle_fixture_tear_down),
        cmocka_unit_test_setup_teardown(looking_neither_counts_nor_moves_pages, set_up,
                                        handle_fixture_tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_record_or_nowhere_is_told, set_up,
                                        handle_fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_search_is_cancelled, set_up, handle_fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
