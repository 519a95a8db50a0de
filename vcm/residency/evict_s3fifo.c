/*
 * evict_s3fifo.c - S3-FIFO: new pages pass through a small queue and enter the main one only if
 * they were used more than once there, or are inserted again soon after their eviction. In the main
 * queue a page that was used is moved back to the head, up to three times. Uses are counted up to
 * three.
 *
 * The authors give the small queue a tenth of the bytes. Work on a repository comes in bursts, and
 * with a tenth a small cache was four points worse than LRU on the history of a large one. So the
 * share is adapted, as ARC does it: a page that returns soon after it was evicted from the small
 * queue shows that this queue is too small, one from the main queue shows the same of that one, and
 * the rarer of the two has the larger effect. Figures: docs/BENCHMARKS.md.
 */
#include "vcm/residency/evict_set.h"

#include "base/banned.h"

#define USES_MAX     3
#define USES_TO_STAY 2 /* in the small queue */

#define SHARE_MIN 0.1
#define SHARE_MAX 0.6
#define STEP      0.1 /* a page that returns moves the share by this part of its own share */

static void touch(const struct vcm_evict *set, struct vcm_evict_node *node)
{
    uint64_t uses = atomic_load_explicit(&node->mark, memory_order_relaxed);

    (void)set;
    /* If another thread counts a use at the same moment, one of the two may be lost. */
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

/* The memory may hold any number. */
static double share_of(const struct vcm_evict *set)
{
    double share = set->header->small_share;

    return share >= SHARE_MIN && share <= SHARE_MAX ? share : VCM_EVICT_SHARE_START;
}

/* A page that was evicted from the main queue starts again in the small one. */
static bool recall(struct vcm_evict *set, const struct vcm_evict_node *ghost, uint64_t bytes)
{
    struct vcm_evict_header *header = set->header;
    uint64_t all = header->queues[VCM_EVICT_SMALL].bytes + header->queues[VCM_EVICT_MAIN].bytes;
    uint32_t of_main = header->ghosts_of_main;
    uint32_t of_small = header->queues[VCM_EVICT_GHOST].count - of_main;
    bool was_main = ghost->ghost_of == VCM_EVICT_MAIN;
    double same = was_main ? of_main : of_small;
    double other = was_main ? of_small : of_main;
    double step = STEP * (double)bytes / ((double)all + 1);

    if (same > 0 && other > same)
        step *= other / same;
    double share = was_main ? share_of(set) - step : share_of(set) + step;
    header->small_share = share < SHARE_MIN ? SHARE_MIN : share > SHARE_MAX ? SHARE_MAX : share;
    return !was_main;
}

/* Whether the oldest page of a queue is the victim; if not, it is moved to the head of the main
 * queue.
 */
static bool is_victim(struct vcm_evict *set, uint32_t index, uint64_t stay_from, uint64_t left)
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
           (queue->count == 0 ||
            (double)small->bytes >= share_of(set) * (double)(small->bytes + queue->bytes));
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
        if (small ? is_victim(set, index, USES_TO_STAY, 0) : is_victim(set, index, 1, USES_MAX))
            return index;
    }
    return VCM_EVICT_NONE;
}

const struct vcm_evict_rules vcm_evict_s3fifo_rules = {.name = "s3fifo",
                                                       .touch = touch,
                                                       .enter = enter,
                                                       .leave = vcm_evict_set_unlink,
                                                       .choose = choose,
                                                       .recall = recall};
