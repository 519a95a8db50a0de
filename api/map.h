/*
 * map.h - mapping with what only other files of this folder may ask for.
 */
#ifndef VCM_API_MAP_H
#define VCM_API_MAP_H

#include "api/vcm.h"
#include "base/arena.h"
#include "repomap/plan.h"

struct vcm_map_extra {
    bool no_rows;         /* a selection of none */
    const char *map_text; /* in the place of the repository's map; may be NULL */
    const char *routed;   /* a commit whose routes were followed before; may be NULL */
};

/* INVALID_ARGUMENT for what no mapping can take. */
int vcm_map_check_options(const struct vcm_map_options *options, struct vcm_error *err);

int vcm_map_with(struct vcm_map_result **out, struct vcm *vcm,
                 const struct vcm_map_options *options, const struct vcm_map_extra *extra,
                 struct vcm_error *err);

/* Follows the plan's routes into the knowledge base; the files that `out` lists live in the arena.
 * That the base cannot be used is in `out`. INTERRUPTED, or for want of memory. */
int vcm_map_knowledge_route(struct vcm_map_knowledge *out, struct vcm_arena *arena, struct vcm *vcm,
                            const struct vcm_plan *plan, const struct vcm_plan_request *request,
                            unsigned jobs, struct vcm_error *err);

#endif
