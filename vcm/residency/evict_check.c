/*
 * evict_check.c - the invariants of an eviction set, verified slot by slot.
 */
#include "vcm/residency/evict_set.h"

#include "base/banned.h"

static int wrong(struct vcm_error *err, const char *which, const char *what)
{
    return vcm_error_set(err, VCM_STORE_CORRUPT, "the eviction set is damaged: %s: %s", which,
                         what);
}

/* E2 and E3, from the oldest slot on. A queue whose links agree in both directions has no loop. */
static int check_queue(const struct vcm_evict *set, enum vcm_evict_kind kind, struct vcm_error *err)
{
    const struct vcm_evict_queue *queue = &set->header->queues[kind];
    uint32_t older = VCM_EVICT_NONE;
    uint32_t index = queue->tail;
    uint32_t count = 0;
    uint32_t of_main = 0;
    uint64_t bytes = 0;

    for (; index != VCM_EVICT_NONE && count < set->slots; count++) {
        if (index >= set->header->slots_used)
            return wrong(err, "E2", "a queue names a slot that was never used");
        const struct vcm_evict_node *node = &set->nodes[index];
        if (vcm_evict_set_kind(node) != kind)
            return wrong(err, "E2", "a page is in a queue of another kind");
        if (node->link.older != older)
            return wrong(err, "E3", "a queue is not the same in both directions");
        bytes += vcm_evict_set_size(node);
        of_main += kind == VCM_EVICT_GHOST && node->ghost_of == VCM_EVICT_MAIN;
        older = index;
        index = node->link.newer;
    }
    if (index != VCM_EVICT_NONE || queue->head != older)
        return wrong(err, "E3", "a queue does not end at its head");
    if (count != queue->count || bytes != queue->bytes ||
        (kind == VCM_EVICT_GHOST && of_main != set->header->ghosts_of_main))
        return wrong(err, "E3", "the counts of a queue are wrong");
    return VCM_OK;
}

/* E2, E3 and E4 for the heap. */
static int check_heap(const struct vcm_evict *set, struct vcm_error *err)
{
    const struct vcm_evict_queue *queue = &set->header->queues[VCM_EVICT_MAIN];
    uint64_t bytes = 0;

    if (set->header->heap_len != queue->count || queue->count > set->capacity)
        return wrong(err, "E3", "the length of the heap is wrong");
    for (uint32_t i = 0; i < queue->count; i++) {
        if (set->heap[i] >= set->header->slots_used)
            return wrong(err, "E2", "the heap names a slot that was never used");
        const struct vcm_evict_node *node = &set->nodes[set->heap[i]];
        if (vcm_evict_set_kind(node) != VCM_EVICT_MAIN || node->heap_place != i)
            return wrong(err, "E2", "a page is not at its place in the heap");
        if (i > 0 && set->nodes[set->heap[(i - 1) / 2]].known_key > node->known_key)
            return wrong(err, "E4", "the heap is out of order");
        if (node->known_key > atomic_load(&node->mark))
            return wrong(err, "E4", "a key is above its mark");
        bytes += vcm_evict_set_size(node);
    }
    return bytes == queue->bytes ? VCM_OK : wrong(err, "E3", "the bytes of the heap are wrong");
}

static int check_places(const struct vcm_evict *set, bool uses_heap, struct vcm_error *err)
{
    const struct vcm_evict_queue *queues = set->header->queues;
    uint64_t slots = 0;
    uint64_t pages = 0;

    for (enum vcm_evict_kind kind = VCM_EVICT_FREE; kind < VCM_EVICT_KINDS; kind++) {
        int rc = kind == VCM_EVICT_MAIN && uses_heap ? check_heap(set, err)
                                                     : check_queue(set, kind, err);
        if (rc != VCM_OK)
            return rc;
        slots += queues[kind].count;
        pages += vcm_evict_set_holds(kind) ? queues[kind].count : 0;
    }
    if (slots != set->header->slots_used)
        return wrong(err, "E2", "a slot is in no place, or in two places");
    if (pages != set->header->count)
        return wrong(err, "E3", "the number of pages is wrong");
    return VCM_OK;
}

/* E1. Each slot in use is found, and there are as many entries as such slots: so every entry
 * belongs to a slot. */
static int check_table(const struct vcm_evict *set, struct vcm_error *err)
{
    uint32_t in_use = set->header->slots_used - set->header->queues[VCM_EVICT_FREE].count;
    uint64_t entries = 0;
    uint32_t bucket;

    for (uint64_t i = 0; i <= set->table_mask; i++)
        entries += atomic_load_explicit(&set->table[i], memory_order_relaxed) != 0;
    if (entries != in_use)
        return wrong(err, "E1", "the table does not have one entry for each slot in use");
    for (uint32_t i = 0; i < set->header->slots_used; i++)
        if (vcm_evict_set_kind(&set->nodes[i]) != VCM_EVICT_FREE &&
            vcm_evict_set_find(&bucket, set, atomic_load(&set->nodes[i].tag)) != i)
            return wrong(err, "E1", "a page is not found under its tag");
    return VCM_OK;
}

static bool is_page(const struct vcm_evict *set, uint32_t index)
{
    return index < set->header->slots_used &&
           vcm_evict_set_holds(vcm_evict_set_kind(&set->nodes[index]));
}

int vcm_evict_check(const struct vcm_evict *set, struct vcm_error *err)
{
    const struct vcm_evict_header *header = set->header;
    const struct vcm_evict_rules *rules = vcm_evict_set_rules(vcm_evict_policy(set));

    if (!rules || header->capacity != set->capacity || header->slots_used > set->slots ||
        header->count > set->capacity || vcm_evict_is_damaged(set))
        return wrong(err, "header", "it is marked as damaged, or has impossible numbers");
    int rc = check_places(set, rules->uses_heap, err);
    if (rc == VCM_OK)
        rc = check_table(set, err);
    if (rc != VCM_OK)
        return rc;
    if (header->hand != VCM_EVICT_NONE &&
        (!is_page(set, header->hand) ||
         vcm_evict_set_kind(&set->nodes[header->hand]) != VCM_EVICT_MAIN))
        return wrong(err, "E5", "the hand names no page of the main queue");
    if (header->candidate != VCM_EVICT_NONE && !is_page(set, header->candidate))
        return wrong(err, "E5", "the candidate is no page of the set");
    return VCM_OK;
}
