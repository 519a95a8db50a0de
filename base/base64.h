/*
 * base64.h - bytes as text: the standard alphabet with padding, no line breaks.
 */
#ifndef VCM_BASE_BASE64_H
#define VCM_BASE_BASE64_H

#include <stdbool.h>

#include "base/buf.h"

/* The length of the text for this many bytes. */
static inline size_t vcm_base64_length(size_t bytes)
{
    return (bytes + 2) / 3 * 4;
}

void vcm_base64_put(struct vcm_buf *out, struct vcm_slice bytes);

/* Appends the bytes; false, with `out` as it was, for anything but what vcm_base64_put() writes. */
bool vcm_base64_get(struct vcm_buf *out, struct vcm_slice text);

#endif
