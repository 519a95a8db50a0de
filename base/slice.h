/*
 * slice.h - bytes that another object owns: their address and length.
 */
#ifndef VCM_BASE_SLICE_H
#define VCM_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct vcm_slice {
    const char *data;
    size_t len;
};

static inline struct vcm_slice vcm_slice_of(const void *data, size_t len)
{
    struct vcm_slice slice = {(const char *)data, len};
    return slice;
}

static inline struct vcm_slice vcm_slice_of_string(const char *text)
{
    return vcm_slice_of(text, text ? strlen(text) : 0);
}

static inline bool vcm_slice_equal(struct vcm_slice a, struct vcm_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

#endif
