/*
 * How a view works.
 *
 * A resident page's frame stays at one address of the mapped file until a writer frees it. A read
 * transaction would keep it there, but LMDB reuses no freed page while an old transaction is open,
 * so that long views would make the file grow without bound. A view in place holds two things
 * instead: a slot of the shared file (shm.h) with the page's id, which tells writers not to free
 * the frame, and a hold on the map, which keeps the addresses valid when the file grows or the
 * store is closed.
 *
 * A reader that opens a view and a writer that evicts meet in the shared file, without a lock. The
 * number of departures is odd while a writer frees frames and never returns to an earlier value.
 *
 *     reader (this file)                        writer (transition.c), holds the writers' lock
 *     1. reads the number of departures         a. makes the number odd
 *     2. finds the frame                        b. looks for slots, skips the pages that have one
 *     3. takes a slot                           c. deletes the frames of others, commits
 *     4. reads the number again                 d. makes the number even again
 *
 * These steps have one order that all processes agree on (sequentially consistent atomics). If 3
 * comes before b, the writer sees the slot and skips the page. If b comes before 3, then a comes
 * before 4: the number in 4 differs from that in 1, or a came before 1 as well. In the first case
 * the reader drops the slot and tries again. In the second, 1 gave an odd number, upon which the
 * reader takes a copy, or d came before 1, too, and 2 sees what the writer committed. A copy is
 * always safe: it is made within the read transaction. After three attempts the reader copies.
 *
 * The frame of step 2 comes from a transaction, or from the memo of the page cache if no frame was
 * freed since the memo found it; then a view needs no transaction at all (view_known()).
 *
 * Views in place are bounded, so that enough pages remain that can be evicted: 1,024 slots, and a
 * quarter of the capacity. Beyond that the caller gets STORE_BUSY or a copy, as it chose. A process
 * that cannot write the shared file gets copies only.
 */
#include "vcm/residency/view.h"

#include <assert.h>
#include <stdlib.h>

#include "vcm/store/shm.h"
#include "vcm/store/table.h"

#include "base/banned.h"

#define TRIES             3u
#define CAPACITY_FRACTION 4u /* of the capacity that views may hold */

struct vcm_view {
    struct vcm_page_store *store;
    struct vcm_slice bytes;
    char *memory;                    /* the copy; NULL for a view in place */
    struct vcm_kv_handle_hold *hold; /* NULL for a copy */
    unsigned slot;                   /* of a view in place */
};

/* The result of one attempt. */
enum attempt {
    TAKEN,   /* the view has its bytes */
    AGAIN,   /* frames were freed meanwhile: try again */
    NO_SLOT, /* an error says why */
};

static int copy_frame(struct vcm_view *view, struct vcm_slice frame, struct vcm_error *err)
{
    view->memory = malloc(frame.len + 1);
    if (!view->memory)
        return vcm_error_memory(err);
    memcpy(view->memory, frame.data, frame.len);
    view->bytes = vcm_slice_of(view->memory, frame.len);
    return VCM_OK;
}

/* Steps 3 and 4 of the protocol above. The order matters: the slot is visible to writers before the
 * number is read again. The frame may have been found at any time since `departures` was read. */
static int take_slot(enum attempt *attempt, struct vcm_view *view, const struct vcm_page_id *id,
                     size_t bytes, uint64_t departures, struct vcm_error *err)
{
    struct vcm_shm *shm = view->store->shm;
    uint64_t capacity = vcm_shm_capacity(shm, view->store->limits.capacity);

    assert(departures % 2 == 0);
    *attempt = NO_SLOT;
    int rc = vcm_shm_view_take(&view->slot, shm, id, bytes, capacity / CAPACITY_FRACTION, err);
    if (rc != VCM_OK)
        return rc;
    *attempt = TAKEN;
    if (vcm_shm_departures(shm) != departures) {
        vcm_shm_view_drop(shm, view->slot);
        *attempt = AGAIN;
    }
    return VCM_OK;
}

/* Views a page that this cache read before, at the place that the memo has. It needs no
 * transaction: the slot prevents that the frame is freed, the hold keeps the map. False when the
 * frame has to be looked up. */
static bool view_known(struct vcm_view *view, struct vcm_page_cache *cache,
                       const struct vcm_page_id *id)
{
    const struct vcm_frame_memo *memo = vcm_page_cache_memo(cache);
    struct vcm_slice frame;
    enum attempt attempt;

    if (vcm_shm_departures(view->store->shm) != memo->departures ||
        !vcm_frame_memo_find(&frame, memo, id) ||
        take_slot(&attempt, view, id, frame.len, memo->departures, NULL) != VCM_OK ||
        attempt != TAKEN)
        return false;
    if (vcm_kv_handle_hold_map(&view->hold, view->store->kv, memo->map) != VCM_OK) {
        vcm_shm_view_drop(view->store->shm, view->slot);
        return false;
    }
    view->bytes = frame;
    vcm_page_cache_note_hit(cache, id, frame.len);
    return true;
}

