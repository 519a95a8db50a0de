/*
 * damage.h - a store that is damaged: it is marked by whoever finds out, and the next map sets it
 * aside and maps its scopes anew (contract 5.5).
 *
 * The marker is a file beside the store with the reason in it. What was set aside is kept until
 * the next damage, for those who want to look at it.
 */
#ifndef VCM_API_DAMAGE_H
#define VCM_API_DAMAGE_H

#include <stdbool.h>

#include "api/handle.h"

/* Marks the store when `rc` says that it is damaged. Returns `rc`, which a user of the library may
 * see: it asserts that it is no private code. */
int vcm_damage_note(struct vcm *vcm, int rc, const struct vcm_error *err);

/* Marks it whatever happened. */
int vcm_damage_mark(const char *home, const char *reason, struct vcm_error *err);

bool vcm_damage_is_marked(const char *home);

/* Sets a marked store aside and takes the mark away; *done tells whether there was one. The
 * caller's handle has the store closed. */
int vcm_damage_set_aside(bool *done, struct vcm *vcm, struct vcm_error *err);

#endif
