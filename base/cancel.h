/*
 * cancel.h - looking at the flag by which one thread, or a signal handler, asks another to stop.
 *
 * A relay is a flag that stands for another one, which can be changed: what lives longer than a
 * call keeps the relay's flag, and heeds whatever flag the call at hand has.
 */
#ifndef VCM_BASE_CANCEL_H
#define VCM_BASE_CANCEL_H

#include <stdbool.h>

#include "base/error.h"
#include "base/public.h"

#define VCM_CANCEL_IS_RELAY (-1)

struct vcm_cancel_relay {
    struct vcm_cancel flag; /* what is handed out; first, so that the relay is found by it */
    const struct vcm_cancel *target;
};

void vcm_cancel_relay_init(struct vcm_cancel_relay *relay, const struct vcm_cancel *target);

/* Stands for another flag from now on, NULL for none; returns the one before. Neither is a relay.
 * The thread that asks whether to stop must not be doing so meanwhile. */
const struct vcm_cancel *vcm_cancel_relay_set(struct vcm_cancel_relay *relay,
                                              const struct vcm_cancel *target);

/* Whether the flag that a relay's flag stands for asks to stop. */
bool vcm_cancel_relay_is_requested(const struct vcm_cancel *flag);

static inline bool vcm_cancel_is_requested(const struct vcm_cancel *cancel)
{
    int requested = cancel ? __atomic_load_n(&cancel->requested, __ATOMIC_RELAXED) : 0;

    return requested == VCM_CANCEL_IS_RELAY ? vcm_cancel_relay_is_requested(cancel)
                                            : requested != 0;
}

/* VCM_INTERRUPTED once a stop was asked for. A NULL flag never asks. */
static inline int vcm_cancel_check(const struct vcm_cancel *cancel, struct vcm_error *err)
{
    if (vcm_cancel_is_requested(cancel))
        return vcm_error_set(err, VCM_INTERRUPTED, "interrupted; the store is as it was");
    return VCM_OK;
}

#endif
