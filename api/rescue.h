/*
 * rescue.h - pins and locks of a damaged store, brought over to the one that replaces it.
 *
 * They are read from the damaged store in a child process, as far as the damage allows, and kept in
 * a file beside the store until the pages and scopes are mapped again.
 */
#ifndef VCM_API_RESCUE_H
#define VCM_API_RESCUE_H

#include "api/handle.h"

/* Reads the damaged store in `directory` and writes the file. The caller holds the writers' lock,
 * so that nothing is pinned after this. */
int vcm_rescue_keep(struct vcm *vcm, const char *directory, struct vcm_error *err);

/* Sets what the file has, and removes it. What belongs to a scope that is still to be mapped again
 * stays in the file; what cannot be set is logged. */
void vcm_rescue_restore(struct vcm *vcm);

#endif
