/*
 * repo_map.h - the contents of a repository's map: its sources and its routes.
 *
 * vcm_repo_map_load() fills a map, which owns everything in it. A repository without
 * .colony/repo_map.yaml has one row over its whole tree. Every field has a value, the default if
 * the file does not set it; bits tell which fields the file sets, and their places are kept.
 */
#ifndef VCM_REPOMAP_REPO_MAP_H
#define VCM_REPOMAP_REPO_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define VCM_REPO_MAP_PATH ".colony/repo_map.yaml"

/* The built-in types; others come from the source registry. */
#define VCM_REPO_MAP_GIT_REPO   "git_repo"
#define VCM_REPO_MAP_LITERATURE "literature"

/* 1-based; 0 where there is no file. */
struct vcm_repo_map_place {
    unsigned line, column;
};

struct vcm_repo_map_list {
    const char *const *items;
    const struct vcm_repo_map_place *places;
    unsigned count;
};

enum vcm_repo_map_field {
    VCM_REPO_MAP_NAME,
    VCM_REPO_MAP_TYPE,
    VCM_REPO_MAP_ORIGIN_URL,
    VCM_REPO_MAP_SUBMODULE,
    VCM_REPO_MAP_BRANCH,
    VCM_REPO_MAP_COMMIT,
    VCM_REPO_MAP_START_DIR,
    VCM_REPO_MAP_INCLUDE_GLOBS,
    VCM_REPO_MAP_EXCLUDE_GLOBS,
    VCM_REPO_MAP_BINARY_POLICY,
    VCM_REPO_MAP_STATIC,
    VCM_REPO_MAP_CHUNK_TARGET_TOKENS,
    VCM_REPO_MAP_CHUNK_OVERLAP_TOKENS,
    VCM_REPO_MAP_FLUSH_THRESHOLD,
    VCM_REPO_MAP_FLUSH_TOKEN_BUDGET,
    VCM_REPO_MAP_PINNED,
    VCM_REPO_MAP_FIELDS /* the number of fields */
};

struct vcm_repo_map_row {
    const char *name;
    const char *type;
    const char *origin_url; /* NULL: none */
    const char *submodule;  /* NULL: none; no trailing slash */
    const char *branch;
    const char *commit;
    const char *start_dir; /* "" for the whole tree; no trailing slash, no "." parts */
    struct vcm_repo_map_list include_globs;
    struct vcm_repo_map_list exclude_globs;
    bool include_binaries; /* binary_policy: include */
    bool is_static;
    uint32_t chunk_target_tokens;
    uint32_t chunk_overlap_tokens;
    uint32_t flush_threshold;    /* unless the file sets it, the configured default wins */
    uint32_t flush_token_budget; /* as flush_threshold */
    bool pinned;                 /* as flush_threshold */

    uint32_t set; /* a bit for each field that the file sets */
    struct vcm_repo_map_place place;
    struct vcm_repo_map_place places[VCM_REPO_MAP_FIELDS]; /* of the fields that are set */
};

enum vcm_repo_map_destination {
    VCM_REPO_MAP_TO_KNOWLEDGE_BASE,
    VCM_REPO_MAP_TO_VCM,
};

struct vcm_repo_map_route {
    struct vcm_repo_map_list paths;
    enum vcm_repo_map_destination ingest_to;
    const char *profile; /* NULL: none */
    bool sets_ingest_to;
    struct vcm_repo_map_place place;
};

struct vcm_repo_map {
    bool has_file;
    const struct vcm_repo_map_row *rows;
    unsigned row_count;
    const struct vcm_repo_map_route *routes;
    unsigned route_count;
    struct vcm_arena arena; /* owns everything above */
};

/* The map of a repository without a map file. */
extern const struct vcm_repo_map vcm_repo_map_default;

void vcm_repo_map_release(struct vcm_repo_map *map);

/* Whether the file sets the field. */
static inline bool vcm_repo_map_row_sets(const struct vcm_repo_map_row *row,
                                         enum vcm_repo_map_field field)
{
    return row->set >> field & 1;
}

/* Whether rows of this type accept the field: chunk sizes are for literature, binary_policy is for
 * git_repo. */
bool vcm_repo_map_takes(const char *type, enum vcm_repo_map_field field);

/* "knowledge_base" */
const char *vcm_repo_map_destination_name(enum vcm_repo_map_destination destination);

/* The row's patterns: its include_globs, else the default ones of its type. */
struct vcm_repo_map_list vcm_repo_map_row_include(const struct vcm_repo_map_row *row);

#endif
