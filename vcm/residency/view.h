/*
 * view.h - the bytes of a page, in place in the map, for as long as the caller needs them.
 *
 * A view keeps no transaction open: a slot in a table that all processes share prevents writers
 * from freeing the frame, and a hold keeps the map where it is. When the page is not resident, or
 * when a writer is freeing frames at this moment, the view has a copy in private memory. Several
 * views of one page are independent of each other. A view outlives its cache. The store stays open
 * until the last view is released; any thread may release it. Invariants V1-V4: vcm/README.md.
 */
#ifndef VCM_VCM_RESIDENCY_VIEW_H
#define VCM_VCM_RESIDENCY_VIEW_H

#include "vcm/residency/page_cache.h"

struct vcm_view;

/* What to do when the limit on views is reached. */
enum vcm_view_otherwise {
    VCM_VIEW_BUSY, /* fail with VCM_STORE_BUSY */
    VCM_VIEW_COPY, /* give a view of a copy */
};

/* Counts as one read. NOT_FOUND, err untouched, when there is no such page. */
int vcm_view_open(struct vcm_view **out, struct vcm_page_cache *cache, const struct vcm_page_id *id,
                  enum vcm_view_otherwise otherwise, struct vcm_error *err);
void vcm_view_release(struct vcm_view *view);

struct vcm_slice vcm_view_bytes(const struct vcm_view *view);

/* Whether the bytes are in the map; otherwise they are a copy that the view owns. */
bool vcm_view_is_in_place(const struct vcm_view *view);

#endif
