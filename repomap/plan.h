/*
 * plan.h - what a mapping would do, before anything is done: the repository, the commit, the map
 * that holds there, and for each row its scope and configuration.
 *
 * Planning reads the repository only; it needs no store and no network.
 */
#ifndef VCM_REPOMAP_PLAN_H
#define VCM_REPOMAP_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "repomap/repo_map.h"

struct vcm_plan_config {
    uint32_t flush_threshold;
    uint32_t flush_token_budget;
    bool pinned;
};

struct vcm_plan_request {
    const char *repository;  /* a path at or below the repository */
    const char *base_scope;  /* NULL: derived from the origin */
    const char *branch;      /* NULL: HEAD's */
    const char *commit;      /* NULL: the branch's tip */
    const char *const *only; /* names of rows; NULL for all */
    unsigned only_count;
    struct vcm_plan_config config; /* what rows without settings of their own get */
};

struct vcm_plan_row {
    const struct vcm_repo_map_row *row;
    const char *scope_id;
    struct vcm_plan_config config;
};

struct vcm_plan {
    const char *repo_root;
    const char *origin_url; /* without credentials; "" without a remote */
    const char *origin;     /* what makes two clones the same: the URL, else the root */
    const char *branch;     /* "" when HEAD is detached */
    const char *commit;     /* 40 hex digits */
    const char *base_scope;
    bool has_repo_map_file;
    bool all_rows; /* no --only */
    struct vcm_plan_row *rows;
    unsigned row_count;
    struct vcm_arena arena; /* holds everything above */
};

/* Fills the plan, which the caller releases also after a failure. NOT_FOUND: no repository, branch
 * or commit; INVALID_ARGUMENT: a bad scope name, an unknown row in `only`. */
int vcm_plan_make(struct vcm_plan *plan, const struct vcm_plan_request *request,
                  struct vcm_error *err);
void vcm_plan_release(struct vcm_plan *plan);

#endif
