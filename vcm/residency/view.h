/*
 * view.h - the bytes of a page where they lie in the map, for as long as the caller wants.
 *
 * No transaction stays open for it: a slot in a table that all processes share keeps the frame from
 * being freed, and the map from moving. A page that is not resident is viewed in private memory,
 * and so is one whose neighbours are being freed just now. Views of one page are as many as were
 * opened. A view outlives its cache and its store, which stays open until the last one is released;
 * any thread may release it. Invariants V1-V4: vcm/README.md.
 */
#ifndef VCM_VCM_RESIDENCY_VIEW_H
#define VCM_VCM_RESIDENCY_VIEW_H

#include "vcm/residency/page_cache.h"

struct vcm_view;

/* What to do when there are as many views as there may be. */
enum vcm_view_otherwise {
    VCM_VIEW_BUSY, /* VCM_STORE_BUSY */
    VCM_VIEW_COPY, /* a view of a copy */
};

/* Counts as one read. NOT_FOUND, err untouched, when there is no such page. */
int vcm_view_open(struct vcm_view **out, struct vcm_page_cache *cache, const struct vcm_page_id *id,
                  enum vcm_view_otherwise otherwise, struct vcm_error *err);
void vcm_view_release(struct vcm_view *view);

struct vcm_slice vcm_view_bytes(const struct vcm_view *view);

/* Whether the bytes lie in the map, and not in memory of the view's own. */
bool vcm_view_is_in_place(const struct vcm_view *view);

#endif
