/*
 * cancel.h - looking at the flag by which one thread, or a signal handler, asks another to stop.
 */
#ifndef VCM_BASE_CANCEL_H
#define VCM_BASE_CANCEL_H

#include <stdbool.h>

#include "base/error.h"
#include "base/public.h"

static inline bool vcm_cancel_is_requested(const struct vcm_cancel *cancel)
{
    return cancel && __atomic_load_n(&cancel->requested, __ATOMIC_RELAXED) != 0;
}

/* VCM_INTERRUPTED once a stop was asked for. A NULL flag never asks. */
static inline int vcm_cancel_check(const struct vcm_cancel *cancel, struct vcm_error *err)
{
    if (vcm_cancel_is_requested(cancel))
        return vcm_error_set(err, VCM_INTERRUPTED, "interrupted; the store is as it was");
    return VCM_OK;
}

#endif
