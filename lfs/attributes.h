/*
 * attributes.h - which patterns of a .gitattributes file send files to LFS.
 *
 * Reads lines as git does, quoted patterns and CRLF included; macros ("[attr]...") aside. Nothing
 * here matches paths or writes files. Patterns live in the caller's arena.
 */
#ifndef VCM_LFS_ATTRIBUTES_H
#define VCM_LFS_ATTRIBUTES_H

#include <stdbool.h>

#include "base/arena.h"

#define VCM_ATTRIBUTES_PATH ".gitattributes"

struct vcm_attributes_pattern {
    const char *pattern;
    bool is_lfs; /* else the line takes the filter away, or names another */
    struct vcm_attributes_pattern *next;
};

/* Every line of `text` that says something about the filter, in order. */
int vcm_attributes_parse(struct vcm_attributes_pattern **out, struct vcm_arena *arena,
                         struct vcm_slice text, struct vcm_error *err);

/* Whether the last word on this very pattern is LFS. */
bool vcm_attributes_has(const struct vcm_attributes_pattern *patterns, const char *pattern);

/* Appends "a,b" from those patterns that are (or are not) LFS, each once. UNSUPPORTED when one
 * holds a comma, for git-lfs separates by it. */
int vcm_attributes_join(struct vcm_buf *out, const struct vcm_attributes_pattern *patterns,
                        bool is_lfs, struct vcm_error *err);

#endif
