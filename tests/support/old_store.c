#include "tests/support/old_store.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "vcm/store/table.h"

#include "base/banned.h"

static const char *const old_tables[] = {"meta",  "scopes", "mappings",  "rows", "holders",
                                         "pages", "frames", "omissions", NULL};

static int put(struct vcm_kv_txn *txn, unsigned table, struct vcm_slice key, struct vcm_buf *value,
               struct vcm_error *err)
{
    int rc = vcm_buf_check(value, "a value", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, table, key, vcm_buf_slice(value), err);
    vcm_buf_clear(value);
    return rc;
}

/* Page, frame, holder and row of one page in a mapping. */
static int write_page(struct vcm_kv_txn *txn, struct vcm_scope *scope, uint64_t mapping,
                      uint32_t seq, const char *content, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(VCM_MIB), frame = VCM_BUF_INIT(VCM_MIB);
    struct vcm_page_record record = {.path = vcm_slice_of_string("file"),
                                     .content_id = vcm_slice_of("\1\2\3", 3),
                                     .part = 1,
                                     .parts = 1};
    unsigned char row_key[VCM_ROW_KEY_BYTES], holder_key[VCM_HOLDER_KEY_BYTES];
    struct vcm_page_id id;

    vcm_page_serialise(&frame, vcm_slice_of_string("file"), vcm_slice_of_string(content));
    record.bytes = (uint32_t)frame.len;
    record.tokens = (uint32_t)(frame.len + 3) / 4;
    vcm_buf_append_byte(&frame, '\n');
    vcm_page_id_of(&id, vcm_buf_slice(&frame));
    vcm_wire_put_u8(&value, 0);
    vcm_wire_put_u64(&value, frame.len);
    vcm_wire_put_u32(&value, record.tokens);
    vcm_wire_put_u32(&value, 1);
    int rc = put(txn, VCM_TABLE_PAGES, vcm_table_id_key(&id), &value, err);
    scope->pages++;
    scope->records++;
    scope->tokens += record.tokens;
    scope->bytes += frame.len;
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_FRAMES, vcm_table_id_key(&id), &frame, err);
    vcm_wire_put_u32(&value, 1);
    vcm_wire_put_u32(&value, seq);
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_HOLDERS, vcm_table_holder_key(holder_key, &id, mapping), &value,
                 err);
    vcm_buf_append(&value, id.bytes, sizeof id.bytes);
    vcm_page_put_records(&value, &record, 1);
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_ROWS, vcm_table_row_key(row_key, mapping, seq), &value, err);
    vcm_buf_release(&frame);
    vcm_buf_release(&value);
    return rc;
}

static int write_scope(struct vcm_kv_txn *txn, const char *scope_id, uint64_t mapping, bool pinned,
                       const char *const *contents, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(VCM_MIB);
    struct vcm_scope scope = {
        .scope_id = vcm_slice_of_string(scope_id), .mapping = mapping, .pinned = pinned};
    unsigned char key[8];
    int rc = VCM_OK;

    for (uint32_t i = 0; rc == VCM_OK && contents[i]; i++)
        rc = write_page(txn, &scope, mapping, i, contents[i], err);
    vcm_scope_put(&value, &scope);
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_SCOPES, vcm_slice_of_string(scope_id), &value, err);
    vcm_wire_store_be64(key, mapping);
    vcm_wire_put_u8(&value, VCM_MAPPING_IN_FORCE);
    vcm_wire_put_bytes(&value, vcm_slice_of_string(scope_id));
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_MAPPINGS, vcm_slice_of(key, sizeof key), &value, err);
    vcm_buf_release(&value);
    return rc;
}

/* Two scopes that share a page, one of them pinned; short frames and a long one. */
static int write_store(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(VCM_MIB);
    char large[OLD_STORE_LARGE_BYTES + 1];

    (void)context;
    old_store_large(large);
    int rc = write_scope(txn, "a", 1, false, (const char *const[]){"one", "two", large, NULL}, err);
    if (rc == VCM_OK)
        rc = write_scope(txn, "b", 2, true, (const char *const[]){"two", "three", NULL}, err);
    vcm_wire_put_u32(&value, 1);
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_META, vcm_slice_of_string(VCM_META_FORMAT), &value, err);
    vcm_buf_append_string(&value, "approx4");
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_META, vcm_slice_of_string(VCM_META_TOKENIZER), &value, err);
    vcm_wire_put_u64(&value, 3);
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_META, vcm_slice_of_string(VCM_META_NEXT_MAPPING), &value, err);
    for (unsigned i = 0; i < 3; i++)
        vcm_wire_put_u64(&value, i);
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_META, vcm_slice_of_string(VCM_META_TOTALS), &value, err);
    vcm_buf_release(&value);
    return rc;
}

static int write_format(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(16);

    vcm_wire_put_u32(&value, *(const uint32_t *)context);
    int rc = put(txn, VCM_TABLE_META, vcm_slice_of_string(VCM_META_FORMAT), &value, err);
    vcm_buf_release(&value);
    return rc;
}

void old_store_large(char out[OLD_STORE_LARGE_BYTES + 1])
{
    memset(out, 'x', OLD_STORE_LARGE_BYTES);
    out[OLD_STORE_LARGE_BYTES] = '\0';
}

static int change(const char *directory, vcm_kv_change_fn fn, void *context, struct vcm_error *err)
{
    char lock[512];
    struct vcm_kv *kv;

    snprintf(lock, sizeof lock, "%s/writer.lock", directory);
    int rc = vcm_kv_handle_open(
        &kv,
        &(struct vcm_kv_options){.directory = directory, .lock_path = lock, .tables = old_tables},
        err);
    if (rc == VCM_OK)
        rc = vcm_kv_handle_update(kv, fn, context, 1000, NULL, err);
    vcm_kv_handle_close(kv);
    return rc;
}

int old_store_write(const char *directory, struct vcm_error *err)
{
    return change(directory, write_store, NULL, err);
}

int old_store_set_format(const char *directory, uint32_t format, struct vcm_error *err)
{
    return change(directory, write_format, &format, err);
}
