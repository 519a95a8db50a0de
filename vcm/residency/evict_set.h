/*
 * evict_set.h - the memory of an eviction set, for evict.c and the files of the policies; nobody
 * else includes it.
 *
 * A slot is in one place, told by its kind: a queue, or the heap of a policy that orders by a key.
 * Functions that meet something impossible set the flag and do nothing; a set with the flag takes
 * no more changes, so none of them needs to say more.
 */
#ifndef VCM_VCM_RESIDENCY_EVICT_SET_H
#define VCM_VCM_RESIDENCY_EVICT_SET_H

#include <stdatomic.h>

#include "vcm/residency/evict.h"

#define VCM_EVICT_NONE UINT32_MAX

/* The part of the bytes with which S3-FIFO's small queue begins. */
#define VCM_EVICT_SHARE_START 0.4

enum vcm_evict_kind {
    VCM_EVICT_FREE,
    VCM_EVICT_BULK,   /* inserted cold */
    VCM_EVICT_SPARED, /* set aside until vcm_evict_settle() */
    VCM_EVICT_SMALL,  /* S3-FIFO's newcomers */
    VCM_EVICT_MAIN,   /* in the heap under LRU and LFU */
    VCM_EVICT_GHOST,  /* a tag that S3-FIFO remembers; not in the set */
    VCM_EVICT_KINDS
};

/* New ones come in at the head, the tail is the oldest. */
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
    uint32_t slots_used; /* slots behind these were never used */
    uint32_t heap_len;
    uint32_t hand; /* of SIEVE */
    uint32_t candidate;
    uint32_t ghosts_of_main; /* the other ghosts are of the small queue */
    uint32_t unused;
    double small_share; /* the part of the bytes that S3-FIFO leaves to the small queue */
    struct vcm_evict_queue queues[VCM_EVICT_KINDS];
    /* Written by every use under LRU and LFU: on a cache line of its own. */
    _Alignas(64) _Atomic uint64_t clock;
};

struct vcm_evict_node {
    _Atomic uint64_t tag;
    _Atomic uint64_t mark; /* 0 when unused since it came in cold; otherwise the policy's */
    union {
        struct {
            uint32_t newer;
            uint32_t older;
        } link;
        uint64_t known_key; /* in a heap: the mark as it was when the place was found */
    };
    _Atomic uint32_t kind_bytes; /* kind in the upper 3 bits, size in the others */
    union {
        uint32_t heap_place;
        uint32_t ghost_of; /* the kind that a ghost went from */
    };
};

/* What a policy is. `node` and `index` name the same slot. */
struct vcm_evict_rules {
    const char *name;
    void (*touch)(const struct vcm_evict *set, struct vcm_evict_node *node);
    /* Puts a slot that is in no place into the policy's order, as one that is used now. */
    void (*enter)(struct vcm_evict *set, uint32_t index, bool returned);
    /* Takes it out of the order. */
    void (*leave)(struct vcm_evict *set, uint32_t index);
    /* The one that goes next, or VCM_EVICT_NONE. */
    uint32_t (*choose)(struct vcm_evict *set);
    /* What it is to the policy that a page which went not long ago, and is remembered by this
     * ghost, is back; the result is `returned` above. NULL for policies that remember nobody. */
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

/* The slot of a tag, a ghost's too, and its place in the table; or VCM_EVICT_NONE. While a writer
 * moves entries it may be missed. */
uint32_t vcm_evict_set_find(uint32_t *bucket, const struct vcm_evict *set, uint64_t tag);

/* NULL when there is no such slot, and the set is then damaged. */
struct vcm_evict_node *vcm_evict_set_node(const struct vcm_evict *set, uint32_t index);
void vcm_evict_set_damage(const struct vcm_evict *set);

enum vcm_evict_kind vcm_evict_set_kind(const struct vcm_evict_node *node);
uint32_t vcm_evict_set_size(const struct vcm_evict_node *node);

/* Of a slot that is in no place. What is too large for the field counts as its maximum. */
void vcm_evict_set_resize(struct vcm_evict_node *node, uint64_t bytes);

/* Gives a slot that is in no place a kind, and counts it there; or takes it out of the counts. */
void vcm_evict_set_count_in(struct vcm_evict *set, struct vcm_evict_node *node,
                            enum vcm_evict_kind kind);
void vcm_evict_set_count_out(struct vcm_evict *set, const struct vcm_evict_node *node);

/* The same with the links of a queue. */
void vcm_evict_set_push(struct vcm_evict *set, uint32_t index, enum vcm_evict_kind kind);
void vcm_evict_set_unlink(struct vcm_evict *set, uint32_t index);

/* The oldest of a queue, or VCM_EVICT_NONE. */
uint32_t vcm_evict_set_oldest(const struct vcm_evict *set, enum vcm_evict_kind kind);

/* Puts a slot with its `known_key` into the heap. */
void vcm_evict_heap_push(struct vcm_evict *set, uint32_t index);

#endif
