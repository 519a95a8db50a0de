/*
 * mapping_drop.h - deletes page tables that are not in force, in bounded transactions. Private to
 * vcm/mapping/.
 */
#ifndef VCM_VCM_MAPPING_MAPPING_DROP_H
#define VCM_VCM_MAPPING_MAPPING_DROP_H

#include "base/cancel.h"
#include "vcm/store/page_store.h"

struct vcm_transition;

/*
 * Deletes the rows and omissions of a mapping and the pages that nothing else holds, in
 * transactions of bounded size; does nothing to one that is in force. Counts in *dropped the
 * distinct pages that `successor` (0 for none) does not hold. May be called again after a failure,
 * and by several processes at a time.
 */
int vcm_mapping_drop(uint64_t *dropped, struct vcm_page_store *store, uint64_t mapping,
                     uint64_t successor, unsigned timeout_ms, const struct vcm_cancel *cancel,
                     struct vcm_error *err);

/* How long a cleanup waits for another writer. The next mapping drops what it leaves. */
#define VCM_MAPPING_CLEANUP_TIMEOUT_MS 1000u

/* Drops every mapping that is neither in force nor being built by a living process. */
int vcm_mapping_drop_abandoned(struct vcm_page_store *store, int lock_fd,
                               const struct vcm_cancel *cancel, struct vcm_error *err);

/*
 * Deletes, in the transaction under way, the rows of a retired mapping whose pages `needs` answers
 * false for; vcm_mapping_drop() deletes the rest. *dropped as there.
 */
typedef int (*vcm_mapping_needs_fn)(bool *needs, void *context, struct vcm_kv_txn *txn,
                                    const struct vcm_page_id *id, struct vcm_error *err);
int vcm_mapping_drop_rows(uint64_t *dropped, struct vcm_transition *t, uint64_t mapping,
                          vcm_mapping_needs_fn needs, void *context, struct vcm_error *err);

/* Whether no other mapping, in any state, holds the page. */
int vcm_mapping_drop_is_only_holder(bool *only, struct vcm_kv_txn *txn,
                                    const struct vcm_page_id *id, uint64_t mapping,
                                    struct vcm_error *err);

/* IN FORCE -> DROPPING. The caller names another mapping in the scope, or deletes the scope. */
int vcm_mapping_drop_retire(struct vcm_kv_txn *txn, uint64_t mapping, struct vcm_error *err);

/* The caller has deleted a holder of the page. Takes the pin of its mapping from the page, and
 * forgets a page that no other mapping holds. */
int vcm_mapping_drop_page(struct vcm_transition *t, const struct vcm_page_id *id, bool pinned,
                          struct vcm_error *err);

#endif
