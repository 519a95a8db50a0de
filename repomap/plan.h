/*
 * plan.h - what a mapping would do, before anything is done: the repository, the commit, the map
 * that holds there, and for each row its scope, its place and its configuration.
 *
 * Made in steps, because not everybody wants all of them: `check` looks at a map that may be wrong,
 * `preview` needs its rows, `map` needs them here. Opening a URL and the last step,
 * vcm_plan_fetch(), use the network; the others read what is on this machine. No step needs a
 * store.
 */
#ifndef VCM_REPOMAP_PLAN_H
#define VCM_REPOMAP_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "git/clone.h"
#include "git/repo.h"
#include "repomap/repo_map_load.h"
#include "repomap/repo_map.h"

struct vcm_plan_config {
    uint32_t flush_threshold;
    uint32_t flush_token_budget;
    bool pinned;
};

struct vcm_plan_request {
    const char *repository;  /* a path at or below the repository, or a git URL */
    const char *base_scope;  /* NULL: derived from the origin */
    const char *origin_url;  /* NULL: that of the remote "origin" */
    const char *branch;      /* NULL: HEAD's */
    const char *commit;      /* NULL: the branch's tip */
    bool from_working_tree;  /* read the map there unless branch or commit is given */
    const char *const *only; /* names of rows; NULL for all */
    unsigned only_count;
    bool no_rows;                           /* a selection of none */
    bool nested_scope;                      /* the base may be several names with ':' between */
    const char *map_text;                   /* in the place of the repository's map; may be NULL */
    struct vcm_plan_config defaults;        /* for what a row does not set */
    struct vcm_plan_config overrides;       /* what is not 0 or false here wins over the row */
    const struct vcm_repo_map_types *types; /* registered besides our own; may be NULL */
    const struct vcm_git_clones *clones;    /* where URLs are fetched to; NULL: they are not */
    bool offline;                           /* a URL is what was fetched of it before */
};

/* A row that is to be mapped, with its place resolved. */
struct vcm_plan_row {
    const struct vcm_repo_map_row *row;
    const char *scope_id;
    struct vcm_plan_config config;
    const char *origin_url; /* of what the row maps; a path without a remote */
    const char *branch;     /* "" when HEAD is detached */
    const char *commit;     /* 40 hex digits; as written for rows with origin_url */
    const char *repository; /* where it can be read on this machine, or NULL */
    struct vcm_error error; /* why it cannot be resolved */
};

struct vcm_plan {
    struct vcm_git_repo *repo;
    struct vcm_git_id commit_id;
    bool has_commit; /* false: nothing was committed yet */
    bool from_url;   /* the map came from elsewhere: it may not name what is on this machine */
    const char *repo_root;
    const char *origin_url; /* without credentials; "" without a remote */
    const char *origin;     /* what makes two clones the same: the URL, else the root */
    const char *branch;     /* "" when HEAD is detached */
    const char *commit;     /* 40 hex digits, or "" */
    const char *base_scope;
    struct vcm_repo_map map;
    bool has_map_file;       /* also when it is empty or invalid */
    struct vcm_buf map_text; /* empty without a file */
    bool map_differs;        /* the working tree has another map than the commit that was read */
    struct vcm_problem_list problems;
    bool all_rows; /* no selection */
    struct vcm_plan_row *rows;
    unsigned row_count;
    struct vcm_arena arena; /* holds everything above that has no owner of its own */
};

/* Every step needs the ones before. The plan is released also after a failure. */

/* Opens the repository, fetching a URL, and finds the commit. NOT_FOUND: no repository, branch or
 * commit; a missing first commit is an error only when a branch or commit was asked for.
 * INVALID_ARGUMENT: a bad scope name. */
int vcm_plan_open(struct vcm_plan *plan, const struct vcm_plan_request *request,
                  struct vcm_error *err);

/* Reads and loads the map; what is wrong with it is in plan->problems. INVALID_REPO_MAP. */
int vcm_plan_load(struct vcm_plan *plan, const struct vcm_plan_request *request,
                  struct vcm_error *err);

/* Resolves the rows. NOT_FOUND without a commit, INVALID_ARGUMENT for an unknown name in `only`;
 * what is wrong with one row is in that row. */
int vcm_plan_resolve(struct vcm_plan *plan, const struct vcm_plan_request *request,
                     struct vcm_error *err);

/* The commit that a row of this repository maps: its own, else the caller's. */
int vcm_plan_own_commit(struct vcm_git_id *out, const struct vcm_plan *plan,
                        const struct vcm_repo_map_row *row, struct vcm_error *err);

/* NOT_FOUND unless the directory is in the commit's tree. */
int vcm_plan_check_directory(struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                             const char *directory, struct vcm_error *err);

/* What holds for a row: what it sets, else the defaults; the overrides win over both. */
struct vcm_plan_config vcm_plan_config_of(const struct vcm_repo_map_row *row,
                                          const struct vcm_plan_request *request);

/* Brings every row's commit to this machine, so that the row has a repository: origin_url and
 * submodules that are not here, and in the repository of a URL the branches that rows name. What
 * fails is in the row. INTERRUPTED, or for want of memory. */
int vcm_plan_fetch(struct vcm_plan *plan, const struct vcm_plan_request *request,
                   struct vcm_error *err);

/* All of them. */
int vcm_plan_make(struct vcm_plan *plan, const struct vcm_plan_request *request,
                  struct vcm_error *err);

void vcm_plan_release(struct vcm_plan *plan);

#endif
