/*
 * attributes.h - which patterns of a .gitattributes file put files into LFS.
 *
 * Reads lines as git does, quoted patterns and CRLF included; except macros ("[attr]..."). Nothing
 * here matches paths or writes files. Patterns live in the caller's arena.
 */
#ifndef VCM_LFS_ATTRIBUTES_H
#define VCM_LFS_ATTRIBUTES_H

#include <stdbool.h>

#include "base/arena.h"

#define VCM_ATTRIBUTES_PATH ".gitattributes"

struct vcm_attributes_pattern {
    const char *pattern;
    bool is_lfs; /* false: the line removes the filter or sets another one */
    struct vcm_attributes_pattern *next;
};

/* Every line of `text` that mentions the filter, in order. */
int vcm_attributes_parse(struct vcm_attributes_pattern **out, struct vcm_arena *arena,
                         struct vcm_slice text, struct vcm_error *err);

/* Whether the last line for exactly this pattern is LFS. */
bool vcm_attributes_has(const struct vcm_attributes_pattern *patterns, const char *pattern);

/* Appends "a,b" from those patterns that are (or are not) LFS, each once. UNSUPPORTED when one
 * holds a comma, because git-lfs uses it as separator. */
int vcm_attributes_join(struct vcm_buf *out, const struct vcm_attributes_pattern *patterns,
                        bool is_lfs, struct vcm_error *err);

#endif
