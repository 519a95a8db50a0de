/*
 * page_find.h - which pages of a table hold a file, and what the table says of every path.
 *
 * All searches from a path to its pages go through this file. The slices of a record are valid
 * until the transaction ends, the rest during the call.
 */
#ifndef VCM_VCM_STORE_PAGE_FIND_H
#define VCM_VCM_STORE_PAGE_FIND_H

#include "vcm/store/page_store.h"

/* A record of a page, with the page's place in the table. */
struct vcm_page_found {
    uint32_t seq;
    struct vcm_page_id id;
    uint32_t index; /* of the record in the page */
    const struct vcm_page_record *record;
};

/* Any result but VCM_OK ends the search, which returns it; VCM_STOP ends it with success. */
typedef int (*vcm_page_found_fn)(void *context, const struct vcm_page_found *found,
                                 struct vcm_error *err);

/* Every record of the file `path` in the page table, in order. */
int vcm_page_find_path(struct vcm_kv_txn *txn, uint64_t mapping, struct vcm_slice path,
                       vcm_page_found_fn visit, void *context, struct vcm_error *err);

/* Every record of the page table, in order. */
int vcm_page_find_each(struct vcm_kv_txn *txn, uint64_t mapping, vcm_page_found_fn visit,
                       void *context, struct vcm_error *err);

#endif
