/*
 * roster.h - the scopes of a home and how each was mapped, in a small file beside the store.
 *
 * The roster survives the store: after a damaged store was set aside, the roster says what to map
 * again. While the store is sound, the store is the authority. A roster that cannot be read counts
 * as empty.
 */
#ifndef VCM_API_ROSTER_H
#define VCM_API_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/vcm.h"
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
    struct vcm_roster_entry *next; /* by scope id */
};

/* *out is NULL for an empty roster. */
int vcm_roster_read(struct vcm_roster_entry **out, struct vcm_arena *arena, const char *home,
                    struct vcm_error *err);

/* Records what a run mapped and unmapped, by the repository's map or, unless it is NULL, by
 * `map_text`. Writes the file only if that changes it. */
int vcm_roster_note_map(const char *home, const struct vcm_map_result *result,
                        const struct vcm_map_options *options, const char *map_text,
                        struct vcm_error *err);

int vcm_roster_forget(const char *home, const char *scope_id, struct vcm_error *err);

#endif
