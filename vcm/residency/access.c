#include "vcm/residency/access.h"

#include <assert.h>

#include "base/banned.h"

static void touch(struct vcm_access *access, const struct vcm_page_id *id)
{
    size_t bytes;

    void *memory = vcm_shm_evict_memory(&bytes, access->shm, VCM_SET_RESIDENT);
    if (memory != access->set_memory || bytes != access->set_bytes) {
        bool usable = memory && vcm_evict_attach(&access->set, memory, bytes);
        access->set_memory = usable ? memory : NULL;
        access->set_bytes = usable ? bytes : 0;
    }
    if (access->set_memory)
        vcm_evict_touch(&access->set, vcm_transition_sets_tag(id));
}

void vcm_access_note(struct vcm_access *access, const struct vcm_page_id *id,
                     enum vcm_page_state was, size_t bytes)
{
    static const enum vcm_shm_counter counters[] = {
        [VCM_PAGE_RESIDENT] = VCM_SHM_HITS,
        [VCM_PAGE_COMPRESSED] = VCM_SHM_MINOR_FAULTS,
        [VCM_PAGE_EVICTED] = VCM_SHM_MAJOR_FAULTS,
    };

    assert(was <= VCM_PAGE_EVICTED && bytes <= UINT32_MAX);
    if (was == VCM_PAGE_RESIDENT)
        touch(access, id);
    vcm_shm_count(access->shm, counters[was], 1);
    vcm_shm_trace(access->shm, id, (uint32_t)bytes);
}
