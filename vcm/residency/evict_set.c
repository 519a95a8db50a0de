#include "vcm/residency/evict_set.h"

#include <assert.h>

#include "base/banned.h"

#define KIND_SHIFT 29
#define SIZE_MASK  ((UINT32_C(1) << KIND_SHIFT) - 1)

_Static_assert(VCM_EVICT_KINDS <= 1 << (32 - KIND_SHIFT), "a kind fits beside a size");

void vcm_evict_set_damage(const struct vcm_evict *set)
{
    atomic_store_explicit(&set->header->damaged, 1, memory_order_relaxed);
}

struct vcm_evict_node *vcm_evict_set_node(const struct vcm_evict *set, uint32_t index)
{
    if (index < set->slots)
        return &set->nodes[index];
    vcm_evict_set_damage(set);
    return NULL;
}

enum vcm_evict_kind vcm_evict_set_kind(const struct vcm_evict_node *node)
{
    return (enum vcm_evict_kind)(atomic_load_explicit(&node->kind_bytes, memory_order_relaxed) >>
                                 KIND_SHIFT);
}

uint32_t vcm_evict_set_size(const struct vcm_evict_node *node)
{
    return atomic_load_explicit(&node->kind_bytes, memory_order_relaxed) & SIZE_MASK;
}

void vcm_evict_set_resize(struct vcm_evict_node *node, uint64_t bytes)
{
    uint32_t size = bytes < SIZE_MASK ? (uint32_t)bytes : SIZE_MASK;

    atomic_store_explicit(&node->kind_bytes,
                          (uint32_t)vcm_evict_set_kind(node) << KIND_SHIFT | size,
                          memory_order_relaxed);
}

/* The memory may hold any value, and three bits have more values than there are kinds. */
static struct vcm_evict_queue *queue_of(const struct vcm_evict *set,
                                        const struct vcm_evict_node *node)
{
    enum vcm_evict_kind kind = vcm_evict_set_kind(node);

    if (kind < VCM_EVICT_KINDS)
        return &set->header->queues[kind];
    vcm_evict_set_damage(set);
    return NULL;
}

void vcm_evict_set_count_in(struct vcm_evict *set, struct vcm_evict_node *node,
                            enum vcm_evict_kind kind)
{
    uint32_t size = vcm_evict_set_size(node);

    assert(kind < VCM_EVICT_KINDS);
    atomic_store_explicit(&node->kind_bytes, (uint32_t)kind << KIND_SHIFT | size,
                          memory_order_relaxed);
    set->header->queues[kind].count++;
    set->header->queues[kind].bytes += size;
}

void vcm_evict_set_count_out(struct vcm_evict *set, const struct vcm_evict_node *node)
{
    struct vcm_evict_queue *queue = queue_of(set, node);

    if (!queue || queue->count == 0) {
        vcm_evict_set_damage(set);
        return;
    }
    queue->count--;
    queue->bytes -= vcm_evict_set_size(node);
}

void vcm_evict_set_push(struct vcm_evict *set, uint32_t index, enum vcm_evict_kind kind)
{
    struct vcm_evict_node *node = vcm_evict_set_node(set, index);
    struct vcm_evict_queue *queue = &set->header->queues[kind];
    uint32_t head = queue->head;

    if (!node)
        return;
    node->link.newer = VCM_EVICT_NONE;
    node->link.older = head;
    if (head == VCM_EVICT_NONE) {
        queue->tail = index;
    } else {
        struct vcm_evict_node *second = vcm_evict_set_node(set, head);
        if (!second)
            return;
        second->link.newer = index;
    }
    queue->head = index;
    vcm_evict_set_count_in(set, node, kind);
}

/* The link that leads to a slot: from its neighbour, or from the end of the queue. */
static uint32_t *link_to(struct vcm_evict *set, uint32_t neighbour, uint32_t *end, bool upwards)
{
    struct vcm_evict_node *node;

    if (neighbour == VCM_EVICT_NONE)
        return end;
    node = vcm_evict_set_node(set, neighbour);
    if (!node)
        return NULL;
    return upwards ? &node->link.newer : &node->link.older;
}

void vcm_evict_set_unlink(struct vcm_evict *set, uint32_t index)
{
    struct vcm_evict_node *node = vcm_evict_set_node(set, index);
    struct vcm_evict_queue *queue = node ? queue_of(set, node) : NULL;

    if (!queue)
        return;
    uint32_t *from_newer = link_to(set, node->link.newer, &queue->head, false);
    uint32_t *from_older = link_to(set, node->link.older, &queue->tail, true);
    if (!from_newer || !from_older || *from_newer != index || *from_older != index) {
        vcm_evict_set_damage(set);
        return;
    }
    *from_newer = node->link.older;
    *from_older = node->link.newer;
    vcm_evict_set_count_out(set, node);
}

uint32_t vcm_evict_set_oldest(const struct vcm_evict *set, enum vcm_evict_kind kind)
{
    uint32_t tail = set->header->queues[kind].tail;
    struct vcm_evict_node *node;

    if (tail == VCM_EVICT_NONE)
        return VCM_EVICT_NONE;
    node = vcm_evict_set_node(set, tail);
    if (!node)
        return VCM_EVICT_NONE;
    if (vcm_evict_set_kind(node) != kind) {
        vcm_evict_set_damage(set);
        return VCM_EVICT_NONE;
    }
    return tail;
}
