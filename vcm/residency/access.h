/*
 * access.h - records that a page was read: a mark in the eviction set, a counter, the trace.
 * Private to vcm/.
 *
 * Takes no lock and starts no write. One thread at a time; other threads have one of their own.
 */
#ifndef VCM_VCM_RESIDENCY_ACCESS_H
#define VCM_VCM_RESIDENCY_ACCESS_H

#include "vcm/residency/evict.h"
#include "vcm/store/page_store.h"
#include "vcm/store/shm.h"
#include "vcm/residency/transition_sets.h"

struct vcm_access {
    struct vcm_shm *shm;
    struct vcm_evict set; /* of resident pages, as attached to in `set_memory` */
    void *set_memory;     /* NULL: there is no usable set */
    size_t set_bytes;
};

/* `was` is the state in which the reader found the page; it decides what is counted: a hit, a minor
 * or a major fault. */
void vcm_access_note(struct vcm_access *access, const struct vcm_page_id *id,
                     enum vcm_page_state was, size_t bytes);

/* Prefetches the cache line that a hit will mark; useful when there is other work in between. */
static inline void vcm_access_prefetch(const struct vcm_access *access,
                                       const struct vcm_page_id *id)
{
    if (access->set_memory)
        vcm_evict_prefetch(&access->set, vcm_transition_sets_tag(id));
}

#endif
