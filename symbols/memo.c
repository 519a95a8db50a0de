#include "symbols/memo.h"

#include "base/limits.h"
#include "base/wire.h"

#include "base/banned.h"

#define ROSTER_KEY   "\0" /* sorts before all memos */
#define ROSTER_ENTRY (sizeof(struct vcm_memo_key) + sizeof(uint64_t))

struct put {
    unsigned table;
    const struct vcm_memo_key *key;
    struct vcm_slice value;
};

void vcm_memo_key_make(struct vcm_memo_key *out, enum vcm_memo_kind kind,
                       const unsigned char digest[VCM_HASH_SHA256_BYTES])
{
    out->bytes[0] = (unsigned char)kind;
    memcpy(out->bytes + 1, digest, VCM_HASH_SHA256_BYTES);
}

int vcm_memo_get(struct vcm_slice *out, struct vcm_kv_txn *txn, unsigned table,
                 const struct vcm_memo_key *key, struct vcm_error *err)
{
    return vcm_kv_get(out, txn, table, vcm_slice_of(key->bytes, sizeof key->bytes), err);
}

/* The memos that stay beside a new one, the oldest first; those that go are deleted. */
static int make_room(struct vcm_buf *roster, struct vcm_kv_txn *txn, const struct put *put,
                     struct vcm_slice old, struct vcm_error *err)
{
    uint64_t bytes = put->value.len;
    size_t count = old.len / ROSTER_ENTRY, first = count;
    int rc = VCM_OK;

    for (; first > 0 && count - first + 1 < VCM_LIMIT_SYMBOLS_MEMOS; first--) {
        struct vcm_wire_reader r;
        vcm_wire_reader_init(&r, vcm_slice_of(old.data + (first - 1) * ROSTER_ENTRY, ROSTER_ENTRY));
        vcm_wire_get_raw(&r, sizeof(struct vcm_memo_key));
        bytes += vcm_wire_get_u64(&r);
        if (bytes > VCM_LIMIT_SYMBOLS_MEMO_BYTES)
            break;
    }
    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        struct vcm_slice entry = vcm_slice_of(old.data + i * ROSTER_ENTRY, ROSTER_ENTRY);
        struct vcm_slice key = vcm_slice_of(entry.data, sizeof(struct vcm_memo_key));
        if (memcmp(key.data, put->key->bytes, key.len) == 0)
            continue;
        if (i >= first)
            vcm_buf_append_slice(roster, entry);
        else
            rc = vcm_kv_delete(txn, put->table, key, err);
        rc = rc == VCM_NOT_FOUND ? VCM_OK : rc;
    }
    vcm_buf_append(roster, put->key->bytes, sizeof put->key->bytes);
    vcm_wire_put_u64(roster, put->value.len);
    return rc == VCM_OK ? vcm_buf_check(roster, "the list of memos", err) : rc;
}

static int write_memo(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    const struct put *put = context;
    struct vcm_slice roster_key = vcm_slice_of(ROSTER_KEY, 1), old = vcm_slice_of("", 0);
    struct vcm_buf roster = VCM_BUF_INIT(1 * VCM_MIB), before = VCM_BUF_INIT(1 * VCM_MIB);

    int rc = vcm_kv_get(&old, txn, put->table, roster_key, err);
    if (rc == VCM_OK || rc == VCM_NOT_FOUND) {
        vcm_buf_append_slice(&before, old); /* a change moves what was read */
        rc = vcm_buf_check(&before, "the list of memos", err);
    }
    if (rc == VCM_OK)
        rc = make_room(&roster, txn, put, vcm_buf_slice(&before), err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, put->table, vcm_slice_of(put->key->bytes, sizeof put->key->bytes),
                        put->value, err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, put->table, roster_key, vcm_buf_slice(&roster), err);
    vcm_buf_release(&before);
    vcm_buf_release(&roster);
    return rc;
}

int vcm_memo_put(struct vcm_kv *kv, unsigned table, const struct vcm_memo_key *key,
                 struct vcm_slice value, const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct put put = {table, key, value};

    if (value.len > VCM_LIMIT_SYMBOLS_MEMO_BYTES / 2)
        return VCM_OK;
    return vcm_kv_update(kv, write_memo, &put, VCM_LIMIT_LOCK_TIMEOUT_MS, cancel, err);
}
