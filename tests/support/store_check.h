/*
 * store_check.h - verifies the invariants of a page store (vcm/check/check.h) for a test, and says
 * what it holds.
 *
 * Whatever is wrong fails the running test with the number of the invariant.
 */
#ifndef VCM_TESTS_SUPPORT_STORE_CHECK_H
#define VCM_TESTS_SUPPORT_STORE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "vcm/store/page_store.h"

struct store_counts {
    uint64_t scopes, mappings, unfinished, rows, holders, pages, frames, omissions;
    struct vcm_page_totals totals;
};

/* `finished`: no mapping may be under way or abandoned. */
void store_check(const char *directory, bool finished);

void store_check_counts(struct store_counts *counts, const char *directory);

/* A digest of everything that is in force, mapping numbers and times aside: equal for two stores
 * in which a reader sees the same. */
void store_check_digest(char hex[2 * VCM_HASH_SHA256_BYTES + 1], const char *directory);

#endif
