/*
 * roster.h - the scopes of a home and how each was mapped, in a small file beside the store.
 *
 * The roster survives the store: what it lists and the store does not have was lost with a store
 * that was set aside, emptied or deleted, and the next map brings it back. So a scope is listed
 * after it was mapped, and taken off before it is dropped: a process that is killed in between
 * leaves a scope that is not listed, which is harmless. A roster that cannot be read counts as
 * empty.
 */
#ifndef VCM_API_ROSTER_H
#define VCM_API_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/handle.h"
#include "base/arena.h"

/* One scope and the call that mapped it. Strings live in the arena that the roster was read with.
 */
struct vcm_roster_entry {
    const char *scope_id;
    const char *name;       /* of the row */
    const char *repository; /* the repository that holds the repo map */
    const char *base_scope_id;
    const char *branch;   /* of that repository; NULL when HEAD was detached */
    const char *commit;   /* of that repository */
    const char *map_text; /* given by the caller instead of the repository's map; NULL: it was the
                             repository's map */
    uint32_t flush_threshold;      /* as the call asked, 0 if it did not */
    uint32_t flush_token_budget;   /* as the call asked, 0 if it did not */
    bool pinned;                   /* as the call asked */
    bool lost;                     /* the store does not have it, and mapping it again failed */
    struct vcm_roster_entry *next; /* by scope id */
};

/* *out is NULL for an empty roster. */
int vcm_roster_read(struct vcm_roster_entry **out, struct vcm_arena *arena, const char *home,
                    struct vcm_error *err);

/* Records what a run mapped and unmapped, by the repository's map or, unless it is NULL, by
 * `map_text`. Writes the file only if that changes it. */
int vcm_roster_note_map(const struct vcm *vcm, const struct vcm_map_result *result,
                        const struct vcm_map_options *options, const char *map_text,
                        struct vcm_error *err);

/* *listed may be NULL; it tells whether the scope was there. */
int vcm_roster_forget(bool *listed, const struct vcm *vcm, const char *scope_id,
                      struct vcm_error *err);

/* Notes that a scope could not be mapped again: from now on only verify reports it, and no map
 * tries it again. */
int vcm_roster_give_up(const struct vcm *vcm, const char *scope_id, struct vcm_error *err);

/* The entries whose scope is not in the handle's store, or all when it has none. No other process
 * edits the roster during the call. */
int vcm_roster_missing(struct vcm_roster_entry **out, struct vcm_arena *arena, struct vcm *vcm,
                       struct vcm_error *err);

/* Locks the home: one process at a time edits the roster, and what is beside it for the recovery of
 * a store. Closing *fd unlocks it. STORE_BUSY after VCM_LIMIT_LOCK_TIMEOUT_MS. */
int vcm_roster_lock_home(int *fd, const struct vcm *vcm, struct vcm_error *err);

#endif
