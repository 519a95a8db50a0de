/* Converts a store of format 1, in which every page was resident, to format 2. */
#include <stdlib.h>

#include "base/limits.h"
#include "vcm/store/page_store.h"
#include "vcm/store/table.h"

#include "base/banned.h"

/* The keys of a table, gathered before its values are rewritten. */
struct keys {
    struct vcm_buf bytes;
    size_t key_len;
};

static int take_key(void *context, struct vcm_slice key, struct vcm_slice value,
                    struct vcm_error *err)
{
    struct keys *keys = context;

    (void)value;
    if (key.len != keys->key_len)
        return vcm_table_malformed("a key", err);
    vcm_buf_append_slice(&keys->bytes, key);
    return vcm_buf_check(&keys->bytes, "the keys of a table", err);
}

typedef int (*convert_fn)(void *context, struct vcm_kv_txn *txn, struct vcm_slice key,
                          struct vcm_error *err);

static int convert_each(struct vcm_kv_txn *txn, enum vcm_table table, size_t key_len,
                        convert_fn convert, void *context, struct vcm_error *err)
{
    struct vcm_slice all = vcm_slice_of("", 0);
    struct keys keys = {.key_len = key_len};

    vcm_buf_init(&keys.bytes, 4 * VCM_GIB);
    int rc = vcm_table_each(txn, table, all, all, take_key, &keys, err);
    for (size_t at = 0; rc == VCM_OK && at < keys.bytes.len; at += key_len)
        rc = convert(context, txn, vcm_slice_of(keys.bytes.data + at, key_len), err);
    vcm_buf_release(&keys.bytes);
    return rc;
}

static int convert_page(void *context, struct vcm_kv_txn *txn, struct vcm_slice key,
                        struct vcm_error *err)
{
    struct vcm_page_totals *totals = context;
    struct vcm_page_info info = {.state = VCM_PAGE_RESIDENT};
    struct vcm_slice value, frame;
    struct vcm_wire_reader r;

    int rc = vcm_kv_get(&value, txn, VCM_TABLE_PAGES, key, err);
    if (rc != VCM_OK)
        return rc;
    vcm_wire_reader_init(&r, value);
    uint8_t state = vcm_wire_get_u8(&r);
    info.bytes = vcm_wire_get_u64(&r);
    info.tokens = vcm_wire_get_u32(&r);
    info.records = vcm_wire_get_u32(&r);
    if (!vcm_wire_reader_done(&r) || state != VCM_PAGE_RESIDENT)
        return vcm_table_malformed("a page descriptor", err);
    memcpy(info.id.bytes, key.data, sizeof info.id.bytes);
    totals->pages++;
    totals->resident++;
    totals->resident_bytes += info.bytes;
    totals->tokens += info.tokens;
    rc = vcm_page_store_frame(&frame, txn, &info.id, err);
    if (rc == VCM_OK && frame.len < VCM_FRAME_VALUE_MIN) {
        char copy[VCM_FRAME_VALUE_MIN];
        memcpy(copy, frame.data, frame.len);
        rc = vcm_table_put_frame(txn, &info.id, vcm_slice_of(copy, frame.len), err);
    }
    return rc == VCM_OK ? vcm_page_store_put_page(txn, &info, err) : rc;
}

/* A mapping is pinned if it is in force and its scope is pinned: format 1 had no other pins. */
static int convert_mapping(void *context, struct vcm_kv_txn *txn, struct vcm_slice key,
                           struct vcm_error *err)
{
    char scope_id[VCM_LIMIT_SCOPE_ID_BYTES];
    struct vcm_mapping_info info = {0};
    struct vcm_slice value;
    struct vcm_scope scope;
    struct vcm_wire_reader r;
    uint64_t number = vcm_wire_load_be64((const unsigned char *)key.data);

    (void)context;
    int rc = vcm_kv_get(&value, txn, VCM_TABLE_MAPPINGS, key, err);
    if (rc != VCM_OK)
        return rc;
    vcm_wire_reader_init(&r, value);
    info.state = vcm_wire_get_u8(&r);
    info.scope_id = vcm_wire_get_bytes(&r);
    if (!vcm_wire_reader_done(&r) || info.state > VCM_MAPPING_DROPPING ||
        info.scope_id.len > sizeof scope_id)
        return vcm_table_malformed("a mapping", err);
    memcpy(scope_id, info.scope_id.data, info.scope_id.len);
    info.scope_id.data = scope_id;
    rc = vcm_page_store_scope(&scope, txn, info.scope_id, err);
    info.pinned = rc == VCM_OK && scope.pinned && scope.mapping == number;
    vcm_scope_release(&scope);
    if (rc == VCM_OK || rc == VCM_NOT_FOUND)
        rc = vcm_page_table_put_mapping(txn, number, &info, err);
    return rc;
}

/* A holder of a pinned mapping pins the page. */
static int convert_holder(void *context, struct vcm_kv_txn *txn, struct vcm_slice key,
                          struct vcm_error *err)
{
    struct vcm_page_totals *totals = context;
    struct vcm_mapping_info mapping;
    struct vcm_page_info info;
    struct vcm_page_id id;

    memcpy(id.bytes, key.data, sizeof id.bytes);
    uint64_t number = vcm_wire_load_be64((const unsigned char *)key.data + sizeof id.bytes);
    int rc = vcm_page_table_get_mapping(&mapping, txn, number, err);
    if (rc == VCM_NOT_FOUND)
        return vcm_table_malformed("a holder of a page", err);
    if (rc != VCM_OK || !mapping.pinned)
        return rc;
    rc = vcm_page_store_page(&info, txn, &id, err);
    if (rc != VCM_OK)
        return rc == VCM_NOT_FOUND ? vcm_table_malformed("a holder of a page", err) : rc;
    if (info.pins++ == 0) {
        totals->pinned++;
        totals->pinned_bytes += info.bytes;
    }
    return vcm_page_store_put_page(txn, &info, err);
}

static int convert_row(void *context, struct vcm_kv_txn *txn, struct vcm_slice key,
                       struct vcm_error *err)
{
    const unsigned char *bytes = (const unsigned char *)key.data;
    struct vcm_page_row row;

    (void)context;
    uint64_t mapping = vcm_wire_load_be64(bytes);
    uint32_t seq = vcm_wire_load_be32(bytes + 8);
    int rc = vcm_page_table_row(&row, txn, mapping, seq, err);
    return rc == VCM_OK ? vcm_page_table_put_paths(txn, mapping, seq, row.records, err) : rc;
}

int vcm_page_migrate_from_1(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_page_totals totals = {0};

    int rc = convert_each(txn, VCM_TABLE_PAGES, VCM_PAGE_ID_BYTES, convert_page, &totals, err);
    if (rc == VCM_OK)
        rc = convert_each(txn, VCM_TABLE_MAPPINGS, 8, convert_mapping, NULL, err);
    if (rc == VCM_OK)
        rc = convert_each(txn, VCM_TABLE_HOLDERS, VCM_HOLDER_KEY_BYTES, convert_holder, &totals,
                          err);
    if (rc == VCM_OK)
        rc = convert_each(txn, VCM_TABLE_ROWS, VCM_ROW_KEY_BYTES, convert_row, NULL, err);
    return rc == VCM_OK ? vcm_page_store_put_totals(txn, &totals, err) : rc;
}
