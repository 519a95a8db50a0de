/*
 * transition.h - one function for each change of a page's state, and the choice of victims when
 * there is no room. Private to vcm/.
 *
 * A transition happens in a transaction of vcm_transition_run(), which keeps the sums and the
 * eviction sets consistent with the tables, and prevents new views in place while frames are freed.
 * The states and the invariants are in vcm/README.md.
 * A function that changes a page updates the `info` that it is given.
 */
#ifndef VCM_VCM_RESIDENCY_TRANSITION_H
#define VCM_VCM_RESIDENCY_TRANSITION_H

#include "base/cancel.h"
#include "vcm/store/dictionary.h"
#include "vcm/residency/evict.h"
#include "vcm/store/shm.h"
#include "vcm/store/table.h"

struct vcm_id_map;

struct vcm_transition {
    struct vcm_page_store *store;
    struct vcm_kv_txn *txn;
    struct vcm_page_totals totals;
    struct vcm_page_store_limits limits; /* in force when the transaction began */
    uint64_t now_ms;                     /* Unix time; locks that ended before have no effect */
    uint64_t evictions;                  /* pages that were compressed or evicted */
    uint64_t stamp;                      /* of the sets, see shm.h */
    struct vcm_evict sets[VCM_SHM_SETS];
    bool sets_usable;              /* false: no victim can be chosen */
    bool sets_changed;             /* they must be rebuilt if the transaction fails */
    bool departing;                /* a departure is under way: no view in place can begin */
    bool spared;                   /* a set has pages that were spared */
    const struct vcm_id_map *kept; /* pages that are not evicted for others; the change sets it */

    /* Set by a change that wants a call after its commit, with the lock still held. */
    void (*committed)(void *context, struct vcm_transition *t);
};

/* Runs `change` as vcm_kv_handle_update() does, under the limits in force when it begins: they
 * cannot change (vcm/mapping/relimit.h) before it has ended. A change that returns anything but
 * VCM_OK is rolled back, and its code is returned, private codes, too. */
typedef int (*vcm_transition_fn)(void *context, struct vcm_transition *t, struct vcm_error *err);
int vcm_transition_run(struct vcm_page_store *store, vcm_transition_fn change, void *context,
                       unsigned timeout_ms, const struct vcm_cancel *cancel, struct vcm_error *err);

/* (new) -> resident if it fits without an eviction, else compressed, else evicted. A pinned page
 * always becomes resident, and others are evicted for it. `samples` may be NULL. STORE_FULL,
 * STORE_BUSY. */
int vcm_transition_add(struct vcm_transition *t, struct vcm_page_info *info, struct vcm_slice frame,
                       struct vcm_slice scope_id, uint64_t mapping,
                       const struct vcm_dictionary_samples *samples, struct vcm_error *err);

/* resident -> compressed, or evicted when compressed pages have no room; one that is volatile stays
 * resident then. The page is not pinned. */
int vcm_transition_compress(struct vcm_transition *t, struct vcm_page_info *info,
                            struct vcm_error *err);

/* resident or compressed -> evicted. The page is neither pinned nor volatile. */
int vcm_transition_evict(struct vcm_transition *t, struct vcm_page_info *info,
                         struct vcm_error *err);

/* compressed or evicted -> resident. VCM_NO_ROOM when no other page may be evicted for it: then the
 * page is unchanged. */
int vcm_transition_promote(struct vcm_transition *t, struct vcm_page_info *info,
                           struct vcm_slice frame, struct vcm_error *err);

/* Adds `tables` (-1, 0 or 1) to the pinned page tables that hold the page, and sets or clears the
 * page's own pin. A page that is pinned afterwards is resident. */
int vcm_transition_pin(struct vcm_transition *t, struct vcm_page_info *info, int tables,
                       bool by_itself, struct vcm_error *err);

/* Says that no source can give the page's text again, or that one can. The page is not evicted. */
int vcm_transition_set_volatile(struct vcm_transition *t, struct vcm_page_info *info,
                                bool is_volatile, struct vcm_error *err);

/* any state -> deleted, with its locks; a page that is viewed becomes an orphan and is deleted by a
 * later sweep. */
int vcm_transition_forget(struct vcm_transition *t, struct vcm_page_info *info,
                          struct vcm_error *err);

/* Deletes the orphans that have no view any more. */
int vcm_transition_sweep_orphans(struct vcm_transition *t, struct vcm_error *err);

/* Whether the page may lose its frame: it has no pin, no lock, no view, is not volatile, and not in
 * t->kept. */
int vcm_transition_may_go(bool *may, struct vcm_transition *t, const struct vcm_page_info *info,
                          struct vcm_error *err);

/* Compresses or evicts resident pages until `bytes` more fit, or until `budget` bytes were freed.
 * VCM_NO_ROOM when no page is left that may be evicted. */
int vcm_transition_make_room(struct vcm_transition *t, uint64_t bytes, uint64_t budget,
                             struct vcm_error *err);
int vcm_transition_make_compressed_room(struct vcm_transition *t, uint64_t bytes,
                                        struct vcm_error *err);

/* STORE_FULL when what is pinned or locked exceeds the capacity. */
int vcm_transition_too_much(uint64_t needed, uint64_t capacity, struct vcm_error *err);
int vcm_transition_check_pinned(const struct vcm_transition *t, struct vcm_error *err);

/* Why no page can be evicted when pins and locks are not the reason. */
const char *vcm_transition_hindrance(const struct vcm_transition *t);

/* Sets the error for a page that must become resident, because it is to be pinned or locked, and
 * does not fit: STORE_FULL, or STORE_BUSY when only views prevent it. */
int vcm_transition_no_room(const struct vcm_transition *t, const struct vcm_page_info *info,
                           struct vcm_error *err);

#endif
