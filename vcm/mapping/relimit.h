/*
 * relimit.h - puts other limits in force for a store that is in use.
 *
 * Where limits are kept is not known here: `publish` is called to put them in force. That happens
 * with the writers' lock held, right behind the transaction in which the store was found to keep
 * them. Every write transaction reads the limits at its begin (vcm/residency/transition.h), so no
 * handle of any process writes beyond them afterwards.
 */
#ifndef VCM_VCM_MAPPING_RELIMIT_H
#define VCM_VCM_MAPPING_RELIMIT_H

#include "base/cancel.h"
#include "vcm/store/page_store.h"

typedef int (*vcm_relimit_publish_fn)(void *context, struct vcm_error *err);

/* Sends pages down until the store keeps the limits in force. STORE_FULL when what is pinned or
 * locked exceeds the capacity, STORE_BUSY when views keep pages. */
int vcm_relimit_shrink(struct vcm_page_store *store, const struct vcm_cancel *cancel,
                       struct vcm_error *err);

/* The same for limits that are not in force yet, and then publishes them. What fails leaves the old
 * ones in force. */
int vcm_relimit_capacity(struct vcm_page_store *store, const struct vcm_page_store_limits *limits,
                         vcm_relimit_publish_fn publish, void *context,
                         const struct vcm_cancel *cancel, struct vcm_error *err);

/* Publishes a tokenizer that no stored count contradicts. INVALID_ARGUMENT while a scope is mapped
 * with another one, STORE_BUSY while one is being mapped or unmapped. */
int vcm_relimit_tokenizer(struct vcm_page_store *store, const char *tokenizer,
                          vcm_relimit_publish_fn publish, void *context,
                          const struct vcm_cancel *cancel, struct vcm_error *err);

#endif
