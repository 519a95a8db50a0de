/*
 * patterns_read.h - reads the text of a query into patterns that are looked up by the kind of a
 * node. Private to patterns.c.
 */
#ifndef VCM_SYMBOLS_PATTERNS_READ_H
#define VCM_SYMBOLS_PATTERNS_READ_H

#include "symbols/patterns_form.h"

/* Takes in the simple patterns of the text, and appends the others to `rest`. INTERNAL without
 * memory. */
int vcm_patterns_read_all(struct vcm_patterns *patterns, struct vcm_slice text,
                          struct vcm_buf *rest, struct vcm_error *err);

#endif
