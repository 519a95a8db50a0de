/*
 * residency.h - what the operations on pages' residency share: names to pages, and what became of
 * them.
 */
#ifndef VCM_API_RESIDENCY_H
#define VCM_API_RESIDENCY_H

#include "api/handle.h"

#define VCM_RESIDENCY_OWNER "cli"

/* "compressed" */
const char *vcm_residency_state_name(enum vcm_page_state state);

/* The pages of a list of names, in an array that the caller frees, or the error of the first name
 * that is none. Opens the store for reading. */
int vcm_residency_find(struct vcm_page_id **out, struct vcm *vcm, const char *const *names,
                       size_t count, struct vcm_error *err);

/* Visits the pages as they are now. */
int vcm_residency_visit(struct vcm *vcm, const struct vcm_page_id *ids, size_t count,
                        vcm_page_outcome_fn visit, void *context, struct vcm_error *err);

/* Appends the frame of a page that is not resident, for a change that makes it so; nothing for one
 * that is. */
int vcm_fault_frame(struct vcm_buf *out, struct vcm *vcm, const struct vcm_page_id *id,
                    struct vcm_error *err);

/* When a lock that is taken now for so long ends: Unix seconds, rounded up. */
uint64_t vcm_residency_until(uint64_t ttl_ms);

#endif
