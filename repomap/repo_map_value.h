/*
 * repo_map_value.h - the values of a repo map, each checked against its key. Private to load.c.
 */
#ifndef VCM_REPOMAP_REPO_MAP_VALUE_H
#define VCM_REPOMAP_REPO_MAP_VALUE_H

#include "base/yaml.h"
#include "repomap/repo_map_load.h"
#include "repomap/repo_map_schema.h"

#define VCM_LOAD_WHERE_MAX 160
#define VCM_LOAD_SHOWN_MAX 64 /* bytes of a value that a message repeats */

struct vcm_load {
    struct vcm_repo_map *map;
    struct vcm_problem_list *problems;
    const struct vcm_repo_map_types *types;
    bool failed; /* memory ran out */
};

struct vcm_load_value {
    const char *text;
    int64_t integer;
    bool boolean;
    struct vcm_repo_map_list list;
};

#define VCM_LOAD_PLACE(node) ((struct vcm_repo_map_place){(node)->line, (node)->column})

/* A value for "%.*s%s", cut when it is long. */
#define VCM_LOAD_SHOWN(slice)                                                                      \
    (int)vcm_repo_map_value_shown_length(slice), (slice).data,                                     \
        (slice).len > VCM_LOAD_SHOWN_MAX ? "..." : ""

size_t vcm_repo_map_value_shown_length(struct vcm_slice text);

/* Zeroed memory of the map; NULL for nothing, and without memory, which is noted. */
void *vcm_repo_map_value_take(struct vcm_load *load, size_t count, size_t size);

/* "must be a list, not null"; returns false. */
bool vcm_repo_map_value_fail_kind(struct vcm_load *load, const struct vcm_yaml *node,
                                  const char *where, const char *wanted);

/* Reads the value of a key that holds no rows; what is wrong with it is a problem, and false. */
bool vcm_repo_map_value_read(struct vcm_load_value *out, struct vcm_load *load,
                             const struct vcm_schema_key *key, const struct vcm_yaml *node,
                             const char *where);

#endif
