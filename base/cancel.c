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
