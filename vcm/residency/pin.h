/*
 * pin.h - what a person asks of single pages: that one stays, or that some go.
 *
 * Pins of whole scopes are a matter of their page tables: mapping.h.
 */
#ifndef VCM_VCM_RESIDENCY_PIN_H
#define VCM_VCM_RESIDENCY_PIN_H

#include "base/cancel.h"
#include "vcm/store/page_store.h"

/* Pins the page by itself, or takes that pin back; *changed: it was not so before. A page that is
 * not resident comes in with `frame`; STORE_BUSY when it is needed and empty. STORE_FULL. */
int vcm_pin_page(bool *changed, struct vcm_page_store *store, const struct vcm_page_id *id,
                 struct vcm_slice frame, bool pinned, const struct vcm_cancel *cancel,
                 struct vcm_error *err);

enum vcm_pin_hindrance {
    VCM_PIN_NONE,
    VCM_PIN_PINNED,
    VCM_PIN_LOCKED,
    VCM_PIN_VIEWED,
};

/* What became of a page that was to go. */
struct vcm_pin_departure {
    struct vcm_page_id id;
    bool is_known; /* false: it is not in the store any more */
    enum vcm_page_state before, after;
    enum vcm_pin_hindrance hindrance; /* why it stayed */
};

/* Sends pages down to `target`, compressed or evicted, and says in `out`, of `count` places, what
 * became of each. One transaction: give a few hundred at a time. */
int vcm_pin_send_down(struct vcm_pin_departure *out, struct vcm_page_store *store,
                      const struct vcm_page_id *ids, unsigned count, enum vcm_page_state target,
                      const struct vcm_cancel *cancel, struct vcm_error *err);

#endif
