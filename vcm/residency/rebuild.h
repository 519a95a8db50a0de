/*
 * rebuild.h - the bytes of a page in any state: copied, decompressed, or rebuilt from the source of
 * a scope that holds it.
 *
 * Changes nothing in the store and counts nothing. A rebuilder keeps open sources and the parts of
 * the last long file, so that pages of one file are rebuilt in one pass. One thread at a time.
 */
#ifndef VCM_VCM_RESIDENCY_REBUILD_H
#define VCM_VCM_RESIDENCY_REBUILD_H

#include "vcm/store/page_store.h"

struct vcm_rebuild;

int vcm_rebuild_open(struct vcm_rebuild **out, struct vcm_page_store *store, struct vcm_error *err);
void vcm_rebuild_close(struct vcm_rebuild *rebuild);

/* Appends the frame. NOT_FOUND when the page is evicted and its content no longer exists in any
 * source: the message names path, content and repository. IO_ERROR and the like when the content
 * exists and cannot be read. */
int vcm_rebuild_frame(struct vcm_buf *out, struct vcm_rebuild *rebuild, struct vcm_kv_txn *txn,
                      const struct vcm_page_info *info, struct vcm_error *err);

/* How many items were read from sources so far. */
uint64_t vcm_rebuild_reads(const struct vcm_rebuild *rebuild);

#endif
