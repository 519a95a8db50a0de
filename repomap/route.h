/*
 * route.h - which of a map's routes takes a file, and what becomes of it.
 *
 * Every knowledge_base route ingests the files that it matches, unless a vcm route matches them
 * too: promotion wins. A file is ingested once, with the profile of the first knowledge_base route
 * that matches it. Patterns are relative to the root of the repository; the ignore files of the
 * tree have no say.
 */
#ifndef VCM_REPOMAP_ROUTE_H
#define VCM_REPOMAP_ROUTE_H

#include "repomap/repo_map.h"
#include "sources/path_filter.h"

enum vcm_route_outcome {
    VCM_ROUTE_NONE,     /* no route matches */
    VCM_ROUTE_INGESTED, /* goes to the knowledge base */
    VCM_ROUTE_PROMOTED, /* a vcm route matches: stays out of the knowledge base */
};

struct vcm_route_decision {
    enum vcm_route_outcome outcome;
    unsigned route; /* the first one that decides: of knowledge_base when ingested, else of vcm */
};

/* Adds an entry to the filter for each route, in their order. */
int vcm_route_add_to_filter(struct vcm_path_filter *filter, const struct vcm_repo_map *map,
                            struct vcm_error *err);

/* Decides from the verdicts of a filter in which route 0 has the index `first`. */
struct vcm_route_decision vcm_route_decide(const struct vcm_repo_map *map, unsigned first,
                                           const struct vcm_path_filter_verdict *verdicts,
                                           unsigned count);

/* Decides for one path from the root, without a walk. Compiles the patterns each time. */
int vcm_route_find(struct vcm_route_decision *out, const struct vcm_repo_map *map,
                   struct vcm_slice path, struct vcm_error *err);

#endif
