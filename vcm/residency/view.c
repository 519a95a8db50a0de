#include "vcm/residency/view.h"

#include <stdlib.h>

#include "vcm/store/shm.h"
#include "vcm/store/table.h"

#include "base/banned.h"

#define TRIES             3u
#define CAPACITY_FRACTION 4u /* of the capacity that views may hold */

struct vcm_view {
    struct vcm_page_store *store;
    struct vcm_slice bytes;
    char *memory;                    /* of a view of a copy */
    struct vcm_kv_handle_hold *hold; /* of a view in place */
    unsigned slot;
};

/* What came of one attempt. */
enum attempt {
    TAKEN,
    AGAIN,
    NO_SLOT,
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

/*
 * The slot stands before it is asked whether frames were freed since `departures` was read: whoever
 * frees them asks for slots only after saying so. The frame may have been found at any time in
 * between.
 */
static int take_slot(enum attempt *attempt, struct vcm_view *view, const struct vcm_page_id *id,
                     size_t bytes, uint64_t departures, struct vcm_error *err)
{
    struct vcm_shm *shm = view->store->shm;
    uint64_t capacity = vcm_shm_capacity(shm, view->store->limits.capacity);

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

/* The frame of a page that was read before, where it lay then: without a transaction, for the slot
 * keeps the frame from being freed and the hold keeps the map that it lies in. False when it has to
 * be looked up. */
static bool view_again(struct vcm_view *view, struct vcm_page_cache *cache,
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

/* A resident page: in place, or a copy where that cannot be had. */
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
    enum attempt attempt = view_again(view, cache, id) ? TAKEN : AGAIN;
    for (unsigned i = 1; rc == VCM_OK && attempt == AGAIN; i++)
        rc = try_view(&attempt, view, cache, id, i >= TRIES, otherwise, err);
    if (rc == VCM_OK)
        *out = view;
    else
        vcm_view_release(view);
    return rc;
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
