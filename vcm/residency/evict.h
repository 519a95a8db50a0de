/*
 * evict.h - which page goes next.
 *
 * A set of pages that may go, ordered by a policy, in memory that the caller gives: the heap, or a
 * file that processes share (shm.h). It knows tags (the first 8 bytes of a page's id) and
 * sizes; what the capacity is, and who is pinned, locked or viewed, the caller knows. Two pages of
 * one tag share a place, so a page may be resident without being in the set.
 * vcm_evict_touch() is for any thread or process at any time: it takes no lock, follows no link and
 * writes one mark. Everything else is for the writer, one at a time.
 * The memory is never trusted: it holds no pointers, every index is checked before use, every loop
 * ends. What is found broken sets a flag (vcm_evict_is_damaged()), upon which the caller makes the
 * set anew. Broken memory costs good choices, never more.
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
    VCM_EVICT_SIEVE = 1, /* oldest that was not used since the hand passed it last */
    VCM_EVICT_S3FIFO,    /* a small queue for newcomers, a main one for what was used again */
    VCM_EVICT_LRU,       /* least recently used, exactly */
    VCM_EVICT_LFU, /* least often used while in the set; among equals the one used longest ago */
    VCM_EVICT_POLICY_END
};
/* On the history of real repositories SIEVE is behind LRU, and this one before it: see
 * docs/BENCHMARKS.md. */
#define VCM_EVICT_DEFAULT VCM_EVICT_S3FIFO

/* As in `cache.policy`; NULL for a number that is no policy. */
const char *vcm_evict_policy_name(enum vcm_evict_policy policy);
bool vcm_evict_policy_of(enum vcm_evict_policy *out, const char *name);

/* A set that is never touched goes in the order of insertion, under VCM_EVICT_SIEVE.
 * The handle is the caller's and needs no release. */
struct vcm_evict {
    struct vcm_evict_header *header;
    struct vcm_evict_node *nodes;
    _Atomic uint32_t *table;
    uint32_t *heap;
    uint32_t capacity; /* pages that it can hold */
    uint32_t slots;
    uint32_t table_mask;
};

/* The memory that so many pages need. */
size_t vcm_evict_bytes(uint32_t capacity);

/* Makes an empty set in `memory`, which is aligned to 64 bytes, for as many pages as fit; not in
 * memory that has a set which others may be touching. */
void vcm_evict_init(struct vcm_evict *out, void *memory, size_t bytes,
                    enum vcm_evict_policy policy);

/* Finds the set that vcm_evict_init() made there, perhaps in another process. Costs next to
 * nothing. False when there is none. */
bool vcm_evict_attach(struct vcm_evict *out, void *memory, size_t bytes);

enum vcm_evict_policy vcm_evict_policy(const struct vcm_evict *set);
uint32_t vcm_evict_count(const struct vcm_evict *set);
bool vcm_evict_is_damaged(const struct vcm_evict *set);

/* Begins to fetch what vcm_evict_touch() will look at first: it costs less when there is something
 * else to do in between. */
void vcm_evict_prefetch(const struct vcm_evict *set, uint64_t tag);

/* Notes a use of the page. False when it is not in the set, or is being moved in it just now. */
bool vcm_evict_touch(const struct vcm_evict *set, uint64_t tag);

/* COLD is for what came in bulk and nobody asked for: all of it goes, oldest first, before anything
 * else does. A cold page that is used counts as a newcomer when its turn comes. */
enum vcm_evict_place { VCM_EVICT_HOT, VCM_EVICT_COLD };

/* Puts a page in, or notes a new size (and, when HOT, a use) of one that is there.
 * VCM_STORE_FULL: no more room; copy the set to a larger memory. VCM_STORE_CORRUPT: make it anew.
 */
int vcm_evict_insert(struct vcm_evict *set, uint64_t tag, uint64_t bytes,
                     enum vcm_evict_place place);

/* The page that goes next; false when there is none. It stays in the set, and is the answer until
 * it was removed, spared or used. Removing it means that it was evicted, which S3-FIFO remembers.
 */
bool vcm_evict_next(struct vcm_evict *set, uint64_t *tag);

/* Takes a page out; nothing happens when it is not there. */
void vcm_evict_remove(struct vcm_evict *set, uint64_t tag);

/* Sets a page that may not go aside: vcm_evict_next() does not give it again before
 * vcm_evict_settle(), which puts all of these back as if they were used now. */
void vcm_evict_spare(struct vcm_evict *set, uint64_t tag);
void vcm_evict_settle(struct vcm_evict *set);

/* Puts all pages of `from` into the empty set `to`. Under the same policy `to` then behaves as
 * `from` would. Under another one the order is kept, what is known of uses is lost, and `from` is
 * empty. VCM_STORE_FULL when not all fit, VCM_STORE_CORRUPT when `from` is damaged: `to` then has
 * some. */
int vcm_evict_copy(struct vcm_evict *to, struct vcm_evict *from);

/* Verifies all of the memory: VCM_OK, or VCM_STORE_CORRUPT with what is wrong. Not while a writer
 * works.
 *   E1  Slots in use are found through the table under their tag, which is there once.
 *   E2  Each slot is in exactly one place: free, never used, or in the queue or heap of its kind.
 *   E3  Queues are whole in both directions; their counts and bytes are the sums over their pages.
 *   E4  A heap is ordered by the keys that were known, and none is above the page's mark.
 *   E5  The hand and the candidate name a page of the set, or nothing. */
int vcm_evict_check(const struct vcm_evict *set, struct vcm_error *err);

#endif
