/*
 * page_view.h - views of pages, and how whatever holds one gives it back.
 */
#ifndef VCM_API_PAGE_VIEW_H
#define VCM_API_PAGE_VIEW_H

#include "api/handle.h"
#include "vcm/residency/view.h"

/* Releases a view that was opened when this process had forked `forks` times; may be NULL. A child
 * that a fork made must not give back what is its parent's. */
void vcm_page_view_give_back(struct vcm_view *view, unsigned forks);

#endif
