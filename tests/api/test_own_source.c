#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/vcm.h"
#include "tests/support/repo.h"

#include "base/banned.h"

/* A source of three texts, one of which is not there, and one that is no UTF-8. */
static const char *const paths[] = {"a.wiki", "b.wiki", "gone.wiki"};
static const char *const texts[] = {"= A =\n", "bad \xff byte\n", NULL};

static int opened, closed;

static int open_wiki(void **source, void *context, const struct vcm_source_row *row,
                     struct vcm_error *err)
{
    if (strcmp(row->start_dir, "docs") != 0)
        return vcm_error_fill(err, VCM_INVALID_ARGUMENT, "a wiki is in docs");
    *source = context;
    opened++;
    return VCM_OK;
}

static int walk_wiki(void *source, vcm_source_entry_fn visit, void *context, struct vcm_error *err)
{
    int rc = VCM_OK;

    (void)source;
    for (size_t i = 0; rc == VCM_OK && i < 3; i++)
        rc = visit(
            context,
            &(struct vcm_source_entry){paths[i], strlen(paths[i]), paths[i], strlen(paths[i])},
            err);
    return rc;
}

static int read_wiki(void *source, const struct vcm_source_entry *entry, vcm_source_text_fn write,
                     void *context, struct vcm_error *err)
{
    assert_string_equal((const char *)source, "the context");
    for (size_t i = 0; i < 3; i++)
        if (entry->path_len == strlen(paths[i]) &&
            memcmp(entry->path, paths[i], entry->path_len) == 0)
            return texts[i] ? write(context, texts[i], strlen(texts[i]), err) : VCM_NOT_FOUND;
    return VCM_NOT_FOUND;
}

static void close_wiki(void *source)
{
    (void)source;
    closed++;
}

static char context[] = "the context";
static const struct vcm_source_definition wiki = {
    .name = "wiki",
    .context = context,
    .open = open_wiki,
    .walk = walk_wiki,
    .read = read_wiki,
    .close = close_wiki,
};

static int keep_page_id(void *out, const struct vcm_page_entry *page, struct vcm_error *err)
{
    (void)err;
    snprintf(out, 41, "%s", page->page_id);
    return VCM_OK;
}

static void a_source_of_ones_own_is_mapped_evicted_and_read(void **state)
{
    struct vcm_map_result *result = NULL;
    struct vcm_evict_result evicted;
    struct vcm_error err = {0};
    struct vcm_page *page = NULL;
    struct test_repo repo;
    struct vcm *vcm = NULL;
    char id[41] = "", *cursor = NULL;

    (void)state;
    test_repo_init(&repo);
    test_repo_write_text(&repo, "docs/x", "x\n");
    test_repo_commit(&repo, "first");
    char *home = test_repo_path(&repo, ".git/home");
    assert_int_equal(vcm_open(&vcm, &(struct vcm_open_options){.home = home}, &err), VCM_OK);
    assert_int_equal(vcm_register_source(vcm, &wiki, &err), VCM_OK);
    assert_int_equal(vcm_register_source(vcm, &wiki, &err), VCM_INVALID_ARGUMENT);
    vcm_error_reset(&err);

    struct vcm_mmap_options options = {.scope_id = "s",
                                       .origin_url = repo.path,
                                       .source_type = "wiki",
                                       .start_dir = "docs",
                                       .chunk_overlap_tokens = -1};
    if (vcm_mmap_application_scope(&result, vcm, &options, &err) != VCM_OK)
        fail_msg("%s", err.message);
    assert_int_equal(result->sources[0].status, VCM_STATUS_MAPPED);
    assert_int_equal(result->sources[0].coverage.paged, 2);
    assert_int_equal(result->sources[0].coverage.failed, 1);
    vcm_map_result_free(result);

    options.start_dir = NULL;
    assert_int_equal(vcm_mmap_application_scope(&result, vcm, &options, &err), VCM_OK);
    assert_int_equal(result->sources[0].status, VCM_STATUS_ERROR);
    assert_non_null(strstr(result->sources[0].message, "a wiki is in docs"));
    vcm_map_result_free(result);

    assert_int_equal(
        vcm_pages(&cursor, vcm, &(struct vcm_pages_query){.scope = "s"}, keep_page_id, id, &err),
        VCM_OK);
    const struct vcm_evict_query all = {.all = true};
    assert_int_equal(vcm_evict(&evicted, vcm, &all, NULL, NULL, &err), VCM_OK);
    const struct vcm_page_query query = {.page = id, .seq = -1};
    assert_int_equal(vcm_page_open(&page, vcm, &query, &err), VCM_OK);
    assert_int_equal(page->record_count, 2);
    assert_string_equal(page->records[0].text, "= A =\n");
    assert_string_equal(page->records[1].text, "bad \xef\xbf\xbd byte\n");
    assert_true(page->records[1].lossy);
    vcm_page_release(page);
    vcm_close(vcm);
    assert_int_equal(opened, closed);
    free(home);
    test_repo_release(&repo);
}

static void a_definition_that_is_not_whole_is_refused(void **state)
{
    struct vcm_error err = {0};
    struct vcm *vcm = NULL;

    (void)state;
    assert_int_equal(vcm_register_source(NULL, &wiki, NULL), VCM_INVALID_ARGUMENT);
    assert_int_equal(vcm_open(&vcm, &(struct vcm_open_options){.home = "/nowhere"}, &err), VCM_OK);
    assert_int_equal(vcm_register_source(vcm, NULL, NULL), VCM_INVALID_ARGUMENT);
    assert_int_equal(
        vcm_register_source(vcm, &(struct vcm_source_definition){.name = "wiki"}, NULL),
        VCM_INVALID_ARGUMENT);
    vcm_close(vcm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_of_ones_own_is_mapped_evicted_and_read),
        cmocka_unit_test(a_definition_that_is_not_whole_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
