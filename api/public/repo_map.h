/*
 * <vcm/repo_map.h> - the repo map: checked, previewed and shown; a directory beside it.
 */
#ifndef VCM_PUBLIC_REPO_MAP_H
#define VCM_PUBLIC_REPO_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/public/handle.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vcm_map_problem {
    bool is_warning;
    unsigned line, column; /* 1-based; 0 where there is no file */
    const char *where;     /* "sources[0].name" */
    const char *message;
};

/* A row as the map has it, with defaults filled in. */
struct vcm_map_row {
    const char *name;
    const char *type;
    const char *origin_url; /* NULL: none */
    const char *submodule;  /* NULL: none */
    const char *branch;
    const char *commit;
    const char *start_dir; /* NULL: whole tree */
    const char *const *include_globs;
    size_t include_count;
    const char *const *exclude_globs;
    size_t exclude_count;
    bool include_binaries;
    bool is_static;
    uint32_t chunk_target_tokens, chunk_overlap_tokens;
    uint32_t flush_threshold, flush_token_budget;
    bool pinned;
    bool is_literature;
    uint32_t sets; /* bits of enum vcm_map_field: what the file itself says, and the type takes */

    int64_t matched_files; /* -1 when they cannot be counted here */

    /* In a preview: the mapping call. */
    const char *scope_id;
    const char *call_origin_url, *call_branch, *call_commit; /* branch NULL on a detached HEAD */
    const struct vcm_error *error; /* why the row cannot be resolved, or NULL */
};

enum vcm_map_field {
    VCM_MAP_START_DIR = 1 << 0,
    VCM_MAP_INCLUDE_GLOBS = 1 << 1,
    VCM_MAP_EXCLUDE_GLOBS = 1 << 2,
    VCM_MAP_BINARY_POLICY = 1 << 3,
    VCM_MAP_STATIC = 1 << 4,
    VCM_MAP_CHUNK_TARGET_TOKENS = 1 << 5,
    VCM_MAP_CHUNK_OVERLAP_TOKENS = 1 << 6,
};

struct vcm_map_route {
    const char *const *paths;
    size_t path_count;
    const char *ingest_to;
    const char *profile;   /* NULL: none */
    int64_t matched_files; /* before promotion; -1 when they cannot be counted */
};

struct vcm_map_report {
    const char *path; /* of the map, whether it is there or not */
    const char *repo_root;
    bool is_bare; /* the root is no working tree */
    bool has_repo_map_file;
    const char *raw; /* its bytes, NULL without a file */
    size_t raw_len;
    const char *origin_url; /* NULL without a remote */
    const char *branch;     /* NULL when HEAD is detached */
    const char *commit;     /* NULL before the first one */
    const char *base_scope_id;
    bool ok;                                /* no errors */
    const struct vcm_map_problem *problems; /* errors and warnings by their place */
    size_t problem_count;
    const struct vcm_map_row *rows; /* none when the map has errors */
    size_t row_count;
    const struct vcm_map_route *routes;
    size_t route_count;
    int64_t unmapped_files; /* -1 when they cannot be counted */
};

struct vcm_map_query {
    const char *repository;      /* a path, or a git URL */
    const char *base_scope_id;   /* NULL: derived */
    const char *origin_url;      /* NULL: the remote's */
    const char *branch, *commit; /* NULL: the map of the working tree, over HEAD's files */
    const char *const *only;
    size_t only_count;
    bool from_commit; /* read the map from the commit in any case, as mapping does */
    uint32_t flush_threshold, flush_token_budget; /* 0: as the row and the configuration say */
    bool pinned;
    bool even_invalid; /* show: a report without rows for a map with errors, instead of a failure */
    unsigned timeout_ms; /* of fetching the repository of a URL; 0: 10 minutes */
};

/* Looks at a map: all that is wrong with it, and what it would miss. A map with errors is a report
 * that is not ok, not a failure. Free with vcm_map_report_free(). */
int vcm_map_check(struct vcm_map_report **out, struct vcm *vcm, const struct vcm_map_query *query,
                  struct vcm_error *err);

/* What mapping would do. INVALID_REPO_MAP when the map has errors. */
int vcm_map_preview(struct vcm_map_report **out, struct vcm *vcm, const struct vcm_map_query *query,
                    struct vcm_error *err);

/* The map as it is, without a look at the tree. INVALID_REPO_MAP when it has errors, unless the
 * query takes it even so. */
int vcm_map_show(struct vcm_map_report **out, struct vcm *vcm, const struct vcm_map_query *query,
                 struct vcm_error *err);

void vcm_map_report_free(struct vcm_map_report *report);

/* A directory on disk, depth first: folders before files, both by their bytes, `.git` left out,
 * links not followed. enter() is called for everything, leave() behind a folder's content. */
struct vcm_directory_query {
    const char *root;
    unsigned max_depth; /* folders below are not looked into */
    unsigned max_nodes;
};

struct vcm_directory_visitor {
    int (*enter)(void *context, const char *path, bool is_directory, struct vcm_error *err);
    int (*leave)(void *context, struct vcm_error *err);
};

/* *truncated tells that a bound was reached. Paths are relative to the root, "." for itself. */
int vcm_directory_walk(bool *truncated, const struct vcm_directory_query *query,
                       const struct vcm_directory_visitor *visitor, void *context,
                       struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
