/*
 * route.h - decides by a map's routes whether a file is ingested into the knowledge base.
 *
 * Every knowledge_base route ingests the files that it matches, unless a vcm route matches them
 * too: promotion wins. A file is ingested once, with the profile of the first knowledge_base route
 * that matches it. Patterns are relative to the root of the repository; ignore files of the tree do
 * not apply.
 */
#ifndef VCM_REPOMAP_ROUTE_H
#define VCM_REPOMAP_ROUTE_H

#include "repomap/repo_map.h"
#include "sources/path_filter.h"

enum vcm_route_outcome {
    VCM_ROUTE_NONE,     /* no route matches */
    VCM_ROUTE_INGESTED, /* ingested into the knowledge base */
    VCM_ROUTE_PROMOTED, /* a vcm route matches: not ingested */
};

struct vcm_route_decision {
    enum vcm_route_outcome outcome;
    unsigned route; /* the first deciding route: of knowledge_base if ingested, else of vcm */
};

/* Adds one entry per route to the filter, in order. */
int vcm_route_add_to_filter(struct vcm_path_filter *filter, const struct vcm_repo_map *map,
                            struct vcm_error *err);

/* Decides from the verdicts of a filter in which route 0 has the index `first`. */
struct vcm_route_decision vcm_route_decide(const struct vcm_repo_map *map, unsigned first,
                                           const struct vcm_path_filter_verdict *verdicts,
                                           unsigned count);

/* Decides for one path, relative to the root, without a walk. Compiles the patterns at every call.
 */
int vcm_route_find(struct vcm_route_decision *out, const struct vcm_repo_map *map,
                   struct vcm_slice path, struct vcm_error *err);

#endif
