/*
 * gc.h - drops what no scope refers to, and gives the space back to the file system.
 *
 * Drops page tables that a process which died was building or dropping, with the pages that only
 * they hold; orphans that no view keeps; dictionaries that are not used any more. Then replaces
 * the file by a copy without free pages (base/kv.h). Readers continue meanwhile, and views stay
 * valid.
 */
#ifndef VCM_VCM_MAPPING_GC_H
#define VCM_VCM_MAPPING_GC_H

#include "base/cancel.h"
#include "vcm/store/page_store.h"

struct vcm_gc_result {
    uint64_t pages_dropped;
    uint64_t bytes_before; /* of the file */
    uint64_t bytes_after;
};

/* The store is open for writing, and this thread has no transaction. STORE_BUSY when another
 * process writes for too long; STORE_FULL when the disk has no room for the copy. What was dropped
 * before a failure stays dropped. */
int vcm_gc_run(struct vcm_gc_result *out, struct vcm_page_store *store,
               const struct vcm_cancel *cancel, struct vcm_error *err);

#endif
