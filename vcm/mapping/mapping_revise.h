/*
 * mapping_revise.h - turns the table in force into its successor in one transaction, by changing
 * the rows that differ and leaving the others where they are. Private to vcm/.
 *
 * Readers see one table or the other, as they do when a table is built beside it. What does not fit
 * one transaction is built beside it after all.
 */
#ifndef VCM_VCM_MAPPING_MAPPING_REVISE_H
#define VCM_VCM_MAPPING_MAPPING_REVISE_H

#include "vcm/mapping/mapping_build.h"

/* The next page is the base's page `origin`, or VCM_KNOWN_NONE: one that is queued. */
int vcm_mapping_revise_note(struct vcm_mapping *mapping, uint32_t origin, struct vcm_error *err);

/* Whether the queue is all that one transaction should write. */
bool vcm_mapping_revise_is_full(const struct vcm_mapping *mapping);

/* VCM_RETRY, with nothing changed, when it cannot be done in this way or the base has changed. */
int vcm_mapping_revise(struct vcm_mapping *mapping, struct vcm_scope *scope, struct vcm_error *err);

/* Builds a table of its own from here on. VCM_RETRY when the base has changed. */
int vcm_mapping_revise_give_up(struct vcm_mapping *mapping, struct vcm_error *err);

/* VCM_RETRY when the scope is not what it was when the base was read. */
int vcm_mapping_revise_check_base(const struct vcm_mapping *mapping, struct vcm_kv_txn *txn,
                                  struct vcm_error *err);

#endif
