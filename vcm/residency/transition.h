/*
 * transition.h - one function for each change of a page's state, and who goes when there is no
 * room. Private to vcm/.
 *
 * A transition happens in a transaction of vcm_transition_run(), which keeps the sums and the
 * eviction sets right and holds readers of views off while frames are freed. The states and the
 * invariants are in vcm/README.md.
 * A function that changes a page fills in the `info` that it was given.
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
    uint64_t now;       /* Unix seconds: a lock that ended before counts for nothing */
    uint64_t evictions; /* pages that went down */
    uint64_t stamp;     /* of the sets, see shm.h */
    struct vcm_evict sets[VCM_SHM_SETS];
    bool sets_usable;              /* else nobody can be chosen to go */
    bool sets_changed;             /* so that they must be rebuilt when the transaction fails */
    bool departing;                /* readers are held off */
    bool spared;                   /* a set has pages aside */
    const struct vcm_id_map *kept; /* pages that do not go for others; the change sets it */

    /* Set by a change that wants to be told that it is committed, with the lock still held. */
    void (*committed)(void *context, struct vcm_transition *t);
};

/* Runs `change` as vcm_kv_handle_update() does, under the limits that are in force at its begin:
 * nobody puts others in force (vcm/mapping/relimit.h) before it has ended. Whatever the change
 * returns but VCM_OK rolls back and is returned, private codes, too. */
typedef int (*vcm_transition_fn)(void *context, struct vcm_transition *t, struct vcm_error *err);
int vcm_transition_run(struct vcm_page_store *store, vcm_transition_fn change, void *context,
                       unsigned timeout_ms, const struct vcm_cancel *cancel, struct vcm_error *err);

/* (new) -> resident where it fits without anybody going, else compressed, else evicted; a page that
 * is pinned always resident, and others go for it. `samples` may be NULL. STORE_FULL, STORE_BUSY.
 */
int vcm_transition_add(struct vcm_transition *t, struct vcm_page_info *info, struct vcm_slice frame,
                       struct vcm_slice scope_id, uint64_t mapping,
                       const struct vcm_dictionary_samples *samples, struct vcm_error *err);

/* resident -> compressed, or evicted when there is no room for it there. The page is not pinned. */
int vcm_transition_compress(struct vcm_transition *t, struct vcm_page_info *info,
                            struct vcm_error *err);

/* resident or compressed -> evicted. The page is not pinned. */
int vcm_transition_evict(struct vcm_transition *t, struct vcm_page_info *info,
                         struct vcm_error *err);

/* compressed or evicted -> resident. VCM_NO_ROOM when nobody may go for it: then the page is as it
 * was. */
int vcm_transition_promote(struct vcm_transition *t, struct vcm_page_info *info,
                           struct vcm_slice frame, struct vcm_error *err);

/* The page is pinned by so many tables more, or less, and by itself or not. It is resident when
 * that pins it. */
int vcm_transition_pin(struct vcm_transition *t, struct vcm_page_info *info, int tables,
                       bool by_itself, struct vcm_error *err);

/* any state -> gone, with its locks; a page that is viewed stays as an orphan until it is not. */
int vcm_transition_forget(struct vcm_transition *t, struct vcm_page_info *info,
                          struct vcm_error *err);

/* Forgets the orphans that nobody views any more. */
int vcm_transition_sweep_orphans(struct vcm_transition *t, struct vcm_error *err);

/* Whether nothing hinders the page from leaving its frame: no pin, no lock, no view, and it is not
 * among those that are kept. */
int vcm_transition_may_go(bool *may, struct vcm_transition *t, const struct vcm_page_info *info,
                          struct vcm_error *err);

/* Pages go until `bytes` more have room among the resident ones, at most `budget` bytes of them.
 * VCM_NO_ROOM when nobody is left who may go. */
int vcm_transition_make_room(struct vcm_transition *t, uint64_t bytes, uint64_t budget,
                             struct vcm_error *err);
int vcm_transition_make_compressed_room(struct vcm_transition *t, uint64_t bytes,
                                        struct vcm_error *err);

/* STORE_FULL when what is pinned or locked exceeds the capacity. */
int vcm_transition_too_much(uint64_t needed, uint64_t capacity, struct vcm_error *err);
int vcm_transition_check_pinned(const struct vcm_transition *t, struct vcm_error *err);

/* Why nobody goes although what is pinned or locked does not hinder it. */
const char *vcm_transition_hindrance(const struct vcm_transition *t);

/* The error of a page that must be resident, because it is or was to be pinned or locked, and has
 * no room: STORE_FULL, or STORE_BUSY when only views are in the way. */
int vcm_transition_no_room(const struct vcm_transition *t, const struct vcm_page_info *info,
                           struct vcm_error *err);

#endif
