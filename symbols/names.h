/*
 * names.h - a set of names. It does not own their bytes. Private to weave.c.
 */
#ifndef VCM_SYMBOLS_NAMES_H
#define VCM_SYMBOLS_NAMES_H

#include "base/buf.h"

struct vcm_names {
    struct vcm_slice *items; /* in order, once they are sorted */
    size_t count;
};

void vcm_names_sort(struct vcm_names *names);

/* Of names that are sorted. */
bool vcm_names_have(const struct vcm_names *names, struct vcm_slice name);

#endif
