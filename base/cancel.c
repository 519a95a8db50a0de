#include "base/cancel.h"

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
    relay->flag.requested = VCM_CANCEL_IS_RELAY;
    relay->target = target;
}

const struct vcm_cancel *vcm_cancel_relay_set(struct vcm_cancel_relay *relay,
                                              const struct vcm_cancel *target)
{
    return __atomic_exchange_n(&relay->target, target, __ATOMIC_ACQ_REL);
}

bool vcm_cancel_relay_is_requested(const struct vcm_cancel *flag)
{
    const struct vcm_cancel_relay *relay = (const void *)flag;
    const struct vcm_cancel *target = __atomic_load_n(&relay->target, __ATOMIC_ACQUIRE);

    return target && __atomic_load_n(&target->requested, __ATOMIC_RELAXED) != 0;
}