static int view_in_place(enum attempt *attempt, struct vcm_view *view, struct vcm_kv_txn *txn,
                         const struct vcm_page_id *id, struct vcm_slice frame, uint64_t departures,
                         struct vcm_error *err)
{
    int rc = take_slot(attempt, view, id, frame.len, departures, err);
    if (rc != VCM_OK || *attempt != TAKEN)
        return rc;
    rc = vcm_kv_handle_hold(&view->hold, txn, err);
    if (rc != VCM_OK) {
        vcm_shm_view_drop(view->store->shm, view->slot);
        return rc;
    }
    view->bytes = frame;
    return VCM_OK;
}

/* Views a resident page in place, or copies it when that is not possible now. */
static int view_frame(enum attempt *attempt, struct vcm_view *view, struct vcm_kv_txn *txn,
                      const struct vcm_page_id *id, struct vcm_slice frame, uint64_t departures,
                      bool last_try, enum vcm_view_otherwise otherwise, struct vcm_error *err)
{
    struct vcm_error cause = {0};
    int rc = VCM_OK;

    *attempt = AGAIN;
    if (departures % 2 == 0)
        rc = view_in_place(attempt, view, txn, id, frame, departures, &cause);
    bool copy = rc == VCM_UNSUPPORTED || (rc == VCM_STORE_BUSY && otherwise == VCM_VIEW_COPY) ||
                (rc == VCM_OK && *attempt == AGAIN && (last_try || departures % 2 == 1));
    if (copy) {
        *attempt = TAKEN;
        return copy_frame(view, frame, err);
    }
    if (rc != VCM_OK && err)
        *err = cause;
    return rc;
}

static int try_view(enum attempt *attempt, struct vcm_view *view, struct vcm_page_cache *cache,
                    const struct vcm_page_id *id, bool last_try, enum vcm_view_otherwise otherwise,
                    struct vcm_error *err)
{
    uint64_t departures = vcm_shm_departures(view->store->shm);
    struct vcm_page_cache_frame frame;
    struct vcm_kv_txn *txn = NULL;

    int rc = vcm_page_store_read_begin(&txn, view->store, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_page_cache_find(&frame.bytes, cache, txn, id, err);
    if (rc == VCM_OK) {
        rc = view_frame(attempt, view, txn, id, frame.bytes, departures, last_try, otherwise, err);
        if (rc == VCM_OK && *attempt == TAKEN)
            vcm_page_cache_note_hit(cache, id, frame.bytes.len);
    } else if (rc == VCM_NOT_FOUND) {
        rc = vcm_page_cache_read(&frame, cache, txn, id, err);
        if (rc == VCM_OK) {
            view->bytes = frame.bytes;
            view->memory = frame.memory;
            *attempt = TAKEN;
        }
    }
    vcm_kv_handle_read_end(txn);
    return rc;
}

int vcm_view_open(struct vcm_view **out, struct vcm_page_cache *cache, const struct vcm_page_id *id,
                  enum vcm_view_otherwise otherwise, struct vcm_error *err)
{
    int rc = VCM_OK;

    *out = NULL;
    struct vcm_view *view = malloc(sizeof *view);
    if (!view)
        return vcm_error_memory(err);
    *view = (struct vcm_view){.store = vcm_page_store_share(vcm_page_cache_store(cache))};
    enum attempt attempt = view_known(view, cache, id) ? TAKEN : AGAIN;
    for (unsigned i = 1; rc == VCM_OK && attempt == AGAIN; i++)
        rc = try_view(&attempt, view, cache, id, i >= TRIES, otherwise, err);
    if (rc != VCM_OK) {
        vcm_view_release(view);
        return rc;
    }
    assert(attempt == TAKEN && (view->hold != NULL) != (view->memory != NULL));
    *out = view;
    return VCM_OK;
}

void vcm_view_release(struct vcm_view *view)
{
    if (!view)
        return;
    if (view->hold) {
        vcm_shm_view_drop(view->store->shm, view->slot);
        vcm_kv_handle_hold_release(view->hold);
    }
    vcm_page_store_close(view->store);
    free(view->memory);
    free(view);
}

struct vcm_slice vcm_view_bytes(const struct vcm_view *view)
{
    return view->bytes;
}

bool vcm_view_is_in_place(const struct vcm_view *view)
{
    return view->hold != NULL;
}
