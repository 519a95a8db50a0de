/*
 * mapping_revise.h - turns the table in force, the base, into its successor in one transaction: it
 * changes the rows that differ and does not touch the others. Private to vcm/mapping/.
 *
 * Readers see one table or the other, as they do when a table is built beside the one in force. A
 * revision that does not fit one transaction is given up, and the table is built beside it.
 */
#ifndef VCM_VCM_MAPPING_MAPPING_REVISE_H
#define VCM_VCM_MAPPING_MAPPING_REVISE_H

#include "vcm/mapping/mapping_build.h"

/* Notes that the next page is the base's page `origin`, or VCM_KNOWN_NONE for one that is queued.
 */
int vcm_mapping_revise_note(struct vcm_mapping *mapping, uint32_t origin, struct vcm_error *err);

/* Whether the queue is as large as a transaction may be. */
bool vcm_mapping_revise_is_full(const struct vcm_mapping *mapping);

/* Writes the revision. VCM_RETRY, with nothing changed, when too much differs, a page that differs
 * occurs twice, or the base has changed. */
int vcm_mapping_revise(struct vcm_mapping *mapping, struct vcm_scope *scope, struct vcm_error *err);

/* REVISING -> WRITING: queues all rows so far for a table of its own. VCM_RETRY when the base has
 * changed. */
int vcm_mapping_revise_give_up(struct vcm_mapping *mapping, struct vcm_error *err);

/* VCM_RETRY when the scope is not what it was when the base was read. */
int vcm_mapping_revise_check_base(const struct vcm_mapping *mapping, struct vcm_kv_txn *txn,
                                  struct vcm_error *err);

#endif
