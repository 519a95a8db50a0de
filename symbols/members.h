/*
 * members.h - which definition a member of an object means, where the type of the object is written
 * down: of parameters, fields, variables, of what is made or returned (receiver.h); in its type,
 * and in the types that this one inherits from.
 *
 * Private to resolve.c and its parts.
 */
#ifndef VCM_SYMBOLS_MEMBERS_H
#define VCM_SYMBOLS_MEMBERS_H

#include "symbols/naming.h"

/* `use->name` as a member of what the receiver is. */
struct vcm_naming_answer vcm_members_find(struct vcm_naming *lookup,
                                          const struct vcm_naming_use *use,
                                          struct vcm_slice receiver);

/* What the method that `use->from` is overrides or implements. */
struct vcm_naming_answer vcm_members_find_overridden(struct vcm_naming *lookup,
                                                     const struct vcm_naming_use *use);

#endif
