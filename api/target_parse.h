/*
 * target_parse.h - the forms in which a person names lines of a file or a definition: "a.c:10-20",
 * "a.c:12#Shop.total", "a.c:total". Whether they name anything is for target.h to find out.
 */
#ifndef VCM_API_TARGET_PARSE_H
#define VCM_API_TARGET_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/slice.h"

/* Lines of a file, both ends inclusive. */
struct vcm_target_lines {
    struct vcm_slice path;
    uint32_t first, last; /* `last` is UINT32_MAX up to the end */
};

/* Reads "PATH:A", "PATH:A-B" and "PATH:A-". *has_lines is false, without an error, when the text
 * does not end so. INVALID_ARGUMENT: line 0, and a range that ends before it begins. A number that
 * is too large is UINT32_MAX, a line that no file has. */
int vcm_target_parse_lines(bool *has_lines, struct vcm_target_lines *out, const char *text,
                           struct vcm_error *err);

/* A definition in a file. */
struct vcm_target_name {
    struct vcm_slice path;
    uint32_t line; /* 0 when it is not given */
    struct vcm_slice name;
};

/* Reads "PATH:LINE#NAME", "PATH#NAME" and "PATH:NAME"; false when the text has no such form. The
 * last mark that may stand behind a path counts, and "::" is none. */
bool vcm_target_parse_name(struct vcm_target_name *out, const char *text);

#endif
