/*
 * kb_internal.h - what the two files of the knowledge base in api/ share. Private to them.
 */
#ifndef VCM_API_KB_INTERNAL_H
#define VCM_API_KB_INTERNAL_H

#include "api/internal.h"
#include "kb/store.h"

/* Opens the knowledge base; for reading, *out is NULL when there is none. */
int vcm_kb_open_store(struct vcm_store **out, struct vcm *vcm, bool writable,
                      struct vcm_error *err);

#endif
