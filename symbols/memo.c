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
    size_t bytes_max;
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

static uint64_t bytes_of(struct vcm_slice entry)
{
    struct vcm_wire_reader r;

    vcm_wire_reader_init(&r, entry);
    vcm_wire_get_raw(&r, sizeof(struct vcm_memo_key));
    return vcm_wire_get_u64(&r);
}

static struct vcm_slice entry_of(const struct vcm_buf *roster, size_t index)
{
    return vcm_slice_of(roster->data + index * ROSTER_ENTRY, ROSTER_ENTRY);
}

/* The roster, the oldest first, without the memo that is being stored. */
static int read_roster(struct vcm_buf *out, struct vcm_kv_txn *txn, const struct put *put,
                       struct vcm_error *err)
{
    struct vcm_slice bytes = vcm_slice_of("", 0);

    int rc = vcm_kv_get(&bytes, txn, put->table, vcm_slice_of(ROSTER_KEY, 1), err);
    if (rc != VCM_OK && rc != VCM_NOT_FOUND)
        return rc;
    for (size_t at = 0; at + ROSTER_ENTRY <= bytes.len; at += ROSTER_ENTRY)
        if (memcmp(bytes.data + at, put->key->bytes, sizeof put->key->bytes) != 0)
            vcm_buf_append(out, bytes.data + at, ROSTER_ENTRY);
    return vcm_buf_check(out, "the list of memos", err);
}

/* How many of the oldest have to be deleted. */
static size_t count_leaving(const struct vcm_buf *roster, const struct put *put)
{
    size_t count = roster->len / ROSTER_ENTRY, first = count;
    uint64_t bytes = put->value.len;

    while (first > 0 && count - first + 1 < VCM_LIMIT_SYMBOLS_MEMOS) {
        bytes += bytes_of(entry_of(roster, first - 1));
        if (bytes > put->bytes_max)
            break;
        first--;
    }
    return first;
}

static int write_memo(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    const struct put *put = context;
    struct vcm_buf roster = VCM_BUF_INIT(1 * VCM_MIB);

    int rc = read_roster(&roster, txn, put, err);
    size_t leaving = rc == VCM_OK ? count_leaving(&roster, put) : 0;
    for (size_t i = 0; rc == VCM_OK && i < leaving; i++) {
        struct vcm_slice entry = entry_of(&roster, i);
        rc = vcm_kv_delete(txn, put->table, vcm_slice_of(entry.data, sizeof(struct vcm_memo_key)),
                           err);
        rc = rc == VCM_NOT_FOUND ? VCM_OK : rc;
    }
    vcm_buf_append(&roster, put->key->bytes, sizeof put->key->bytes);
    vcm_wire_put_u64(&roster, put->value.len);
    if (rc == VCM_OK)
        rc = vcm_buf_check(&roster, "the list of memos", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, put->table, vcm_slice_of(put->key->bytes, sizeof put->key->bytes),
                        put->value, err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(
            txn, put->table, vcm_slice_of(ROSTER_KEY, 1),
            vcm_slice_of(roster.data + leaving * ROSTER_ENTRY, roster.len - leaving * ROSTER_ENTRY),
            err);
    vcm_buf_release(&roster);
    return rc;
}

int vcm_memo_put(struct vcm_kv *kv, unsigned table, const struct vcm_memo_key *key,
                 struct vcm_slice value, size_t bytes_max, const struct vcm_cancel *cancel,
                 struct vcm_error *err)
{
    struct put put = {table, key, value, bytes_max};

    if (value.len > bytes_max / 2)
        return VCM_OK;
    return vcm_kv_handle_update(kv, write_memo, &put, VCM_LIMIT_LOCK_TIMEOUT_MS, cancel, err);
}
