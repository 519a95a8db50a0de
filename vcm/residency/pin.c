#include "vcm/residency/pin.h"

#include <assert.h>

#include "base/limits.h"
#include "vcm/residency/lock.h"
#include "vcm/residency/transition.h"

#include "base/banned.h"

struct pinning {
    const struct vcm_page_id *id;
    struct vcm_slice frame;
    bool pinned;
    bool changed;
};

static int pin_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct pinning *pinning = context;
    struct vcm_page_info info;
    char hex[VCM_PAGE_ID_HEX + 1];

    int rc = vcm_page_store_page(&info, t->txn, pinning->id, err);
    if (rc == VCM_NOT_FOUND) {
        vcm_page_id_to_hex(hex, pinning->id);
        return vcm_error_set(err, VCM_NOT_FOUND, "there is no page %s", hex);
    }
    pinning->changed = rc == VCM_OK && info.pinned != pinning->pinned;
    if (rc != VCM_OK || !pinning->changed)
        return rc;
    if (pinning->pinned && info.state != VCM_PAGE_RESIDENT && pinning->frame.len == 0)
        return vcm_error_set(err, VCM_STORE_BUSY,
                             "the page was evicted while it was to be pinned; try again");
    if (pinning->pinned)
        rc = vcm_transition_promote(t, &info, pinning->frame, err);
    if (rc == VCM_NO_ROOM)
        return vcm_transition_no_room(t, &info, err);
    if (rc == VCM_OK)
        rc = vcm_transition_pin(t, &info, 0, pinning->pinned, err);
    return rc == VCM_OK ? vcm_transition_check_pinned(t, err) : rc;
}

int vcm_pin_page(bool *changed, struct vcm_page_store *store, const struct vcm_page_id *id,
                 struct vcm_slice frame, bool pinned, const struct vcm_cancel *cancel,
                 struct vcm_error *err)
{
    struct pinning pinning = {id, frame, pinned, false};

    int rc =
        vcm_transition_run(store, pin_change, &pinning, VCM_LIMIT_LOCK_TIMEOUT_MS, cancel, err);
    *changed = rc == VCM_OK && pinning.changed;
    return rc;
}

struct eviction {
    struct vcm_pin_departure *out;
    const struct vcm_page_id *ids;
    unsigned count;
    enum vcm_page_state target;
};

static int find_hindrance(struct vcm_pin_departure *departure, struct vcm_transition *t,
                          const struct vcm_page_info *info, struct vcm_error *err)
{
    struct vcm_page_info apart = *info;
    uint64_t until = 0;
    bool may = false;

    apart.is_volatile = false; /* which does not prevent that it is compressed */
    int rc = vcm_transition_may_go(&may, t, &apart, err);
    if (rc == VCM_OK && !may)
        rc = vcm_lock_until(&until, t->txn, &info->id, t->now_ms, err);
    if (rc == VCM_OK && !may)
        departure->hindrance = vcm_page_store_is_pinned(info) ? VCM_PIN_PINNED
                               : until > 0                    ? VCM_PIN_LOCKED
                                                              : VCM_PIN_VIEWED;
    return rc;
}

static int evict_page(struct vcm_pin_departure *departure, struct vcm_transition *t,
                      enum vcm_page_state target, struct vcm_error *err)
{
    struct vcm_page_info info;

    int rc = vcm_page_store_page(&info, t->txn, &departure->id, err);
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc != VCM_OK)
        return rc;
    departure->is_known = true;
    departure->before = departure->after = info.state;
    if (info.state >= target)
        return VCM_OK;
    rc = find_hindrance(departure, t, &info, err);
    if (rc != VCM_OK || departure->hindrance != VCM_PIN_NONE)
        return rc;
    if (target == VCM_PAGE_COMPRESSED || info.is_volatile)
        rc = info.state == VCM_PAGE_RESIDENT ? vcm_transition_compress(t, &info, err) : VCM_OK;
    else
        rc = vcm_transition_evict(t, &info, err);
    departure->after = info.state;
    if (info.is_volatile && info.state < target)
        departure->hindrance = VCM_PIN_VOLATILE;
    assert(rc != VCM_OK || departure->after >= target || info.is_volatile);
    return rc;
}

static int evict_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct eviction *eviction = context;
    int rc = VCM_OK;

    for (unsigned i = 0; rc == VCM_OK && i < eviction->count; i++) {
        eviction->out[i] = (struct vcm_pin_departure){.id = eviction->ids[i]};
        rc = evict_page(&eviction->out[i], t, eviction->target, err);
    }
    return rc;
}

int vcm_pin_send_down(struct vcm_pin_departure *out, struct vcm_page_store *store,
                      const struct vcm_page_id *ids, unsigned count, enum vcm_page_state target,
                      const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct eviction eviction = {out, ids, count, target};

    assert(target == VCM_PAGE_COMPRESSED || target == VCM_PAGE_EVICTED);
    return vcm_transition_run(store, evict_change, &eviction, VCM_LIMIT_LOCK_TIMEOUT_MS, cancel,
                              err);
}
