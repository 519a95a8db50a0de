/*
 * lock.h - locks on pages: who holds one, until when, and why.
 *
 * Each owner has a lock of its own on a page. A lock whose time is over has no effect; the next
 * call that takes a lock deletes it. A locked page is resident and is not evicted.
 */
#ifndef VCM_VCM_RESIDENCY_LOCK_H
#define VCM_VCM_RESIDENCY_LOCK_H

#include "base/cancel.h"
#include "vcm/store/page_store.h"

struct vcm_lock_request {
    const struct vcm_page_id *ids;
    const struct vcm_slice *frames; /* one for each id, empty where not known; or NULL */
    unsigned count;
    const char *owner;
    uint64_t ttl_ms; /* from when the transaction begins */
    const char *reason;
    unsigned timeout_ms; /* for the writers' lock */
};

/*
 * Locks all of the pages or none; a lock that the owner already has is kept until the later of both
 * times. STORE_FULL when the pinned and locked pages would exceed the capacity, NOT_FOUND for a
 * page that does not exist, VCM_RETRY with `err` untouched when a page's frame is needed and not
 * given: the page was evicted meanwhile.
 */
int vcm_lock_take(struct vcm_page_store *store, const struct vcm_lock_request *request,
                  const struct vcm_cancel *cancel, struct vcm_error *err);

/* Removes the owner's locks on the pages, or those of all owners when `owner` is NULL; *released
 * counts those whose time was not over. */
int vcm_lock_release(uint64_t *released, struct vcm_page_store *store,
                     const struct vcm_page_id *ids, unsigned count, const char *owner,
                     const struct vcm_cancel *cancel, struct vcm_error *err);

/* Until when the page is locked by any owner; 0 when it is not locked. */
int vcm_lock_until(uint64_t *until_ms, struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                   uint64_t now_ms, struct vcm_error *err);

/* How many pages are locked. */
int vcm_lock_pages(uint64_t *pages, struct vcm_kv_txn *txn, uint64_t now_ms, struct vcm_error *err);

/* The bytes of the pages that are locked and not pinned. */
int vcm_lock_bytes(uint64_t *bytes, struct vcm_kv_txn *txn, uint64_t now_ms, struct vcm_error *err);

/* Removes the locks of a page that is being deleted. */
int vcm_lock_drop(struct vcm_kv_txn *txn, const struct vcm_page_id *id, struct vcm_error *err);

struct vcm_lock_info {
    struct vcm_page_id id;
    struct vcm_slice owner;
    uint64_t until_ms; /* Unix time in milliseconds, as `now_ms` above */
    struct vcm_slice reason;
};
typedef int (*vcm_lock_fn)(void *context, const struct vcm_lock_info *lock, struct vcm_error *err);
/* Every lock of a page, or of all pages when `id` is NULL, including those whose time is over. */
int vcm_lock_each(struct vcm_kv_txn *txn, const struct vcm_page_id *id, vcm_lock_fn visit,
                  void *context, struct vcm_error *err);

/* Reads an entry of the table of locks. */
int vcm_lock_get(struct vcm_lock_info *out, struct vcm_slice key, struct vcm_slice value,
                 struct vcm_error *err);

#endif
