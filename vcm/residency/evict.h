/*
 * evict.h - which page is evicted next.
 *
 * An eviction set is a set of pages that may be evicted, ordered by a policy, in memory that the
 * caller provides: the heap, or a file that processes share (shm.h). It knows tags (the first 8
 * bytes of a page's id) and sizes; the capacity, pins, locks and views are known to the caller. Two
 * pages with the same tag share a place, so a page may be resident without being in the set.
 * Any thread or process may call vcm_evict_touch() at any time: it takes no lock, follows no link
 * and writes one mark. All other functions are for the writer, one at a time.
 * The memory is never trusted: it holds no pointers, every index is checked before use, every loop
 * is bounded. A function that finds damage sets a flag (vcm_evict_is_damaged()), and the caller
 * then rebuilds the set. Damaged memory leads to worse victims, to nothing else.
 * Invariants E1-E5: vcm_evict_check().
 */
#ifndef VCM_VCM_RESIDENCY_EVICT_H
#define VCM_VCM_RESIDENCY_EVICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The numbers are stored in the memory of a set. */
enum vcm_evict_policy {
    VCM_EVICT_SIEVE = 1, /* the oldest page that was not used since the hand passed it last */
    VCM_EVICT_S3FIFO,    /* a small queue for new pages, a main one for pages used again */
    VCM_EVICT_LRU,       /* least recently used, exactly */
    VCM_EVICT_LFU, /* least often used while in the set; among equals the one used longest ago */
    VCM_EVICT_POLICY_END
};
/* On the history of real repositories SIEVE is worse than LRU, and this one better: see
 * docs/BENCHMARKS.md. */
#define VCM_EVICT_DEFAULT VCM_EVICT_S3FIFO

/* As in `cache.policy`; NULL for a number that is no policy. */
const char *vcm_evict_policy_name(enum vcm_evict_policy policy);
bool vcm_evict_policy_of(enum vcm_evict_policy *out, const char *name);

/* The caller owns the handle, which needs no release. Under VCM_EVICT_SIEVE, pages that are never
 * touched are evicted in the order of insertion. */
struct vcm_evict {
    struct vcm_evict_header *header;
    struct vcm_evict_node *nodes;
    _Atomic uint32_t *table;
    uint32_t *heap;
    uint32_t capacity; /* pages that it can hold */
    uint32_t slots;
    uint32_t table_mask;
};

/* The bytes that a set of `capacity` pages needs. */
size_t vcm_evict_bytes(uint32_t capacity);

/* Makes an empty set in `memory`, which is aligned to 64 bytes, for as many pages as fit. If other
 * processes touch a set in this memory meanwhile, they may mark wrong pages. */
void vcm_evict_init(struct vcm_evict *out, void *memory, size_t bytes,
                    enum vcm_evict_policy policy);

/* Attaches to the set that vcm_evict_init() made there, perhaps in another process. Cheap. False
 * when there is none. */
bool vcm_evict_attach(struct vcm_evict *out, void *memory, size_t bytes);

enum vcm_evict_policy vcm_evict_policy(const struct vcm_evict *set);
uint32_t vcm_evict_count(const struct vcm_evict *set);
bool vcm_evict_is_damaged(const struct vcm_evict *set);

/* Prefetches the cache line that vcm_evict_touch() reads first; useful when there is other work in
 * between. */
void vcm_evict_prefetch(const struct vcm_evict *set, uint64_t tag);

/* Marks the page as used. False when it is not in the set, or when the writer is moving it. */
bool vcm_evict_touch(const struct vcm_evict *set, uint64_t tag);

/* COLD is for pages that were loaded in bulk and not requested: they are evicted before all others,
 * oldest first. A cold page that was used is treated as a new one when its turn comes. */
enum vcm_evict_place { VCM_EVICT_HOT, VCM_EVICT_COLD };

/* Inserts a page, or updates the size (and, when HOT, marks a use) of one that is in the set.
 * VCM_STORE_FULL: the set is full; copy it to a larger memory. VCM_STORE_CORRUPT: rebuild it. */
int vcm_evict_insert(struct vcm_evict *set, uint64_t tag, uint64_t bytes,
                     enum vcm_evict_place place);

/* The next victim; false when there is none. It stays in the set, and remains the answer until it
 * is removed, spared or used. Removing it means that it was evicted, which S3-FIFO remembers. */
bool vcm_evict_next(struct vcm_evict *set, uint64_t *tag);

/* Removes a page; does nothing when it is not in the set. */
void vcm_evict_remove(struct vcm_evict *set, uint64_t tag);

/* Spares a page that may not be evicted: vcm_evict_next() does not return it again before
 * vcm_evict_settle(), which puts all spared pages back as if they were used now. */
void vcm_evict_spare(struct vcm_evict *set, uint64_t tag);
void vcm_evict_settle(struct vcm_evict *set);

/* Copies all pages of `from` into the empty set `to`. With the same policy `to` then behaves as
 * `from` would. With another one the order is kept, the marks of uses are lost, and `from` is empty
 * afterwards. VCM_STORE_FULL when not all fit, VCM_STORE_CORRUPT when `from` is damaged: `to` then
 * has some of them. */
int vcm_evict_copy(struct vcm_evict *to, struct vcm_evict *from);

/* Verifies all of the memory: VCM_OK, or VCM_STORE_CORRUPT with a message. Not while a writer is
 * active.
 *   E1  Slots in use are found through the table under their tag, which is there once.
 *   E2  Each slot is in exactly one place: free, never used, or in the queue or heap of its kind.
 *   E3  Queues are linked in both directions; their counts and bytes are the sums over their pages.
 *   E4  A heap is ordered by the known keys, and none is above the page's mark.
 *   E5  The hand and the candidate name a page of the set, or nothing. */
int vcm_evict_check(const struct vcm_evict *set, struct vcm_error *err);

#endif
