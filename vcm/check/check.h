/*
 * check.h - verifies the invariants of a store (vcm/README.md) by reading all of it, and tells
 * everything that is wrong.
 *
 * Reads in one transaction, so that what others write meanwhile is not seen. Damage that the
 * checksums do not find may still crash LMDB: who checks a store that may be damaged does it in a
 * process of its own (api/verify.c).
 */
#ifndef VCM_VCM_CHECK_CHECK_H
#define VCM_VCM_CHECK_CHECK_H

#include "vcm/store/page_store.h"

struct vcm_check_finding {
    const char *what;  /* "S2: ...", or the error of what could not be read */
    const char *where; /* the page, the scope, the table */
    bool is_damage;    /* of the store itself, rather than of what stands beside or behind it */
};

struct vcm_check_options {
    bool finished; /* no mapping may be under way or abandoned: S12 */
    bool deep;     /* also rebuild evicted pages from their sources */

    /* Anything but VCM_OK ends the check. */
    int (*found)(void *context, const struct vcm_check_finding *finding, struct vcm_error *err);
    /* Called for every entry of every table; may be NULL. */
    int (*alive)(void *context, const char *table, struct vcm_error *err);
    void *context;
};

/* Checks the tables. *pages is how many were looked at. VCM_OK also when something was found. */
int vcm_check_store(uint64_t *pages, struct vcm_page_store *store,
                    const struct vcm_check_options *options, struct vcm_error *err);

/* Checks under the writers' lock what stands beside the tables: the order of eviction, which the
 * next writer makes anew where it is wrong, and the limits. Nothing is done where the store cannot
 * be written, or another writes for longer than a second. */
int vcm_check_residency(struct vcm_page_store *store, const struct vcm_check_options *options,
                        struct vcm_error *err);

#endif
