/*
 * store_fixture.h - what the tests of the store share: a store in a temporary directory, and short
 * ways to map a handful of pages. The store is checked when a test ends.
 */
#ifndef VCM_TESTS_VCM_STORE_FIXTURE_H
#define VCM_TESTS_VCM_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "tests/support/repo.h"
#include "tests/support/store_check.h"
#include "vcm/mapping/mapping.h"

struct fixture {
    struct test_repo disk; /* only its directory is used */
    struct vcm_page_store_options options;
    struct vcm_page_store *store;
    struct vcm_error err;
    bool unfinished; /* the test leaves mappings behind on purpose */
};

static inline void open_store(struct fixture *fix)
{
    if (vcm_page_store_open(&fix->store, &fix->options, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
}

static inline void close_store(struct fixture *fix)
{
    vcm_page_store_close(fix->store);
    fix->store = NULL;
}

static inline int fixture_setup(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    test_repo_init_directory(&fix->disk);
    fix->options.directory = fix->disk.path;
    open_store(fix);
    *state = fix;
    return 0;
}

static inline int fixture_teardown(void **state)
{
    struct fixture *fix = *state;

    close_store(fix);
    store_check(fix->disk.path, !fix->unfinished);
    test_repo_release(&fix->disk);
    free(fix);
    return 0;
}

static inline struct vcm_slice text(const char *string)
{
    return vcm_slice_of_string(string);
}

static inline void assert_ok(const struct fixture *fix, int rc)
{
    if (rc != VCM_OK)
        fail_msg("%s: %s", vcm_error_code_name((enum vcm_code)rc), fix->err.message);
}

static inline struct vcm_mapping *begin_pinned(struct fixture *fix, const char *scope_id,
                                               bool pinned)
{
    struct vcm_mapping *mapping;

    assert_ok(fix, vcm_mapping_begin(&mapping, fix->store,
                                     &(struct vcm_mapping_options){.scope_id = text(scope_id),
                                                                   .tokenizer = "approx4",
                                                                   .pinned = pinned},
                                     &fix->err));
    return mapping;
}

static inline struct vcm_mapping *begin(struct fixture *fix, const char *scope_id)
{
    return begin_pinned(fix, scope_id, false);
}

/* A page of one record, and the id that it gets. */
static inline struct vcm_page_id id_of(const char *content)
{
    struct vcm_buf frame = VCM_BUF_INIT(4 * VCM_MIB);
    struct vcm_page_id id;

    vcm_page_serialise(&frame, text("file"), text(content));
    vcm_buf_append_byte(&frame, '\n');
    vcm_page_id_of(&id, vcm_buf_slice(&frame));
    vcm_buf_release(&frame);
    return id;
}

/* Adds it, and what it holds to the scope's counts. */
static inline int add_page(struct vcm_mapping *mapping, struct vcm_scope *scope,
                           const char *content, struct vcm_error *err)
{
    struct vcm_buf frame = VCM_BUF_INIT(4 * VCM_MIB);
    struct vcm_page_record record = {
        .path = text("file"), .content_id = vcm_slice_of("\1\2\3", 3), .part = 1, .parts = 1};
    struct vcm_page_built page = {.records = &record, .record_count = 1};

    vcm_page_serialise(&frame, text("file"), text(content));
    record.bytes = (uint32_t)frame.len;
    record.tokens = page.tokens = (uint32_t)(frame.len + 3) / 4;
    vcm_buf_append_byte(&frame, '\n');
    page.frame = vcm_buf_slice(&frame);
    vcm_page_id_of(&page.id, page.frame);
    int rc = vcm_mapping_add_page(mapping, &page, err);
    scope->pages++;
    scope->records++;
    scope->tokens += page.tokens;
    scope->bytes += page.frame.len;
    vcm_buf_release(&frame);
    return rc;
}

static inline int add_omission(struct vcm_mapping *mapping, struct vcm_scope *scope,
                               const char *path, enum vcm_source_outcome outcome,
                               const char *reason, struct vcm_error *err)
{
    const struct vcm_page_omission omission = {.path = text(path),
                                               .raw_path = text(path),
                                               .content_id = vcm_slice_of("\1\2\3", 3),
                                               .outcome = outcome,
                                               .reason = text(reason)};

    scope->coverage.tracked++;
    scope->coverage.by_outcome[outcome]++;
    return vcm_mapping_add_omission(mapping, &omission, err);
}

/* Maps a scope of one page for each string, up to NULL. */
static inline struct vcm_mapping_result map_pages(struct fixture *fix, const char *scope_id,
                                                  const char *const *contents)
{
    struct vcm_scope scope = {.scope_id = text(scope_id)};
    struct vcm_mapping_result result;
    struct vcm_mapping *mapping = begin(fix, scope_id);

    for (; *contents; contents++)
        assert_ok(fix, add_page(mapping, &scope, *contents, &fix->err));
    assert_ok(fix, vcm_mapping_commit(mapping, &scope, &result, &fix->err));
    return result;
}

#define PAGES(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline struct vcm_kv_txn *read_begin(struct fixture *fix)
{
    struct vcm_kv_txn *txn;

    assert_ok(fix, vcm_page_store_read_begin(&txn, fix->store, &fix->err));
    return txn;
}

static inline int append_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    char hex[VCM_PAGE_ID_HEX + 1];

    (void)err;
    vcm_page_id_to_hex(hex, &row->id);
    vcm_buf_append_format(context, "%u:%.12s ", row->seq, hex);
    return VCM_OK;
}

/* Whether the scope's table, as a reader sees it, is just these pages. */
static inline void assert_pages(struct fixture *fix, struct vcm_kv_txn *txn, const char *scope_id,
                                const char *const *contents)
{
    struct vcm_buf seen = VCM_BUF_INIT(VCM_MIB), expected = VCM_BUF_INIT(VCM_MIB);
    struct vcm_scope scope;

    assert_ok(fix, vcm_page_store_scope(&scope, txn, text(scope_id), &fix->err));
    assert_ok(fix, vcm_page_table_each_row(txn, scope.mapping, 0, append_row, &seen, &fix->err));
    for (uint32_t i = 0; contents[i]; i++) {
        struct vcm_page_row row = {.seq = i, .id = id_of(contents[i])};
        append_row(&expected, &row, NULL);
    }
    assert_string_equal(vcm_buf_text(&seen), vcm_buf_text(&expected));
    vcm_scope_release(&scope);
    vcm_buf_release(&seen);
    vcm_buf_release(&expected);
}

static inline struct store_counts counts_of(const struct fixture *fix)
{
    struct store_counts counts;

    store_check_counts(&counts, fix->disk.path);
    return counts;
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
