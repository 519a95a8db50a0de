/*
 * repo_map_load.h - loads .colony/repo_map.yaml: returns the map, or all errors in one run.
 *
 * Reads the text only. plan.h finds what depends on the repository (an unknown submodule, an
 * unreachable URL, origin_url together with submodule); survey.h matches the globs.
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
 * Fills the map, which the caller releases; it is empty after a failure. `types` may be NULL. Adds
 * every error and warning to `problems`, which the caller initialised, and finishes that list.
 * INVALID_REPO_MAP, with the first error and VCM_REPO_MAP_PATH in front, when there are errors.
 * With warnings alone it returns VCM_OK.
 */
int vcm_repo_map_load(struct vcm_repo_map *map, struct vcm_problem_list *problems,
                      struct vcm_slice yaml, const struct vcm_repo_map_types *types,
                      struct vcm_error *err);

#endif
