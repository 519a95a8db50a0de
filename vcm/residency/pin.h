/*
 * pin.h - requests for single pages: pin one, or compress or evict some.
 *
 * A whole scope is pinned through its page table: mapping.h.
 */
#ifndef VCM_VCM_RESIDENCY_PIN_H
#define VCM_VCM_RESIDENCY_PIN_H

#include "base/cancel.h"
#include "vcm/store/page_store.h"

/* Sets or clears the page's own pin; *changed: it had the other value before. A page that is not
 * resident is promoted with `frame`; STORE_BUSY when that is needed and empty. STORE_FULL. */
int vcm_pin_page(bool *changed, struct vcm_page_store *store, const struct vcm_page_id *id,
                 struct vcm_slice frame, bool pinned, const struct vcm_cancel *cancel,
                 struct vcm_error *err);

/* What prevents that a page is compressed or evicted. */
enum vcm_pin_hindrance {
    VCM_PIN_NONE,
    VCM_PIN_PINNED,
    VCM_PIN_LOCKED,
    VCM_PIN_VIEWED,
    VCM_PIN_VOLATILE, /* it was compressed, if there was room: no source can give it again */
};

/* The result for one page that was to be compressed or evicted. */
struct vcm_pin_departure {
    struct vcm_page_id id;
    bool is_known; /* false: the page is no longer in the store */
    enum vcm_page_state before, after;
    enum vcm_pin_hindrance hindrance; /* why it stayed */
};

/* Compresses or evicts pages, as `target` says, and writes the result for each to `out`, which has
 * `count` places. It is one transaction: give a few hundred pages at a time. */
int vcm_pin_send_down(struct vcm_pin_departure *out, struct vcm_page_store *store,
                      const struct vcm_page_id *ids, unsigned count, enum vcm_page_state target,
                      const struct vcm_cancel *cancel, struct vcm_error *err);

#endif
