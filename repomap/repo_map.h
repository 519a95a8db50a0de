/*
 * repo_map.h - the rows of a repository's map.
 *
 * A repository without .colony/repo_map.yaml has one row over its whole tree.
 */
#ifndef VCM_REPOMAP_REPO_MAP_H
#define VCM_REPOMAP_REPO_MAP_H

#include <stdbool.h>

#define VCM_REPO_MAP_PATH ".colony/repo_map.yaml"

struct vcm_repo_map_row {
    const char *name;
    const char *type;
    const char *start_dir; /* "" for the whole tree */
};

struct vcm_repo_map {
    bool has_file;
    const struct vcm_repo_map_row *rows;
    unsigned row_count;
};

/* The map of a repository without a file. */
extern const struct vcm_repo_map vcm_repo_map_default;

#endif
