/*
 * delta.h - git's deltas: an object described by what it copies from another one.
 */
#ifndef VCM_GIT_DELTA_H
#define VCM_GIT_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct vcm_git_delta {
    uint64_t base_bytes;
    uint64_t result_bytes;
    struct vcm_slice commands;
};

/* Reads the two sizes at the front; false when they are malformed. */
bool vcm_git_delta_parse(struct vcm_git_delta *out, struct vcm_slice delta);

/* Writes delta->result_bytes to `out`, which has room for them and does not overlap the rest. False
 * when the delta does not fit `base`, or gives another length; `out` is then undefined. */
bool vcm_git_delta_apply(char *out, const struct vcm_git_delta *delta, struct vcm_slice base);

#endif
