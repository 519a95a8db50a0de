#include "base/cancel.h"

#include <assert.h>

#include "base/clock.h"
#include "base/defaults.h"

#include "base/banned.h"

void vcm_cancel_request(struct vcm_cancel *cancel)
{
    if (cancel)
        __atomic_store_n(&cancel->requested, 1, __ATOMIC_RELAXED);
}

void vcm_cancel_reset(struct vcm_cancel *cancel)
{
    if (cancel)
        __atomic_store_n(&cancel->requested, 0, __ATOMIC_RELAXED);
}

void vcm_cancel_relay_init(struct vcm_cancel_relay *relay, const struct vcm_cancel *target)
{
    assert(!target || __atomic_load_n(&target->requested, __ATOMIC_RELAXED) != VCM_CANCEL_IS_RELAY);
    *relay = (struct vcm_cancel_relay){.flag = {VCM_CANCEL_IS_RELAY}, .target = target};
}

const struct vcm_cancel *vcm_cancel_relay_set(struct vcm_cancel_relay *relay,
                                              const struct vcm_cancel *target)
{
    return __atomic_exchange_n(&relay->target, target, __ATOMIC_ACQ_REL);
}

void vcm_cancel_relay_set_deadline(struct vcm_cancel_relay *relay, uint64_t deadline_ms)
{
    __atomic_store_n(&relay->deadline_ms, deadline_ms, __ATOMIC_RELAXED);
}

void vcm_cancel_relay_set_entries(struct vcm_cancel_relay *relay, uint64_t entries_max)
{
    __atomic_store_n(&relay->entries_max, entries_max, __ATOMIC_RELAXED);
}

static bool is_asked(const struct vcm_cancel_relay *relay)
{
    const struct vcm_cancel *target = __atomic_load_n(&relay->target, __ATOMIC_ACQUIRE);

    return target && __atomic_load_n(&target->requested, __ATOMIC_RELAXED) != 0;
}

static bool is_past(const struct vcm_cancel_relay *relay)
{
    uint64_t deadline_ms = __atomic_load_n(&relay->deadline_ms, __ATOMIC_RELAXED);

    return deadline_ms > 0 && vcm_clock_ms() >= deadline_ms;
}

bool vcm_cancel_relay_is_late(const struct vcm_cancel_relay *relay)
{
    return is_past(relay) && !is_asked(relay);
}

uint64_t vcm_cancel_entries_max(const struct vcm_cancel *cancel)
{
    uint64_t entries_max = 0;

    if (cancel && __atomic_load_n(&cancel->requested, __ATOMIC_RELAXED) == VCM_CANCEL_IS_RELAY)
        entries_max =
            __atomic_load_n(&((const struct vcm_cancel_relay *)(const void *)cancel)->entries_max,
                            __ATOMIC_RELAXED);
    return entries_max > 0 ? entries_max : VCM_DEFAULT_WALK_ENTRIES;
}

bool vcm_cancel_relay_is_requested(const struct vcm_cancel *flag)
{
    const struct vcm_cancel_relay *relay = (const void *)flag;

    return is_asked(relay) || is_past(relay);
}
