/*
 * page_view.h - releasing views of pages.
 */
#ifndef VCM_API_PAGE_VIEW_H
#define VCM_API_PAGE_VIEW_H

#include "api/handle.h"
#include "vcm/residency/view.h"

/* Releases a view; may be NULL. `forks` is the count of forks when it was opened: a child process
 * must not release a view of its parent. */
void vcm_page_view_give_back(struct vcm_view *view, unsigned forks);

#endif
