/*
 * weave_visibility.h - the visibility of a definition, from the words before it, its container, and
 * what the file exports. visibility.h knows the words alone. Private to weave.c and its parts.
 */
#ifndef VCM_SYMBOLS_WEAVE_VISIBILITY_H
#define VCM_SYMBOLS_WEAVE_VISIBILITY_H

#include "symbols/name_set.h"
#include "symbols/weave_nest.h"

/* What a file exports. */
struct vcm_weave_exports {
    struct vcm_name_set names; /* at the top */
    struct vcm_name_set whole; /* of types with all that they hold */
    struct vcm_name_set parts; /* of what types hold */
};

/* From the finds of a weave. False without memory. */
bool vcm_weave_visibility_list(struct vcm_weave_exports *exports, const struct vcm_weave *weave);
void vcm_weave_visibility_release(struct vcm_weave_exports *exports);

/* Of a symbol that is otherwise complete, found at the nest's current block. */
enum vcm_symbol_visibility vcm_weave_visibility_of(const struct vcm_weave_exports *exports,
                                                   const struct vcm_weave_nest *nest,
                                                   const struct vcm_symbol *symbol,
                                                   const struct vcm_find *found);

#endif
