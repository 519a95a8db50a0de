/*
 * packages.h - what the configuration files of a tree say about modules: package.json,
 * tsconfig.json and jsconfig.json, go.mod.
 *
 * They are read as data, with bounds, from the tree that the index is of; one that cannot be read
 * or parsed counts as absent. They are looked for in the directories of files that import by them,
 * and above, when the first question is asked. Private to imports.c and its parts.
 */
#ifndef VCM_SYMBOLS_PACKAGES_H
#define VCM_SYMBOLS_PACKAGES_H

#include "base/json.h"
#include "symbols/index.h"

/* A directory that has at least one of them. */
struct vcm_packages_item {
    struct vcm_slice directory;     /* "" for the root */
    const struct vcm_json *package; /* package.json, or NULL */
    const struct vcm_json *config;  /* tsconfig.json, else jsconfig.json, or NULL */
    struct vcm_slice module;        /* the path that go.mod gives to the directory, or "" */
};

struct vcm_packages;

/* Only remembers the index, which must live longer. */
int vcm_packages_open(struct vcm_packages **out, const struct vcm_index *index,
                      struct vcm_error *err);
void vcm_packages_close(struct vcm_packages *packages);

/* All of them, by directory. */
const struct vcm_packages_item *vcm_packages_all(size_t *count, struct vcm_packages *packages);

/* The one of a directory itself, or NULL. */
const struct vcm_packages_item *vcm_packages_at(struct vcm_packages *packages,
                                                struct vcm_slice directory);

/* A JSON document of the tree that may have comments, and commas before brackets; or NULL. */
const struct vcm_json *vcm_packages_read(struct vcm_packages *packages, struct vcm_slice path);

#endif
