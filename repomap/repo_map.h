/*
 * repo_map.h - what a repository's map says: its sources, and where its knowledge goes.
 *
 * A map is filled by load.h and owns everything in it. A repository without .colony/repo_map.yaml
 * has one row over its whole tree. Every field holds a value, the default where the file gives
 * none; which ones the file gives is kept beside, as are the places where they stand.
 */
#ifndef VCM_REPOMAP_REPO_MAP_H
#define VCM_REPOMAP_REPO_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define VCM_REPO_MAP_PATH ".colony/repo_map.yaml"

/* The types of our own; others come from the source registry. */
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
    VCM_REPO_MAP_FIELDS /* how many there are */
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
    uint32_t flush_threshold;    /* unless set, the deployment's default comes first */
    uint32_t flush_token_budget; /* likewise */
    bool pinned;                 /* likewise */

    uint32_t set; /* a bit for each field that the file gives */
    struct vcm_repo_map_place place;
    struct vcm_repo_map_place places[VCM_REPO_MAP_FIELDS]; /* of the values that are set */
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
    struct vcm_arena arena; /* holds everything above */
};

/* The map of a repository without a file. */
extern const struct vcm_repo_map vcm_repo_map_default;

void vcm_repo_map_release(struct vcm_repo_map *map);

/* Whether the file gives the field. */
static inline bool vcm_repo_map_row_sets(const struct vcm_repo_map_row *row,
                                         enum vcm_repo_map_field field)
{
    return row->set >> field & 1;
}

/* Whether a row of this type takes the field: chunks are for literature, binary_policy is for
 * git_repo. */
bool vcm_repo_map_takes(const char *type, enum vcm_repo_map_field field);

/* "knowledge_base" */
const char *vcm_repo_map_destination_name(enum vcm_repo_map_destination destination);

/* What the row's patterns are: its include_globs, else those that its type has of its own. */
struct vcm_repo_map_list vcm_repo_map_row_include(const struct vcm_repo_map_row *row);

#endif
