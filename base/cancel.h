/*
 * cancel.h - when work has to stop: the flag by which one thread, or a signal handler, asks another
 * to stop, a time limit, and how many entries of a tree a walk may visit.
 *
 * A relay is a flag that forwards to another flag, which can be replaced: an object that lives
 * longer than one call keeps the relay's flag, and each call sets the flag that counts while it
 * runs. Every walk is given the flag, so the relay also carries the bounds of the walk.
 */
#ifndef VCM_BASE_CANCEL_H
#define VCM_BASE_CANCEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/public.h"

#define VCM_CANCEL_IS_RELAY (-1)

struct vcm_cancel_relay {
    struct vcm_cancel flag; /* for other modules; first: its address is the relay's */
    const struct vcm_cancel *target;
    uint64_t deadline_ms; /* of vcm_clock_ms(); 0 for none */
    uint64_t entries_max; /* 0 for the default */
};

void vcm_cancel_relay_init(struct vcm_cancel_relay *relay, const struct vcm_cancel *target);

/* Forwards to another flag from now on, NULL for none; returns the previous one. Neither may be a
 * relay. No other thread may check the relay during this call. */
const struct vcm_cancel *vcm_cancel_relay_set(struct vcm_cancel_relay *relay,
                                              const struct vcm_cancel *target);

/* From this time on the relay asks to stop; 0 for no time limit. */
void vcm_cancel_relay_set_deadline(struct vcm_cancel_relay *relay, uint64_t deadline_ms);

/* Whether the relay asks to stop because of its time limit alone. */
bool vcm_cancel_relay_is_late(const struct vcm_cancel_relay *relay);

/* How many entries one walk may visit; 0 for the default. */
void vcm_cancel_relay_set_entries(struct vcm_cancel_relay *relay, uint64_t entries_max);

/* The same number, for the walk: the default without a relay. */
uint64_t vcm_cancel_entries_max(const struct vcm_cancel *cancel);

/* Whether the flag behind a relay's flag asks to stop, or its time is over. */
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
