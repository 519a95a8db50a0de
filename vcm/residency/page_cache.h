/*
 * page_cache.h - reading pages: in place when they are resident, from private memory after a fault.
 *
 * Sits on page_store.h, which knows bytes and keys, and on loader.h, which promotes pages. A read
 * of a resident page takes no lock and starts no write: it sets a mark and counts. A page that is
 * not resident is answered at once, from private memory, and the loader promotes it later together
 * with others: when enough are gathered, or when the cache is flushed or closed. One thread at a
 * time uses a cache; other threads have caches of their own.
 */
#ifndef VCM_VCM_RESIDENCY_PAGE_CACHE_H
#define VCM_VCM_RESIDENCY_PAGE_CACHE_H

#include "base/cancel.h"
#include "vcm/residency/frame_memo.h"
#include "vcm/store/page_store.h"

struct vcm_page_cache;

struct vcm_page_cache_counters {
    uint64_t hits;
    uint64_t minor_faults;
    uint64_t major_faults;
    uint64_t evictions;
    uint64_t private_answers; /* faults whose page was not promoted */
};

int vcm_page_cache_open(struct vcm_page_cache **out, struct vcm_page_store *store,
                        struct vcm_error *err);
void vcm_page_cache_close(struct vcm_page_cache *cache);

struct vcm_page_store *vcm_page_cache_store(const struct vcm_page_cache *cache);

/* The places of the frames that this cache has found. */
const struct vcm_frame_memo *vcm_page_cache_memo(const struct vcm_page_cache *cache);

/* The bytes of a page. */
struct vcm_page_cache_frame {
    struct vcm_slice bytes;
    char *memory; /* holds the bytes after a fault; NULL for a hit */
};

/* Reads a page and counts that. A hit is valid until the transaction ends, a fault until
 * vcm_page_cache_release(). NOT_FOUND, err untouched, when there is no such page. */
int vcm_page_cache_read(struct vcm_page_cache_frame *out, struct vcm_page_cache *cache,
                        struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                        struct vcm_error *err);
/* The same without counting the read and without promoting the page. */
int vcm_page_cache_peek(struct vcm_page_cache_frame *out, struct vcm_page_cache *cache,
                        struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                        struct vcm_error *err);
void vcm_page_cache_release(struct vcm_page_cache_frame *frame);

/* The two halves of a hit: finds a resident page (VCM_NOT_FOUND, err untouched, when it is not
 * resident), and records that it was read. */
int vcm_page_cache_find(struct vcm_slice *out, struct vcm_page_cache *cache, struct vcm_kv_txn *txn,
                        const struct vcm_page_id *id, struct vcm_error *err);
void vcm_page_cache_note_hit(struct vcm_page_cache *cache, const struct vcm_page_id *id,
                             size_t bytes);

/* Promotes the pages that were faulted. Never fails: a page that cannot be promoted is unchanged.
 */
void vcm_page_cache_flush(struct vcm_page_cache *cache);

void vcm_page_cache_counters(struct vcm_page_cache_counters *out,
                             const struct vcm_page_store *store);

#endif
