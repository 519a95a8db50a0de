#include "tests/support/store_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "vcm/check/check.h"
#include "vcm/store/table.h"

#include "base/banned.h"

struct check {
    struct vcm_page_store *store;
    struct vcm_kv_txn *txn;
    struct vcm_error err;
};

static void succeed(struct check *check, int rc)
{
    if (rc != VCM_OK)
        fail_msg("the store cannot be read: %s %s", vcm_error_code_name((enum vcm_code)rc),
                 check->err.message);
}

static void open_check(struct check *check, const char *directory)
{
    memset(check, 0, sizeof *check);
    succeed(check, vcm_page_store_open(
                       &check->store,
                       &(struct vcm_page_store_options){.directory = directory, .read_only = true},
                       &check->err));
    succeed(check, vcm_page_store_read_begin(&check->txn, check->store, &check->err));
}

static void close_check(struct check *check)
{
    vcm_kv_handle_read_end(check->txn);
    vcm_page_store_close(check->store);
}

typedef void (*entry_fn)(void *context, struct vcm_slice key, struct vcm_slice value);

static void each_entry(struct check *check, enum vcm_table table, entry_fn visit, void *context)
{
    struct vcm_kv_cursor *cursor;
    struct vcm_slice key, value;

    succeed(check, vcm_kv_cursor_open(&cursor, check->txn, table, &check->err));
    int rc = vcm_kv_cursor_seek(&key, &value, cursor, vcm_slice_of("", 0), &check->err);
    while (rc == VCM_OK) {
        visit(context, key, value);
        rc = vcm_kv_cursor_next(&key, &value, cursor, &check->err);
    }
    vcm_kv_cursor_close(cursor);
    if (rc != VCM_NOT_FOUND)
        succeed(check, rc);
}

static int fail_with(void *context, const struct vcm_check_finding *finding, struct vcm_error *err)
{
    (void)context;
    (void)err;
    fail_msg("the store is not in order: %s (%s)", finding->what, finding->where);
    return VCM_INTERNAL;
}

void store_check(const char *directory, bool finished)
{
    struct vcm_page_store *store = NULL;
    struct vcm_error err = {0};
    uint64_t pages;

    int rc = vcm_page_store_open(
        &store, &(struct vcm_page_store_options){.directory = directory, .read_only = true}, &err);
    if (rc == VCM_OK)
        rc = vcm_check_store(&pages, store,
                             &(struct vcm_check_options){.finished = finished, .found = fail_with},
                             &err);
    vcm_page_store_close(store);
    if (rc != VCM_OK)
        fail_msg("the store cannot be checked: %s %s", vcm_error_code_name((enum vcm_code)rc),
                 err.message);
}

static void count_unfinished(void *context, struct vcm_slice key, struct vcm_slice value)
{
    (void)key;
    *(uint64_t *)context += value.data[0] != VCM_MAPPING_IN_FORCE;
}

void store_check_counts(struct store_counts *counts, const char *directory)
{
    struct check check;

    memset(counts, 0, sizeof *counts);
    open_check(&check, directory);
    const struct {
        enum vcm_table table;
        uint64_t *count;
    } tables[] = {
        {VCM_TABLE_SCOPES, &counts->scopes},       {VCM_TABLE_MAPPINGS, &counts->mappings},
        {VCM_TABLE_ROWS, &counts->rows},           {VCM_TABLE_HOLDERS, &counts->holders},
        {VCM_TABLE_PAGES, &counts->pages},         {VCM_TABLE_FRAMES, &counts->frames},
        {VCM_TABLE_OMISSIONS, &counts->omissions},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        succeed(&check, vcm_kv_count(tables[i].count, check.txn, tables[i].table, &check.err));
    each_entry(&check, VCM_TABLE_MAPPINGS, count_unfinished, &counts->unfinished);
    succeed(&check, vcm_page_store_totals(&counts->totals, check.txn, &check.err));
    close_check(&check);
}

struct digest {
    struct check *check;
    struct vcm_hash_sha256 hash;
};

static void add(struct digest *digest, struct vcm_slice bytes)
{
    char len[24];

    snprintf(len, sizeof len, "%zu:", bytes.len);
    vcm_hash_sha256_update(&digest->hash, len, strlen(len));
    vcm_hash_sha256_update(&digest->hash, bytes.data, bytes.len);
}

/* What is mapped, whatever the state of its pages. */
static int digest_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct digest *digest = context;

    (void)err;
    add(digest, vcm_slice_of(row->id.bytes, sizeof row->id.bytes));
    add(digest, row->records);
    return VCM_OK;
}

static int digest_omission(void *context, const struct vcm_page_omission *omission,
                           struct vcm_error *err)
{
    struct digest *digest = context;

    (void)err;
    add(digest, omission->raw_path);
    add(digest, omission->content_id);
    add(digest, omission->reason);
    add(digest, vcm_slice_of_string(vcm_outcome_name(omission->outcome)));
    return VCM_OK;
}

static int digest_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct digest *digest = context;
    struct vcm_scope shown = *scope;
    struct vcm_buf value = VCM_BUF_INIT((size_t)1 << 20);

    shown.mapping = shown.mapped_at = 0;
    vcm_scope_put(&value, &shown);
    add(digest, vcm_buf_slice(&value));
    vcm_buf_release(&value);
    int rc =
        vcm_page_table_each_row(digest->check->txn, scope->mapping, 0, digest_row, digest, err);
    if (rc == VCM_OK)
        rc = vcm_page_table_each_omission(digest->check->txn, scope->mapping, digest_omission,
                                          digest, err);
    return rc;
}

void store_check_digest(char hex[2 * VCM_HASH_SHA256_BYTES + 1], const char *directory)
{
    struct check check;
    struct digest digest = {.check = &check};
    unsigned char bytes[VCM_HASH_SHA256_BYTES];

    open_check(&check, directory);
    vcm_hash_sha256_init(&digest.hash);
    succeed(&check, vcm_page_store_each_scope(check.txn, vcm_slice_of("", 0), digest_scope, &digest,
                                              &check.err));
    vcm_hash_sha256_final(&digest.hash, bytes);
    vcm_hash_to_hex(hex, bytes, sizeof bytes);
    close_check(&check);
}
