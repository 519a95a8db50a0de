/*
 * mapping_former.h - whether the scope that a mapping replaces is still the one that its caller
 * read.
 *
 * Between reading a scope and publishing its successor other processes may have mapped, pinned or
 * moved it, or the store may have been replaced. What they did must not be undone.
 */
#ifndef VCM_VCM_MAPPING_MAPPING_FORMER_H
#define VCM_VCM_MAPPING_MAPPING_FORMER_H

#include "base/cancel.h"
#include "vcm/store/page_store.h"

/* How often a change is tried again that found another scope in force, before it is STORE_BUSY. */
#define VCM_MAPPING_FORMER_TRIES 100u

struct vcm_mapping;

/* The revision of a scope as it was read; 0 for one without an id, which stands for none. */
uint64_t vcm_mapping_former_revision(const struct vcm_scope *scope);

/* In the transaction that publishes. VCM_RETRY when another scope is in force than
 * vcm_mapping_options.former. */
int vcm_mapping_former_check(const struct vcm_mapping *mapping, struct vcm_kv_txn *txn,
                             struct vcm_error *err);

/* The same, outside of a mapping: whether the scope with this id is `former`. */
int vcm_mapping_former_is_in_force(bool *out, struct vcm_page_store *store,
                                   struct vcm_slice scope_id, const struct vcm_scope *former,
                                   struct vcm_error *err);

/* Replaces the description of a scope that keeps its table. VCM_RETRY, with nothing changed, when
 * `former` is not in force. */
int vcm_mapping_former_replace(struct vcm_page_store *store, const struct vcm_scope *former,
                               const struct vcm_scope *scope, const struct vcm_cancel *cancel,
                               struct vcm_error *err);

/* STORE_BUSY: the scope was another one each time. */
int vcm_mapping_former_give_up(struct vcm_slice scope_id, struct vcm_error *err);

#endif
