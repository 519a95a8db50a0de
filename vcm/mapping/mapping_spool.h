/*
 * mapping_spool.h - a temporary file with the batches of a pinned table that wait until the table
 * is known to fit. Private to mapping.c.
 *
 * Batches of a pinned table are written at once as long as no page has to be evicted for them. From
 * the first batch on for which that is not so, batches go to a file without a name. When the table
 * is complete, it is checked against the capacity as a whole. So no page is evicted for a table
 * that turns out to be too large.
 */
#ifndef VCM_VCM_MAPPING_MAPPING_SPOOL_H
#define VCM_VCM_MAPPING_MAPPING_SPOOL_H

#include "vcm/mapping/mapping_build.h"

void vcm_mapping_spool_init(struct vcm_mapping_spool *spool);
void vcm_mapping_spool_release(struct vcm_mapping_spool *spool);

/* Whether pages would have to be evicted for the queue. */
int vcm_mapping_spool_is_due(bool *due, const struct vcm_mapping *mapping,
                             const struct vcm_transition *t, struct vcm_error *err);

/* Moves the queue to the end of the file. STORE_FULL when the pages there exceed the capacity even
 * if nothing else is pinned or locked. */
int vcm_mapping_spool_put(struct vcm_mapping *mapping, struct vcm_error *err);

/* Fills the queue with a batch of the file. */
int vcm_mapping_spool_get(struct vcm_mapping *mapping, size_t batch, struct vcm_error *err);

/* STORE_FULL when the pages of the file, together with all that is pinned and locked, exceed the
 * capacity. Pages that only the scope's table in force pins do not count: the commit drops them. */
int vcm_mapping_spool_check(struct vcm_mapping *mapping, struct vcm_error *err);

/* Whether the new table has the page, in the file or among its rows. After
 * vcm_mapping_spool_check(), which sorts the pages of the file. */
int vcm_mapping_spool_needs(bool *needs, const struct vcm_mapping *mapping, struct vcm_kv_txn *txn,
                            const struct vcm_page_id *id, struct vcm_error *err);

#endif
