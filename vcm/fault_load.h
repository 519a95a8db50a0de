/*
 * fault_load.h - loads pages in one pass and lets them in with one transaction. Private to vcm/.
 */
#ifndef VCM_VCM_FAULT_LOAD_H
#define VCM_VCM_FAULT_LOAD_H

#include "vcm/fault.h"

/* Says in `out` what became of each page, and counts it as read. */
void vcm_fault_load(struct vcm_fault_outcome *out, struct vcm_page_store *store,
                    const struct vcm_page_id *ids, unsigned count);

#endif
