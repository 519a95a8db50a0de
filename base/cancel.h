/*
 * cancel.h - a flag by which one thread, or a signal handler, asks another to stop.
 */
#ifndef VCM_BASE_CANCEL_H
#define VCM_BASE_CANCEL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"

struct vcm_cancel {
    atomic_bool requested;
};

static inline void vcm_cancel_request(struct vcm_cancel *cancel)
{
    atomic_store_explicit(&cancel->requested, true, memory_order_relaxed);
}

/* VCM_INTERRUPTED once a stop was asked for. A NULL flag never asks. */
static inline int vcm_cancel_check(const struct vcm_cancel *cancel, struct vcm_error *err)
{
    if (cancel && atomic_load_explicit(&cancel->requested, memory_order_relaxed))
        return vcm_error_set(err, VCM_INTERRUPTED, "interrupted; the store is as it was");
    return VCM_OK;
}

#endif
