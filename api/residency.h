/*
 * residency.h - shared by the operations on residency: from names to pages, and reporting outcomes.
 */
#ifndef VCM_API_RESIDENCY_H
#define VCM_API_RESIDENCY_H

#include "api/handle.h"

#define VCM_RESIDENCY_OWNER "cli"

/* "compressed" */
const char *vcm_residency_state_name(enum vcm_page_state state);

/* Finds the pages of a list of names; the caller frees the array. Fails with the error of the first
 * name that matches no page. Opens the store for reading. */
int vcm_residency_find(struct vcm_page_id **out, struct vcm *vcm, const char *const *names,
                       size_t count, struct vcm_error *err);

/* Visits the pages with their current state, and with the locks that lasted longer than `now_ms`.
 */
int vcm_residency_visit(struct vcm *vcm, const struct vcm_page_id *ids, size_t count,
                        uint64_t now_ms, vcm_page_outcome_fn visit, void *context,
                        struct vcm_error *err);

/* Appends the frame of a page that is not resident, for a transaction that makes it resident.
 * Appends nothing for a resident page. */
int vcm_fault_frame(struct vcm_buf *out, struct vcm *vcm, const struct vcm_page_id *id,
                    struct vcm_error *err);

/* Whether a lock may last that long. */
int vcm_residency_check_ttl(uint64_t ttl_ms, struct vcm_error *err);

/* The end of a lock as it is reported: Unix seconds, rounded up. */
uint64_t vcm_residency_seconds(uint64_t until_ms);

#endif
