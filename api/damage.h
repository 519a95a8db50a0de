/*
 * damage.h - a damaged store. The process that detects damage marks the store; the next map sets it
 * aside and maps its scopes again (contract 5.5).
 *
 * The marker is a file beside the store that holds the reason. A store that was set aside is kept,
 * for inspection, until the next one is set aside.
 */
#ifndef VCM_API_DAMAGE_H
#define VCM_API_DAMAGE_H

#include <stdbool.h>

#include "api/handle.h"

/* Marks the store when `rc` says that it is damaged. Returns `rc`, which goes to a user of the
 * library: asserts that it is not a private code. */
int vcm_damage_note(struct vcm *vcm, int rc, const struct vcm_error *err);

/* Marks the store unconditionally. */
int vcm_damage_mark(const char *home, const char *reason, struct vcm_error *err);

bool vcm_damage_is_marked(const char *home);

/* Sets a marked store aside and removes the mark; *done is false when there was no mark. The caller
 * has closed the store of its handle. */
int vcm_damage_set_aside(bool *done, struct vcm *vcm, struct vcm_error *err);

#endif
