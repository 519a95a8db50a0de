/*
 * page_cache.h - reading pages, and counting how that went.
 *
 * Sits on page_store.h, which knows bytes and keys. The counters live in a small file beside the
 * store that every process maps and changes with atomics: a read takes no lock and starts no write.
 * They may be lost with the machine and then begin anew. A home that cannot be written is read
 * without counting.
 */
#ifndef VCM_VCM_PAGE_CACHE_H
#define VCM_VCM_PAGE_CACHE_H

#include "vcm/page_store.h"

struct vcm_page_cache;

struct vcm_page_cache_counters {
    uint64_t hits;
    uint64_t minor_faults;
    uint64_t major_faults;
    uint64_t evictions;
};

/* Never fails for want of the counters' file; only without memory. */
int vcm_page_cache_open(struct vcm_page_cache **out, const char *directory, struct vcm_error *err);
void vcm_page_cache_close(struct vcm_page_cache *cache);

/* The bytes of a page, in place until the transaction ends. Counts a hit. */
int vcm_page_cache_read(struct vcm_slice *frame, struct vcm_page_cache *cache,
                        struct vcm_kv_txn *txn, const struct vcm_page_info *page,
                        struct vcm_error *err);

void vcm_page_cache_counters(struct vcm_page_cache_counters *out,
                             const struct vcm_page_cache *cache);

#endif
