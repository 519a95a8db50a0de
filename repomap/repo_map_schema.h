/*
 * repo_map_schema.h - the keys of .colony/repo_map.yaml, schema 1, one table for each level.
 *
 * The loader, its messages, docs/repo-map.md and docs/repo_map.schema.json are made from these
 * tables or tested against them, so a new field begins here.
 */
#ifndef VCM_REPOMAP_REPO_MAP_SCHEMA_H
#define VCM_REPOMAP_REPO_MAP_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define VCM_SCHEMA_VERSION 1

#define VCM_SCHEMA_DEFAULT_BRANCH "main"
#define VCM_SCHEMA_DEFAULT_COMMIT "HEAD"

enum vcm_schema_type {
    VCM_SCHEMA_INT,
    VCM_SCHEMA_BOOL,
    VCM_SCHEMA_STRING,
    VCM_SCHEMA_GLOBS, /* a list of gitignore patterns */
    VCM_SCHEMA_SOURCES,
    VCM_SCHEMA_ROUTES,
};

/* The form that a string must have. */
enum vcm_schema_form {
    VCM_SCHEMA_ANY, /* not empty */
    VCM_SCHEMA_NAME,
    VCM_SCHEMA_SOURCE_TYPE,
    VCM_SCHEMA_ADDRESS,   /* passed to git: no leading '-', no control characters */
    VCM_SCHEMA_DIRECTORY, /* relative, no ".." */
    VCM_SCHEMA_SUBMODULE, /* a path as .gitmodules has it */
};

struct vcm_schema_key {
    const char *name;
    enum vcm_schema_type type;
    enum vcm_schema_form form;
    bool required;
    const char *default_text; /* as written in YAML; NULL: none */
    int64_t min, max;         /* of an integer; for a list, `min` is the least number of entries */
    const char *const *words; /* the allowed values, ends with NULL; NULL: any */
    const char *only_type;    /* the only source type with this key; NULL: all */
    const char *summary;      /* one line for the reference */
};

struct vcm_schema_level {
    const char *what; /* "source" */
    const struct vcm_schema_key *keys;
    unsigned count;
};

#define VCM_SCHEMA_KEYS_MAX 16

extern const struct vcm_schema_level vcm_schema_top;
extern const struct vcm_schema_level vcm_schema_source; /* in the order of vcm_repo_map_field */
extern const struct vcm_schema_level vcm_schema_route;

extern const struct vcm_schema_key vcm_schema_source_keys[];

/* Ends with NULL; in the order of vcm_repo_map_destination. */
extern const char *const vcm_schema_destinations[];
extern const char *const vcm_schema_source_types[];

/* The index of the key in its level, or -1. */
int vcm_repo_map_schema_find(const struct vcm_schema_level *level, struct vcm_slice name);

#endif
