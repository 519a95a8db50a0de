/*
 * evict_heap.c - LRU and LFU: each page has a key that only grows, and the page with the least key
 * is evicted.
 *
 * A use writes the key and does not reorder the heap, so the heap is ordered by the keys as they
 * were when each page got its place. These are never above the current ones: when the key of the
 * page at the top has not grown, it is the least of all; otherwise the page is moved to its place
 * and the new top is examined.
 */
#include "vcm/residency/evict_set.h"

#include "base/banned.h"

/* LFU's key: the number of uses, then the time of the last one. */
#define WHEN_BITS   48
#define WHEN_MASK   ((UINT64_C(1) << WHEN_BITS) - 1)
#define OFTEN_MAX   (UINT64_MAX >> WHEN_BITS)
#define RETRIES_MAX 16 /* when other threads use the same page; after that their use is enough */

static uint64_t now(const struct vcm_evict *set)
{
    return atomic_fetch_add_explicit(&set->header->clock, 1, memory_order_relaxed) + 1;
}

/* A key never falls, also when a thread arrives late with an older time. */
static void raise(struct vcm_evict_node *node, uint64_t old, uint64_t key)
{
    for (unsigned i = 0; i < RETRIES_MAX && old < key; i++)
        if (atomic_compare_exchange_weak_explicit(&node->mark, &old, key, memory_order_relaxed,
                                                  memory_order_relaxed))
            return;
}

static void touch_lru(const struct vcm_evict *set, struct vcm_evict_node *node)
{
    raise(node, atomic_load_explicit(&node->mark, memory_order_relaxed), now(set));
}

static void touch_lfu(const struct vcm_evict *set, struct vcm_evict_node *node)
{
    uint64_t when = now(set) & WHEN_MASK;
    uint64_t old = atomic_load_explicit(&node->mark, memory_order_relaxed);

    for (unsigned i = 0; i < RETRIES_MAX; i++) {
        uint64_t often = old >> WHEN_BITS;
        uint64_t key = (often < OFTEN_MAX ? often + 1 : often) << WHEN_BITS | when;
        if (key <= old || atomic_compare_exchange_weak_explicit(
                              &node->mark, &old, key, memory_order_relaxed, memory_order_relaxed))
            return;
    }
}

/* The page at a place of the heap. */
static struct vcm_evict_node *at(const struct vcm_evict *set, uint32_t place)
{
    return vcm_evict_set_node(set, set->heap[place]);
}

static void put(struct vcm_evict *set, uint32_t place, uint32_t index)
{
    struct vcm_evict_node *node = vcm_evict_set_node(set, index);

    if (!node)
        return;
    set->heap[place] = index;
    node->heap_place = place;
}

static void sift_up(struct vcm_evict *set, uint32_t place, uint32_t index, uint64_t key)
{
    while (place > 0) {
        uint32_t parent = (place - 1) / 2;
        struct vcm_evict_node *node = at(set, parent);
        if (!node || node->known_key <= key)
            break;
        put(set, place, set->heap[parent]);
        place = parent;
    }
    put(set, place, index);
}

static void sift_down(struct vcm_evict *set, uint32_t place, uint32_t index, uint64_t key)
{
    uint64_t len = set->header->heap_len;

    for (uint64_t child; (child = 2 * (uint64_t)place + 1) < len;) {
        struct vcm_evict_node *node = at(set, (uint32_t)child);
        struct vcm_evict_node *other = child + 1 < len ? at(set, (uint32_t)child + 1) : node;
        if (!node || !other)
            break;
        if (other->known_key < node->known_key) {
            child++;
            node = other;
        }
        if (node->known_key >= key)
            break;
        put(set, place, set->heap[child]);
        place = (uint32_t)child;
    }
    put(set, place, index);
}

void vcm_evict_heap_push(struct vcm_evict *set, uint32_t index)
{
    struct vcm_evict_node *node = vcm_evict_set_node(set, index);

    if (!node || set->header->heap_len >= set->capacity) {
        vcm_evict_set_damage(set);
        return;
    }
    vcm_evict_set_count_in(set, node, VCM_EVICT_MAIN);
    sift_up(set, set->header->heap_len++, index, node->known_key);
}

static void enter(struct vcm_evict *set, uint32_t index,
                  void (*touch)(const struct vcm_evict *, struct vcm_evict_node *))
{
    struct vcm_evict_node *node = vcm_evict_set_node(set, index);

    if (!node)
        return;
    if (atomic_load_explicit(&node->mark, memory_order_relaxed) == 0)
        touch(set, node);
    node->known_key = atomic_load_explicit(&node->mark, memory_order_relaxed);
    vcm_evict_heap_push(set, index);
}

static void enter_lru(struct vcm_evict *set, uint32_t index, bool returned)
{
    (void)returned;
    enter(set, index, touch_lru);
}

static void enter_lfu(struct vcm_evict *set, uint32_t index, bool returned)
{
    (void)returned;
    enter(set, index, touch_lfu);
}

static bool heap_is_sound(const struct vcm_evict *set)
{
    if (set->header->heap_len <= set->capacity)
        return true;
    vcm_evict_set_damage(set);
    return false;
}

static void leave(struct vcm_evict *set, uint32_t index)
{
    struct vcm_evict_node *node = vcm_evict_set_node(set, index);

    if (!node || !heap_is_sound(set))
        return;
    uint32_t place = node->heap_place;
    if (place >= set->header->heap_len || set->heap[place] != index) {
        vcm_evict_set_damage(set);
        return;
    }
    vcm_evict_set_count_out(set, node);
    uint32_t last = set->heap[--set->header->heap_len];
    struct vcm_evict_node *moved = vcm_evict_set_node(set, last);
    if (!moved || last == index)
        return;
    if (moved->known_key < node->known_key)
        sift_up(set, place, last, moved->known_key);
    else
        sift_down(set, place, last, moved->known_key);
}

/* Each step moves one page to its final place, unless the page is used meanwhile. */
static uint32_t choose(struct vcm_evict *set)
{
    uint64_t steps_max = 2 * (uint64_t)set->capacity;

    if (set->header->heap_len == 0 || !heap_is_sound(set))
        return VCM_EVICT_NONE;
    for (uint64_t steps = 0;; steps++) {
        uint32_t index = set->heap[0];
        struct vcm_evict_node *node = vcm_evict_set_node(set, index);
        if (!node)
            return VCM_EVICT_NONE;
        if (vcm_evict_set_kind(node) != VCM_EVICT_MAIN) {
            vcm_evict_set_damage(set);
            return VCM_EVICT_NONE;
        }
        uint64_t key = atomic_load_explicit(&node->mark, memory_order_relaxed);
        if (key <= node->known_key || steps == steps_max)
            return index;
        node->known_key = key;
        sift_down(set, 0, index, key);
    }
}

const struct vcm_evict_rules vcm_evict_lru_rules = {.name = "lru",
                                                    .touch = touch_lru,
                                                    .enter = enter_lru,
                                                    .leave = leave,
                                                    .choose = choose,
                                                    .uses_heap = true};

const struct vcm_evict_rules vcm_evict_lfu_rules = {.name = "lfu",
                                                    .touch = touch_lfu,
                                                    .enter = enter_lfu,
                                                    .leave = leave,
                                                    .choose = choose,
                                                    .uses_heap = true};
