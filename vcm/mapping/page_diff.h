/*
 * page_diff.h - the pages that differ between two page tables of a scope.
 *
 * Works on copies of the tables, so no transaction stays open while a mapping runs. Pure: the same
 * two tables give the same changes in the same order.
 */
#ifndef VCM_VCM_MAPPING_PAGE_DIFF_H
#define VCM_VCM_MAPPING_PAGE_DIFF_H

#include "base/arena.h"
#include "vcm/store/page_store.h"

struct vcm_page_diff_entry {
    struct vcm_page_id id;
    const struct vcm_slice *paths; /* distinct, in the order of the page's records */
    uint32_t path_count;
};

/* A page table as it was at one time. */
struct vcm_page_diff_table {
    uint64_t mapping;  /* 0 when the scope had no table */
    uint64_t revision; /* of the scope; the caller fills it in */
    struct vcm_page_diff_entry *entries;
    uint32_t count;
    struct vcm_arena arena;
};

/* Copies a table. Release also after a failure. */
int vcm_page_diff_take(struct vcm_page_diff_table *out, struct vcm_kv_txn *txn, uint64_t mapping,
                       struct vcm_error *err);
void vcm_page_diff_release(struct vcm_page_diff_table *table);

enum vcm_page_change_kind {
    VCM_PAGE_ADDED,
    VCM_PAGE_REPLACED,
    VCM_PAGE_INVALIDATED,
};

struct vcm_page_change {
    enum vcm_page_change_kind kind;
    const struct vcm_page_diff_entry *page; /* the new one, or the one that was invalidated */
    const struct vcm_page_diff_entry *old;  /* of REPLACED, else NULL */
};

typedef int (*vcm_page_change_fn)(void *context, const struct vcm_page_change *change,
                                  struct vcm_error *err);

/*
 * Visits the new pages in the order of their table: REPLACED, with the first dropped page that
 * shares a path and replaces no other, or ADDED. Then the dropped pages that are left, in the order
 * of their table: INVALIDATED. A page that occurs several times counts where it occurs first.
 * Anything but VCM_OK from `visit` ends the walk, which returns it.
 */
int vcm_page_diff(const struct vcm_page_diff_table *before, const struct vcm_page_diff_table *after,
                  vcm_page_change_fn visit, void *context, struct vcm_error *err);

#endif
