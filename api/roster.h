/*
 * roster.h - which scopes a home has and how each was mapped, in a small file beside the store.
 *
 * It outlives the store: when that is damaged and set aside, the roster says what to map anew.
 * It is never the authority while the store is well. A roster that cannot be read is an empty one.
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
    const char *repository; /* that holds the repo map */
    const char *base_scope_id;
    const char *branch;            /* of that repository; NULL when HEAD was detached */
    const char *commit;            /* likewise */
    const char *map_text;          /* that the caller gave in the place of the repository's map;
                                      NULL: it was the repository's */
    uint32_t flush_threshold;      /* as asked for in the call, 0 for not at all */
    uint32_t flush_token_budget;   /* likewise */
    bool pinned;                   /* likewise */
    struct vcm_roster_entry *next; /* by scope id */
};

/* *out is NULL for an empty roster. */
int vcm_roster_read(struct vcm_roster_entry **out, struct vcm_arena *arena, const char *home,
                    struct vcm_error *err);

/* Takes in what a run has mapped and unmapped, by the map of the repository or, unless it is NULL,
 * by `map_text`. Writes only when that changes anything. */
int vcm_roster_note_map(const char *home, const struct vcm_map_result *result,
                        const struct vcm_map_options *options, const char *map_text,
                        struct vcm_error *err);

int vcm_roster_forget(const char *home, const char *scope_id, struct vcm_error *err);

#endif
