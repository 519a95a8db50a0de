/*
 * failure.h - the document of a failed call, the same for every operation.
 */
#ifndef VCM_OPS_FAILURE_H
#define VCM_OPS_FAILURE_H

#include "base/error.h"
#include "ops/result.h"

/* {"error":{"code","message","details","retryable"}}, over a struct vcm_error. */
extern const struct vcm_result_member vcm_failure_result[];

/* {"code","message"}: why one row or page of a document failed, over a struct vcm_error. */
extern const struct vcm_result_member vcm_failure_cause[];

/* Writes the document. */
void vcm_failure_put(struct vcm_jsonw *w, const struct vcm_error *err);

#endif
