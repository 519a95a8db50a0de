/*
 * binary.h - the record of a file that is not text: one record for the whole file, in base64 if
 * that fits a page, and with an empty text otherwise.
 */
#ifndef VCM_VCM_PAGE_BINARY_H
#define VCM_VCM_PAGE_BINARY_H

#include "vcm/page/split.h"

/* As vcm_split_text(), for bytes. Calls `emit` once. VCM_UNSUPPORTED when the path alone exceeds
 * the budget. */
int vcm_binary_emit(struct vcm_slice path, struct vcm_slice bytes,
                    const struct vcm_split_options *options, vcm_split_part_fn emit, void *context,
                    struct vcm_error *err);

#endif
