/*
 * plan.h - what a mapping would do, before it is done: the repository, the commit, the map at that
 * commit, and for each row its scope, place and configuration.
 *
 * A plan is made in steps, because not every caller needs all of them: `check` loads a map that may
 * be invalid, `preview` also needs the rows, `map` also needs their content on this machine.
 * Opening a URL and vcm_plan_fetch() use the network; the other steps read only this machine. No
 * step needs a store.
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
    const char *repository; /* a path at or below the repository, or a git URL */
    const char *base_scope; /* NULL: derived from the origin */
    const char *origin_url; /* NULL: that of the remote "origin" */
    const char *branch;     /* NULL: the branch of HEAD */
    const char *commit;     /* NULL: the branch's tip */
    bool worktree;          /* the working tree instead of a commit: rows of this repository alone,
                               in scopes of their own */
    bool from_working_tree; /* read the map from the working tree, unless branch or commit is set */
    const char *const *only; /* names of rows; NULL for all */
    unsigned only_count;
    bool no_rows;                     /* select no row */
    bool nested_scope;                /* the base may consist of several names, joined by ':' */
    const char *map_text;             /* used instead of the repository's map; may be NULL */
    struct vcm_plan_config defaults;  /* for fields that a row does not set */
    struct vcm_plan_config overrides; /* fields that are not 0 or false override the row */
    const struct vcm_repo_map_types *types; /* registered source types besides ours; may be NULL */
    const struct vcm_cancel *cancel;        /* of taking a snapshot; may be NULL */
    const struct vcm_git_clones *clones;    /* where URLs are fetched to; NULL: fetching fails */
    bool offline;                           /* for a URL use what was fetched before */
};

/* A row to map, with its place resolved. */
struct vcm_plan_row {
    const struct vcm_repo_map_row *row;
    const char *scope_id;
    struct vcm_plan_config config; /* zero until vcm_plan_configure() */
    const char *origin_url; /* of the repository that the row maps; its path if it has no remote */
    const char *branch;     /* "" when HEAD is detached */
    const char *commit;     /* 40 hex digits; as written for rows with origin_url */
    const char *tree;       /* of a working tree, whose commit no repository has; else NULL */
    const char *repository; /* where it can be read on this machine, or NULL */
    struct vcm_error error; /* why the row cannot be resolved */
};

struct vcm_plan {
    struct vcm_git_repo *repo;
    struct vcm_git_id commit_id;
    bool has_commit; /* false: the repository has no commit */
    bool from_url;   /* the map came from a URL: it may not name files of this machine */
    const char *repo_root;
    const char *origin_url; /* without credentials; "" without a remote */
    const char *origin;     /* identifies the repository: the URL, else the root */
    const char *branch;     /* "" when HEAD is detached */
    const char *commit;     /* 40 hex digits, or "" */
    const char *tree; /* of a working tree, which `repo` then holds a snapshot of; else NULL */
    uint64_t worktree_changes; /* of a working tree: files that differ from HEAD */
    const char *base_scope;
    struct vcm_repo_map map;
    bool has_map_file;       /* true even if the file is empty or invalid */
    struct vcm_buf map_text; /* empty without a file */
    bool map_differs;        /* the map of the working tree differs from the commit's */
    struct vcm_problem_list problems;
    bool all_rows; /* no selection of rows */
    struct vcm_plan_row *rows;
    unsigned row_count;
    struct vcm_arena arena; /* owns everything above that has no owner of its own */
};

/* Call the steps in this order. Release the plan even after a failure. */

/* Opens the repository (fetching a URL) and finds the commit. NOT_FOUND: no such repository, branch
 * or commit; a repository without commits fails only when a branch or commit was asked for.
 * INVALID_ARGUMENT: a bad scope name. */
int vcm_plan_open(struct vcm_plan *plan, const struct vcm_plan_request *request,
                  struct vcm_error *err);

/* Reads and loads the map; its errors and warnings are in plan->problems. INVALID_REPO_MAP. */
int vcm_plan_load(struct vcm_plan *plan, const struct vcm_plan_request *request,
                  struct vcm_error *err);

/* Resolves the rows. NOT_FOUND without a commit, INVALID_ARGUMENT for an unknown name in `only`; an
 * error of one row is stored in that row. */
int vcm_plan_resolve(struct vcm_plan *plan, const struct vcm_plan_request *request,
                     struct vcm_error *err);

/* The commit that a row of this repository maps: the row's, else the request's. */
int vcm_plan_own_commit(struct vcm_git_id *out, const struct vcm_plan *plan,
                        const struct vcm_repo_map_row *row, struct vcm_error *err);

/* NOT_FOUND unless the directory is in the commit's tree. */
int vcm_plan_check_directory(struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                             const char *directory, struct vcm_error *err);

/* The configuration of a row: what it sets, else the defaults; the overrides win over both. */
struct vcm_plan_config vcm_plan_config_of(const struct vcm_repo_map_row *row,
                                          const struct vcm_plan_request *request);

/* Fetches what is missing so that every row has a repository: origin_url, submodules, and in the
 * repository of a URL the branches that rows name. A failure is stored in its row; the call fails
 * only when it is interrupted or memory runs out. */
int vcm_plan_fetch(struct vcm_plan *plan, const struct vcm_plan_request *request,
                   struct vcm_error *err);

/* All steps above. */
int vcm_plan_make(struct vcm_plan *plan, const struct vcm_plan_request *request,
                  struct vcm_error *err);

/* Gives each row its configuration. A caller reads the settings for request->defaults after the
 * steps above and then calls this: a commit that was made after a setting is never mapped with the
 * former setting. */
void vcm_plan_configure(struct vcm_plan *plan, const struct vcm_plan_request *request);

void vcm_plan_release(struct vcm_plan *plan);

#endif
