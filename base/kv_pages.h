/*
 * kv_pages.h - checks which pages of the data file are used and which are free; part of kv.h's
 * module, apart because it knows the layout of LMDB's files.
 *
 * Reads the file itself, not through LMDB, and trusts nothing in it: a damaged file cannot crash
 * it.
 */
#ifndef VCM_BASE_KV_PAGES_H
#define VCM_BASE_KV_PAGES_H

#include "base/kv.h"

struct vcm_kv_pages_finding {
    const char *what;
    uint64_t page;  /* the first of them */
    uint64_t count; /* how many */
};

struct vcm_kv_pages_options {
    /* Anything but VCM_OK ends the check. */
    int (*found)(void *context, const struct vcm_kv_pages_finding *finding, struct vcm_error *err);
    /* Called for every page that is read; may be NULL. */
    int (*alive)(void *context, struct vcm_error *err);
    void *context;
};

/*
 * Reports every page that is used twice, free twice, free and used, or neither. VCM_OK also when
 * something was found, and when the file's format is unknown here.
 */
int vcm_kv_pages_check(struct vcm_kv *kv, const struct vcm_kv_pages_options *options,
                       struct vcm_error *err);

#endif
