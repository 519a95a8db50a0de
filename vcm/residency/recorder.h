/*
 * recorder.h - records every read of a page, by any process of the home, for a trace (trace.h).
 *
 * Readers write to a ring in the shared file (shm.h), which the recorder empties every few
 * milliseconds. A home has at most one recorder at a time; it is used by one thread.
 */
#ifndef VCM_VCM_RESIDENCY_RECORDER_H
#define VCM_VCM_RESIDENCY_RECORDER_H

#include "base/cancel.h"
#include "vcm/store/page_store.h"
#include "vcm/store/shm.h"

struct vcm_recorder_options {
    uint64_t duration_ms; /* 0: no end */
    uint64_t count;       /* of accesses, 0: no end */
    /* Called for each access; its time counts from the beginning of the recording. */
    int (*visit)(void *context, const struct vcm_shm_access *access, struct vcm_error *err);
    int (*idle)(void *context, struct vcm_error *err); /* called several times a second; or NULL */
    void *context;
    const struct vcm_cancel *cancel;
};

/* Sets *accesses and *lost also when it ends with VCM_INTERRUPTED. STORE_BUSY while another process
 * records; UNSUPPORTED if the home cannot be written. */
int vcm_recorder_run(uint64_t *accesses, uint64_t *lost, struct vcm_page_store *store,
                     const struct vcm_recorder_options *options, struct vcm_error *err);

#endif
