/*
 * evict_set.h - the memory of an eviction set, for evict.c and the files of the policies; no other
 * file includes it.
 *
 * A slot is in one place, which its kind names: a queue, or the heap of a policy that orders by a
 * key. A function that finds an impossible value sets the damage flag and does nothing. A damaged
 * set is not changed any more, so these functions need no return code.
 */
#ifndef VCM_VCM_RESIDENCY_EVICT_SET_H
#define VCM_VCM_RESIDENCY_EVICT_SET_H

#include <stdatomic.h>

#include "vcm/residency/evict.h"

#define VCM_EVICT_NONE UINT32_MAX

/* The initial share of the bytes that S3-FIFO's small queue may have. */
#define VCM_EVICT_SHARE_START 0.4

enum vcm_evict_kind {
    VCM_EVICT_FREE,
    VCM_EVICT_BULK,   /* inserted cold */
    VCM_EVICT_SPARED, /* not offered until vcm_evict_settle() */
    VCM_EVICT_SMALL,  /* S3-FIFO's new pages */
    VCM_EVICT_MAIN,   /* in the heap under LRU and LFU */
    VCM_EVICT_GHOST,  /* a tag that S3-FIFO remembers; not in the set */
    VCM_EVICT_KINDS
};

/* Slots are added at the head; the tail is the oldest. */
struct vcm_evict_queue {
    uint32_t head;
    uint32_t tail;
    uint32_t count;
    uint32_t unused;
    uint64_t bytes;
};

struct vcm_evict_header {
    uint64_t magic;
    uint32_t capacity;
    _Atomic uint32_t policy;
    _Atomic uint32_t damaged;
    uint32_t count;      /* pages in the set */
    uint32_t slots_used; /* slots from this index on were never used */
    uint32_t heap_len;
    uint32_t hand; /* of SIEVE */
    uint32_t candidate;
    uint32_t ghosts_of_main; /* the other ghosts are of the small queue */
    uint32_t unused;
    double small_share; /* of the bytes, that S3-FIFO's small queue may have */
    struct vcm_evict_queue queues[VCM_EVICT_KINDS];
    /* Every use writes it under LRU and LFU, so it has a cache line of its own. */
    _Alignas(64) _Atomic uint64_t clock;
};

struct vcm_evict_node {
    _Atomic uint64_t tag;
    _Atomic uint64_t mark; /* 0 when not used since a cold insertion; otherwise the policy's */
    union {
        struct {
            uint32_t newer;
            uint32_t older;
        } link;
        uint64_t known_key; /* in a heap: the mark when the slot got its place */
    };
    _Atomic uint32_t kind_bytes; /* kind in the upper 3 bits, size in the others */
    union {
        uint32_t heap_place;
        uint32_t ghost_of; /* the kind that the page had when it was evicted */
    };
};

/* The functions of a policy. `node` and `index` name the same slot. */
struct vcm_evict_rules {
    const char *name;
    void (*touch)(const struct vcm_evict *set, struct vcm_evict_node *node);
    /* Adds a slot that is in no place to the policy's order, as one that is used now. */
    void (*enter)(struct vcm_evict *set, uint32_t index, bool returned);
    /* Removes it from the order. */
    void (*leave)(struct vcm_evict *set, uint32_t index);
    /* The next victim, or VCM_EVICT_NONE. */
    uint32_t (*choose)(struct vcm_evict *set);
    /* Called when a page is inserted that was evicted not long ago, of which `ghost` is what the
     * policy remembers; the result is `returned` above. NULL for policies without ghosts. */
    bool (*recall)(struct vcm_evict *set, const struct vcm_evict_node *ghost, uint64_t bytes);
    bool uses_heap;
};

extern const struct vcm_evict_rules vcm_evict_sieve_rules;
extern const struct vcm_evict_rules vcm_evict_s3fifo_rules;
extern const struct vcm_evict_rules vcm_evict_lru_rules;
extern const struct vcm_evict_rules vcm_evict_lfu_rules;

/* NULL for a number that is no policy. */
const struct vcm_evict_rules *vcm_evict_set_rules(uint32_t policy);

/* Whether slots of the kind are pages of the set. */
bool vcm_evict_set_holds(enum vcm_evict_kind kind);

/* The slot of a tag, of a ghost, too, and its place in the table; or VCM_EVICT_NONE. A search while
 * the writer moves entries may miss it. */
uint32_t vcm_evict_set_find(uint32_t *bucket, const struct vcm_evict *set, uint64_t tag);

/* NULL when there is no such slot; the set is then marked as damaged. */
struct vcm_evict_node *vcm_evict_set_node(const struct vcm_evict *set, uint32_t index);
void vcm_evict_set_damage(const struct vcm_evict *set);

enum vcm_evict_kind vcm_evict_set_kind(const struct vcm_evict_node *node);
uint32_t vcm_evict_set_size(const struct vcm_evict_node *node);

/* Sets the size of a slot that is in no place; a larger size than the field can hold is stored as
 * its maximum. */
void vcm_evict_set_resize(struct vcm_evict_node *node, uint64_t bytes);

/* Gives a slot that is in no place a kind and adds it to the counts of the kind; or removes it from
 * the counts. */
void vcm_evict_set_count_in(struct vcm_evict *set, struct vcm_evict_node *node,
                            enum vcm_evict_kind kind);
void vcm_evict_set_count_out(struct vcm_evict *set, const struct vcm_evict_node *node);

/* The same, and also links it into a queue or unlinks it. */
void vcm_evict_set_push(struct vcm_evict *set, uint32_t index, enum vcm_evict_kind kind);
void vcm_evict_set_unlink(struct vcm_evict *set, uint32_t index);

/* The oldest of a queue, or VCM_EVICT_NONE. */
uint32_t vcm_evict_set_oldest(const struct vcm_evict *set, enum vcm_evict_kind kind);

/* Adds a slot, whose `known_key` is set, to the heap. */
void vcm_evict_heap_push(struct vcm_evict *set, uint32_t index);

#endif
