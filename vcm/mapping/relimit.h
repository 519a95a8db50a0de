/*
 * relimit.h - changes the limits of a store that is in use.
 *
 * This module does not know where limits are stored: it calls `publish` to put them in force. It
 * does so with the writers' lock held, after the commit of the transaction that found the store
 * within the new limits. Every write transaction reads the limits when it begins
 * (vcm/residency/transition.h), so no handle of any process exceeds them afterwards.
 */
#ifndef VCM_VCM_MAPPING_RELIMIT_H
#define VCM_VCM_MAPPING_RELIMIT_H

#include "base/cancel.h"
#include "vcm/store/page_store.h"

typedef int (*vcm_relimit_publish_fn)(void *context, struct vcm_error *err);

/* Compresses and evicts pages until the store is within the limits in force. STORE_FULL when what
 * is pinned or locked exceeds the capacity, STORE_BUSY when views keep pages resident. */
int vcm_relimit_shrink(struct vcm_page_store *store, const struct vcm_cancel *cancel,
                       struct vcm_error *err);

/* The same for limits that are not in force yet, which it then publishes. After a failure the old
 * ones are in force. */
int vcm_relimit_capacity(struct vcm_page_store *store, const struct vcm_page_store_limits *limits,
                         vcm_relimit_publish_fn publish, void *context,
                         const struct vcm_cancel *cancel, struct vcm_error *err);

/* Publishes a tokenizer when no stored count is of another one. INVALID_ARGUMENT while a scope is
 * mapped with another one, STORE_BUSY while one is being mapped or unmapped. */
int vcm_relimit_tokenizer(struct vcm_page_store *store, const char *tokenizer,
                          vcm_relimit_publish_fn publish, void *context,
                          const struct vcm_cancel *cancel, struct vcm_error *err);

#endif
