#include "symbols/sweep.h"

#include "base/limits.h"
#include "base/wire.h"

#include "base/banned.h"

#define PLACE_KEY  "\0s" /* beside the list of memos, before all of them */
#define PLACE_MAX  (1 * VCM_KIB)
#define ROWS_MAX   8192u
#define BYTES_MAX  (32 * VCM_MIB) /* that are read or deleted before a run ends */
#define TIMEOUT_MS 0u

/* The progress of the sweep for a format. */
struct place {
    unsigned format;
    bool done;
    struct vcm_slice key; /* the last one that was looked at */
};

struct run {
    const struct vcm_sweep *sweep;
    size_t dropped;
};

/* A damaged record counts as none. */
static int read_place(struct place *out, struct vcm_kv_txn *txn, const struct vcm_sweep *sweep,
                      struct vcm_error *err)
{
    struct vcm_error damage = {0};
    struct vcm_wire_reader r;
    struct vcm_slice value;

    *out = (struct place){.key = vcm_slice_of("", 0)};
    int rc = vcm_kv_get(&value, txn, sweep->memos, vcm_slice_of(PLACE_KEY, 2), &damage);
    if (rc == VCM_NOT_FOUND || rc == VCM_STORE_CORRUPT)
        return VCM_OK;
    if (rc != VCM_OK)
        return vcm_error_set(err, (enum vcm_code)rc, "%s", damage.message);
    vcm_wire_reader_init(&r, value);
    struct place place = {.format = vcm_wire_get_u8(&r)};
    place.done = vcm_wire_get_u8(&r) != 0;
    place.key = vcm_wire_get_bytes(&r);
    if (vcm_wire_reader_done(&r))
        *out = place;
    return VCM_OK;
}

static bool is_needed(const struct place *place, const struct vcm_sweep *sweep)
{
    return place->format < sweep->format || (place->format == sweep->format && !place->done);
}

static bool is_old(const struct vcm_sweep *sweep, struct vcm_slice key)
{
    return key.len == sweep->key_bytes &&
           (unsigned char)key.data[key.len - 1] < (unsigned char)sweep->format;
}

/* Checks rows from `key` on, and puts the last one into it. */
static int sweep_rows(bool *done, struct run *run, struct vcm_kv_txn *txn, struct vcm_buf *key,
                      struct vcm_error *err)
{
    unsigned rows_max = run->sweep->rows_max > 0 ? run->sweep->rows_max : ROWS_MAX;
    struct vcm_kv_cursor *cursor = NULL;
    struct vcm_slice found, value;
    size_t bytes = 0;

    run->dropped = 0;
    int rc = vcm_kv_cursor_open(&cursor, txn, run->sweep->blobs, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_error damage = {0};
    rc = vcm_kv_cursor_seek(&found, &value, cursor, vcm_buf_slice(key), &damage);
    for (unsigned row = 0; found.len > 0 && row < rows_max && bytes < BYTES_MAX; row++) {
        /* A damaged value still has a valid key. */
        bytes += value.len;
        vcm_buf_clear(key);
        vcm_buf_append_slice(key, found);
        if (is_old(run->sweep, found)) {
            rc = vcm_kv_cursor_delete(cursor, err);
            if (rc != VCM_OK)
                break;
            run->dropped++;
        }
        vcm_error_reset(&damage);
        rc = vcm_kv_cursor_next(&found, &value, cursor, &damage);
    }
    *done = rc == VCM_NOT_FOUND;
    vcm_kv_cursor_close(cursor);
    if (rc == VCM_OK || rc == VCM_NOT_FOUND || (rc == VCM_STORE_CORRUPT && found.len > 0))
        return vcm_buf_check(key, "a key of the symbol store", err);
    return vcm_error_set(err, (enum vcm_code)rc, "%s", damage.message);
}

static int sweep_on(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct run *run = context;
    struct vcm_buf key = VCM_BUF_INIT(PLACE_MAX), place = VCM_BUF_INIT(2 * PLACE_MAX);
    struct place before;
    bool done = false;

    int rc = read_place(&before, txn, run->sweep, err);
    if (rc == VCM_OK && is_needed(&before, run->sweep)) {
        if (before.format == run->sweep->format)
            vcm_buf_append_slice(&key, before.key);
        rc = sweep_rows(&done, run, txn, &key, err);
        vcm_wire_put_u8(&place, (uint8_t)run->sweep->format);
        vcm_wire_put_u8(&place, done);
        vcm_wire_put_bytes(&place, vcm_buf_slice(&key));
        if (rc == VCM_OK)
            rc = vcm_buf_check(&place, "the place of the sweep", err);
        if (rc == VCM_OK)
            rc = vcm_kv_put(txn, run->sweep->memos, vcm_slice_of(PLACE_KEY, 2),
                            vcm_buf_slice(&place), err);
    }
    vcm_buf_release(&place);
    vcm_buf_release(&key);
    return rc;
}

int vcm_sweep_run(size_t *dropped, struct vcm_kv *kv, const struct vcm_sweep *sweep,
                  const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct run run = {.sweep = sweep};
    struct vcm_kv_txn *txn = NULL;
    struct place place = {.done = true};

    *dropped = 0;
    int rc = vcm_kv_handle_read_begin(&txn, kv, err);
    if (rc == VCM_OK)
        rc = read_place(&place, txn, sweep, err);
    bool needed = rc == VCM_OK && is_needed(&place, sweep);
    vcm_kv_handle_read_end(txn);
    if (needed)
        rc = vcm_kv_handle_update(kv, sweep_on, &run, TIMEOUT_MS, cancel, err);
    *dropped = rc == VCM_OK ? run.dropped : 0;
    return rc;
}
