/*
 * name_set.h - a set of names: filled in, sorted once, then searched. It does not own the bytes.
 * Private to weave.c and its parts.
 */
#ifndef VCM_SYMBOLS_NAME_SET_H
#define VCM_SYMBOLS_NAME_SET_H

#include "base/buf.h"

struct vcm_name_set {
    struct vcm_slice *items; /* in order, once they are sorted */
    size_t count;
    bool sorted;
};

void vcm_name_set_sort(struct vcm_name_set *names);

/* Whether the set, which was sorted, has the name. */
bool vcm_name_set_have(const struct vcm_name_set *names, struct vcm_slice name);

#endif
