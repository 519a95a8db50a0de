#include "vcm/store/table.h"

#include <assert.h>

#include "base/banned.h"

int vcm_table_malformed(const char *what, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_STORE_CORRUPT, "%s in the store is malformed", what);
}

int vcm_table_take_number(uint64_t *number, struct vcm_kv_txn *txn, const char *meta_key,
                          struct vcm_error *err)
{
    struct vcm_slice key = vcm_slice_of_string(meta_key), value;
    struct vcm_buf next = VCM_BUF_INIT(16);
    struct vcm_wire_reader r;

    *number = 1;
    int rc = vcm_kv_get(&value, txn, VCM_TABLE_META, key, err);
    if (rc == VCM_OK) {
        vcm_wire_reader_init(&r, value);
        *number = vcm_wire_get_u64(&r);
        if (!vcm_wire_reader_done(&r) || *number == 0 || *number > INT64_MAX - 1)
            rc = vcm_table_malformed("the next number of a series", err);
    } else if (rc == VCM_NOT_FOUND) {
        rc = VCM_OK;
    }
    if (rc == VCM_OK) {
        vcm_wire_put_u64(&next, *number + 1);
        rc = vcm_buf_check(&next, "the next number of a series", err);
    }
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, VCM_TABLE_META, key, vcm_buf_slice(&next), err);
    vcm_buf_release(&next);
    return rc;
}

static bool starts_with(struct vcm_slice text, struct vcm_slice prefix)
{
    return text.len >= prefix.len &&
           (prefix.len == 0 || memcmp(text.data, prefix.data, prefix.len) == 0);
}

int vcm_table_each(struct vcm_kv_txn *txn, enum vcm_table table, struct vcm_slice prefix,
                   struct vcm_slice start, vcm_table_entry_fn visit, void *context,
                   struct vcm_error *err)
{
    struct vcm_kv_cursor *cursor = NULL;
    struct vcm_slice key, value;

    assert(starts_with(start, prefix));
    int rc = vcm_kv_cursor_open(&cursor, txn, table, err);
    if (rc != VCM_OK)
        return rc;
    int at = vcm_kv_cursor_seek(&key, &value, cursor, start, err);
    while (rc == VCM_OK && at == VCM_OK && starts_with(key, prefix)) {
        rc = visit(context, key, value, err);
        if (rc == VCM_OK)
            at = vcm_kv_cursor_next(&key, &value, cursor, err);
    }
    vcm_kv_cursor_close(cursor);
    if (rc != VCM_OK)
        return rc == VCM_STOP ? VCM_OK : rc;
    return at == VCM_NOT_FOUND ? VCM_OK : at;
}

struct vcm_slice vcm_table_trim_frame(struct vcm_slice value)
{
    while (value.len > 0 && value.len <= VCM_FRAME_VALUE_MIN && value.data[value.len - 1] == '\0')
        value.len--;
    return value;
}

int vcm_table_put_frame(struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                        struct vcm_slice frame, struct vcm_error *err)
{
    char padded[VCM_FRAME_VALUE_MIN] = {0};

    assert(frame.len == 0 || frame.data[frame.len - 1] != '\0'); /* or it would be trimmed */
    if (frame.len < sizeof padded) {
        memcpy(padded, frame.data, frame.len);
        frame = vcm_slice_of(padded, sizeof padded);
    }
    return vcm_kv_put(txn, VCM_TABLE_FRAMES, vcm_table_id_key(id), frame, err);
}
