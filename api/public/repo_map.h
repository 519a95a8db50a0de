/*
 * <vcm/repo_map.h> - the repo map: checking, previewing and showing it; walking a directory.
 *
 * A vcm_map_report and everything in it lives until vcm_map_report_free().
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

/* A row of the map, with defaults filled in. */
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
    uint32_t sets; /* bits of enum vcm_map_field: fields that the file sets and the type has */

    int64_t matched_files; /* -1 when it cannot be counted on this machine */

    /* Only in a preview: the mapping call. */
    const char *scope_id;
    const char *call_origin_url, *call_branch, *call_commit; /* branch NULL on a detached HEAD */
    const struct vcm_error *error; /* why the row cannot be resolved; NULL if it can */
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
    int64_t matched_files; /* before promotion; -1 when it cannot be counted */
};

struct vcm_map_report {
    const char *path; /* of the map, whether it exists or not */
    const char *repo_root;
    bool is_bare; /* the repository is bare: repo_root has no working tree */
    bool has_repo_map_file;
    const char *raw; /* the map's bytes, NULL when there is no file */
    size_t raw_len;
    const char *origin_url; /* NULL without a remote */
    const char *branch;     /* NULL when HEAD is detached */
    const char *commit;     /* NULL when there is no commit */
    const char *base_scope_id;
    bool ok;                                /* the map has no errors */
    const struct vcm_map_problem *problems; /* errors and warnings, by line and column */
    size_t problem_count;
    const struct vcm_map_row *rows; /* empty when the map has errors */
    size_t row_count;
    const struct vcm_map_route *routes;
    size_t route_count;
    int64_t unmapped_files; /* -1 when it cannot be counted */
};

struct vcm_map_query {
    const char *repository;      /* a path, or a git URL */
    const char *base_scope_id;   /* NULL: derived from the origin */
    const char *origin_url;      /* NULL: the remote's */
    const char *branch, *commit; /* NULL: the working tree's map, over HEAD's files */
    const char *const *only;
    size_t only_count;
    bool from_commit; /* always read the map from the commit, as mapping does */
    uint32_t flush_threshold, flush_token_budget; /* 0: the row and the configuration decide */
    bool pinned;
    bool even_invalid;   /* vcm_map_show(): return a report without rows for a map with errors,
                            instead of failing */
    unsigned timeout_ms; /* of fetching the repository of a URL; 0: 10 minutes */
};

/* Checks a map: reports everything that is wrong with it, and which files it would miss. For a map
 * with errors the call succeeds and `ok` is false. Free with vcm_map_report_free(). */
int vcm_map_check(struct vcm_map_report **out, struct vcm *vcm, const struct vcm_map_query *query,
                  struct vcm_error *err);

/* Reports what mapping would do. INVALID_REPO_MAP when the map has errors. */
int vcm_map_preview(struct vcm_map_report **out, struct vcm *vcm, const struct vcm_map_query *query,
                    struct vcm_error *err);

/* Reports the map without reading the tree. INVALID_REPO_MAP when it has errors, unless
 * `even_invalid` is set. */
int vcm_map_show(struct vcm_map_report **out, struct vcm *vcm, const struct vcm_map_query *query,
                 struct vcm_error *err);

void vcm_map_report_free(struct vcm_map_report *report);

/* Walks a directory on disk, depth first: directories before files, both in byte order, without
 * `.git`; links are not followed. enter() is called for every entry, leave() after the contents of
 * a directory. Paths live until the callback returns. */
struct vcm_directory_query {
    const char *root;
    unsigned max_depth; /* directories below this depth are not opened */
    unsigned max_nodes;
};

struct vcm_directory_visitor {
    int (*enter)(void *context, const char *path, bool is_directory, struct vcm_error *err);
    int (*leave)(void *context, struct vcm_error *err);
};

/* *truncated is true when a limit was reached. Paths are relative to the root, "." for the root. */
int vcm_directory_walk(bool *truncated, const struct vcm_directory_query *query,
                       const struct vcm_directory_visitor *visitor, void *context,
                       struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
