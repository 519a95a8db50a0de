/*
 * map.h - mapping with the options that only files of this folder use.
 */
#ifndef VCM_API_MAP_H
#define VCM_API_MAP_H

#include "api/vcm.h"
#include "base/arena.h"
#include "repomap/plan.h"

struct vcm_map_extra {
    bool no_rows;         /* map no row */
    const char *map_text; /* used instead of the repository's map; may be NULL */
    bool only_missing;    /* leave scopes alone that are mapped */
    const char *routed;   /* a commit whose routes were already followed; may be NULL */
};

/* INVALID_ARGUMENT for options that no mapping accepts. */
int vcm_map_check_options(const struct vcm_map_options *options, struct vcm_error *err);

int vcm_map_with(struct vcm_map_result **out, struct vcm *vcm,
                 const struct vcm_map_options *options, const struct vcm_map_extra *extra,
                 struct vcm_error *err);

/* Whether every row was mapped and shows the repository's own tip, so that mapping the same commit
 * again could find nothing new. */
bool vcm_map_is_settled(const struct vcm_map_result *result);

/* Follows the plan's routes into the knowledge base. The files that `out` lists live in the arena.
 * If the knowledge base cannot be used, `out` says so. Fails only when it is interrupted or memory
 * runs out. */
int vcm_map_knowledge_route(struct vcm_map_knowledge *out, struct vcm_arena *arena, struct vcm *vcm,
                            const struct vcm_plan *plan, const struct vcm_plan_request *request,
                            unsigned jobs, struct vcm_error *err);

#endif
