/*
 * evict_s3fifo.c - S3-FIFO: newcomers pass through a small queue, a tenth of the bytes, and get
 * into the main one only if they were used more than once there, or come back soon after they went.
 * In the main queue a page that was used goes round again, up to three times. A use counts up to
 * three.
 */
#include "vcm/evict_set.h"

#include "base/banned.h"

#define USES_MAX     3
#define SMALL_FACTOR 10 /* the small queue has one part in so many */
#define USES_TO_STAY 2  /* in the small queue */

static void touch(const struct vcm_evict *set, struct vcm_evict_node *node)
{
    uint64_t uses = atomic_load_explicit(&node->mark, memory_order_relaxed);

    (void)set;
    /* A use that is lost to another one at the same moment is no loss. */
    if (uses < USES_MAX)
        atomic_compare_exchange_strong_explicit(&node->mark, &uses, uses + 1, memory_order_relaxed,
                                                memory_order_relaxed);
}

static void enter(struct vcm_evict *set, uint32_t index, bool returned)
{
    struct vcm_evict_node *node = vcm_evict_set_node(set, index);

    if (!node)
        return;
    atomic_store_explicit(&node->mark, 0, memory_order_relaxed);
    vcm_evict_set_push(set, index, returned ? VCM_EVICT_MAIN : VCM_EVICT_SMALL);
}

/* What does not go from the queue's end is moved to the head of the main queue. */
static bool goes_next(struct vcm_evict *set, uint32_t index, uint64_t stay_from, uint64_t left)
{
    struct vcm_evict_node *node = vcm_evict_set_node(set, index);

    if (!node)
        return true;
    uint64_t uses = atomic_load_explicit(&node->mark, memory_order_relaxed);
    if (uses < stay_from)
        return true;
    atomic_store_explicit(&node->mark, left < uses ? left : uses - 1, memory_order_relaxed);
    vcm_evict_set_unlink(set, index);
    vcm_evict_set_push(set, index, VCM_EVICT_MAIN);
    return false;
}

static bool small_is_full(const struct vcm_evict *set)
{
    const struct vcm_evict_queue *small = &set->header->queues[VCM_EVICT_SMALL];
    const struct vcm_evict_queue *queue = &set->header->queues[VCM_EVICT_MAIN];

    return small->count > 0 &&
           (queue->count == 0 || small->bytes >= (small->bytes + queue->bytes) / SMALL_FACTOR);
}

/* A page moves at most once from the small queue and as often as it was used in the main one,
 * unless it is used meanwhile. */
static uint32_t choose(struct vcm_evict *set)
{
    uint64_t steps_max = (USES_MAX + 2) * (uint64_t)set->slots;

    for (uint64_t steps = 0; !vcm_evict_is_damaged(set); steps++) {
        bool small = small_is_full(set);
        uint32_t index = vcm_evict_set_oldest(set, small ? VCM_EVICT_SMALL : VCM_EVICT_MAIN);
        if (index == VCM_EVICT_NONE || steps == steps_max)
            return index;
        if (small ? goes_next(set, index, USES_TO_STAY, 0) : goes_next(set, index, 1, USES_MAX))
            return index;
    }
    return VCM_EVICT_NONE;
}

const struct vcm_evict_rules vcm_evict_s3fifo_rules = {.name = "s3fifo",
                                                       .touch = touch,
                                                       .enter = enter,
                                                       .leave = vcm_evict_set_unlink,
                                                       .choose = choose,
                                                       .remembered = VCM_EVICT_SMALL};
