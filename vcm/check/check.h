/*
 * check.h - verifies the invariants of a store (vcm/README.md) by reading all of it, and reports
 * everything that is wrong.
 *
 * Reads in one transaction, so it does not see what other processes write meanwhile. Damage that
 * the checksums do not find may crash LMDB: a caller whose store may be damaged runs the check in a
 * process of its own (api/verify.c).
 */
#ifndef VCM_VCM_CHECK_CHECK_H
#define VCM_VCM_CHECK_CHECK_H

#include "vcm/store/page_store.h"

struct vcm_check_finding {
    const char *what;  /* "S2: ...", or the error of a read */
    const char *where; /* the page, the scope, the table */
    bool is_damage;    /* of the tables; not of the eviction sets, the limits or a source */
};

struct vcm_check_options {
    bool finished; /* S12 is checked: no mapping is being built or was abandoned */
    bool deep;     /* also rebuild evicted pages from their sources */

    /* Called for every finding. Anything but VCM_OK ends the check. */
    int (*found)(void *context, const struct vcm_check_finding *finding, struct vcm_error *err);
    /* Called for every entry of every table; may be NULL. Anything but VCM_OK ends the check. */
    int (*alive)(void *context, const char *table, struct vcm_error *err);
    void *context;
};

/* Checks the tables. *pages is the number of pages checked. VCM_OK also when something was found.
 */
int vcm_check_store(uint64_t *pages, struct vcm_page_store *store,
                    const struct vcm_check_options *options, struct vcm_error *err);

/* Checks the eviction sets and the limits, under the writers' lock. The next writer rebuilds a set
 * that is wrong. Checks nothing when the store is read-only, or another process holds the lock for
 * longer than a second. */
int vcm_check_residency(struct vcm_page_store *store, const struct vcm_check_options *options,
                        struct vcm_error *err);

#endif
