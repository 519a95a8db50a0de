/*
 * repo_map_value.h - reads the values of a repo map and checks each against its key. Private to
 * repo_map_load.c.
 */
#ifndef VCM_REPOMAP_REPO_MAP_VALUE_H
#define VCM_REPOMAP_REPO_MAP_VALUE_H

#include "base/yaml.h"
#include "repomap/repo_map_load.h"
#include "repomap/repo_map_schema.h"

#define VCM_LOAD_WHERE_MAX 160
#define VCM_LOAD_SHOWN_MAX 64 /* bytes of a value that a message quotes */

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

/* Arguments for "%.*s%s" that quote a value, truncated if it is long. */
#define VCM_LOAD_SHOWN(slice)                                                                      \
    (int)vcm_repo_map_value_shown_length(slice), (slice).data,                                     \
        (slice).len > VCM_LOAD_SHOWN_MAX ? "..." : ""

size_t vcm_repo_map_value_shown_length(struct vcm_slice text);

/* Zeroed memory that the map owns. NULL for a count of 0, and when memory runs out, which is
 * recorded. */
void *vcm_repo_map_value_take(struct vcm_load *load, size_t count, size_t size);

/* Adds the problem "must be a list, not null" and returns false. */
bool vcm_repo_map_value_fail_kind(struct vcm_load *load, const struct vcm_yaml *node,
                                  const char *where, const char *wanted);

/* Reads the value of a key that has no rows; adds a problem and returns false if it is wrong. */
bool vcm_repo_map_value_read(struct vcm_load_value *out, struct vcm_load *load,
                             const struct vcm_schema_key *key, const struct vcm_yaml *node,
                             const char *where);

#endif
