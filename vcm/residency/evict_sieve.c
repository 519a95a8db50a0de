/*
 * evict_sieve.c - SIEVE: one queue, and a hand that moves from the oldest to the newest page and
 * starts again. The victim is the first page that was not used since the hand passed it last; used
 * pages stay where they are. A use is one bit.
 */
#include "vcm/residency/evict_set.h"

#include "base/banned.h"

static void touch(const struct vcm_evict *set, struct vcm_evict_node *node)
{
    (void)set;
    /* The bit is usually set already; not writing it keeps the cache line shared. */
    if (atomic_load_explicit(&node->mark, memory_order_relaxed) == 0)
        atomic_store_explicit(&node->mark, 1, memory_order_relaxed);
}

static void enter(struct vcm_evict *set, uint32_t index, bool returned)
{
    struct vcm_evict_node *node = vcm_evict_set_node(set, index);

    (void)returned;
    if (!node)
        return;
    atomic_store_explicit(&node->mark, 0, memory_order_relaxed);
    vcm_evict_set_push(set, index, VCM_EVICT_MAIN);
}

static void leave(struct vcm_evict *set, uint32_t index)
{
    struct vcm_evict_node *node = vcm_evict_set_node(set, index);

    if (!node)
        return;
    if (set->header->hand == index)
        set->header->hand = node->link.newer;
    vcm_evict_set_unlink(set, index);
}

/* Readers mark pages while the hand moves, so it may find every page used: after two rounds it
 * takes the page where it is. */
static uint32_t choose(struct vcm_evict *set)
{
    struct vcm_evict_header *header = set->header;
    uint64_t steps_max = 2 * (uint64_t)set->slots;

    for (uint64_t steps = 0;; steps++) {
        if (header->hand == VCM_EVICT_NONE)
            header->hand = vcm_evict_set_oldest(set, VCM_EVICT_MAIN);
        if (header->hand == VCM_EVICT_NONE)
            return VCM_EVICT_NONE;
        struct vcm_evict_node *node = vcm_evict_set_node(set, header->hand);
        if (!node)
            return VCM_EVICT_NONE;
        if (vcm_evict_set_kind(node) != VCM_EVICT_MAIN) {
            vcm_evict_set_damage(set);
            return VCM_EVICT_NONE;
        }
        if (steps == steps_max || atomic_load_explicit(&node->mark, memory_order_relaxed) == 0)
            return header->hand;
        atomic_store_explicit(&node->mark, 0, memory_order_relaxed);
        header->hand = node->link.newer;
    }
}

const struct vcm_evict_rules vcm_evict_sieve_rules = {
    .name = "sieve", .touch = touch, .enter = enter, .leave = leave, .choose = choose};
