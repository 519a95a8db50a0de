/*
 * visibility.h - who may see a definition, by the words before its name and the form of the name,
 * as its language has it. What its container or the file says comes on top (weave.c). Private to
 * this folder.
 */
#ifndef VCM_SYMBOLS_VISIBILITY_H
#define VCM_SYMBOLS_VISIBILITY_H

#include "symbols/symbol.h"

/* Where a definition is. */
struct vcm_visibility_place {
    bool in_type;
    bool promised; /* by an interface, or with the head of a type: public unless a word says else */
};

/* Of a symbol that has its name, kind and signature. */
enum vcm_symbol_visibility vcm_visibility_of(enum vcm_language language,
                                             const struct vcm_symbol *symbol,
                                             const struct vcm_visibility_place *place);

/* Whether a word before it in its container ("private" in a line of its own) is about it too. */
bool vcm_visibility_follows(enum vcm_language language, const struct vcm_symbol *symbol);

#endif
