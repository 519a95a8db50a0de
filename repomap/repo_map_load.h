/*
 * repo_map_load.h - reads .colony/repo_map.yaml: all that is wrong with it in one run, or the map.
 *
 * Looks at the text alone. What shows only when a row is carried out (an unknown submodule, an
 * unreachable URL, origin_url together with submodule) is plan.h's; what the repository says about
 * the globs is survey.h's.
 */
#ifndef VCM_REPOMAP_REPO_MAP_LOAD_H
#define VCM_REPOMAP_REPO_MAP_LOAD_H

#include "base/buf.h"
#include "repomap/problem.h"
#include "repomap/repo_map.h"

/* The source types that are registered besides git_repo and literature. */
struct vcm_repo_map_types {
    const char *const *names;
    unsigned count;
};

/*
 * Fills the map, which the caller releases; it is empty after a failure. `types` may be NULL.
 * `problems`, which the caller initialised, gets every error and warning and is finished.
 * INVALID_REPO_MAP when there are errors: the first of them, with VCM_REPO_MAP_PATH in front.
 * VCM_OK may come with warnings.
 */
int vcm_repo_map_load(struct vcm_repo_map *map, struct vcm_problem_list *problems,
                      struct vcm_slice yaml, const struct vcm_repo_map_types *types,
                      struct vcm_error *err);

#endif
