/*
 * mapping_spool.h - the part of a pinned table that waits until the table is known to fit. Private
 * to mapping.c.
 *
 * A pinned table is written as it comes while nobody has to go for it. From the first batch on that
 * needs room, batches wait in a file without a name, so that nobody goes for a table which turns
 * out to be too large: when all of it is there, it is checked against the capacity as a whole.
 */
#ifndef VCM_VCM_MAPPING_MAPPING_SPOOL_H
#define VCM_VCM_MAPPING_MAPPING_SPOOL_H

#include "vcm/mapping/mapping_build.h"

void vcm_mapping_spool_init(struct vcm_mapping_spool *spool);
void vcm_mapping_spool_release(struct vcm_mapping_spool *spool);

/* Whether the queue has to wait: somebody would have to go for it. */
int vcm_mapping_spool_is_due(bool *due, const struct vcm_mapping *mapping,
                             const struct vcm_transition *t, struct vcm_error *err);

/* Moves the queue to the end of the file. STORE_FULL when the pages there cannot be pinned,
 * whatever else is. */
int vcm_mapping_spool_put(struct vcm_mapping *mapping, struct vcm_error *err);

/* Fills the queue with a batch of the file. */
int vcm_mapping_spool_get(struct vcm_mapping *mapping, size_t batch, struct vcm_error *err);

/* STORE_FULL when what is in the file cannot be pinned beside all that is pinned and locked, but
 * for what goes with the scope's table in force. */
int vcm_mapping_spool_check(struct vcm_mapping *mapping, struct vcm_error *err);

/* Whether the new table has the page, in the file, which was checked, or among its rows. */
int vcm_mapping_spool_needs(bool *needs, const struct vcm_mapping *mapping, struct vcm_kv_txn *txn,
                            const struct vcm_page_id *id, struct vcm_error *err);

#endif
