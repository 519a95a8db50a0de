/*
 * scope.h - what the rules of each language say about names: how far they reach, what reaches a
 * member, what an import brings.
 *
 * Knows languages and words, not files; resolve.h looks for the definitions.
 */
#ifndef VCM_SYMBOLS_REACH_H
#define VCM_SYMBOLS_REACH_H

#include "symbols/symbol.h"

/* How far a name reaches without an import. */
enum vcm_reach_reach {
    VCM_REACH_FILE,
    VCM_REACH_DIRECTORY,
    VCM_REACH_REPOSITORY,
};

enum vcm_reach_reach vcm_reach_reach(enum vcm_language language);

/* Whether names of the one are seen from the other. */
bool vcm_reach_are_kin(enum vcm_language a, enum vcm_language b);

/* Whether a member is only reached through its object. */
bool vcm_reach_names_objects(enum vcm_language language);

/* Whether what is in a function or module is seen from inside of it alone. */
bool vcm_reach_is_closed(enum vcm_language language);

/* Whether a type's members may be in other files than the type. */
bool vcm_reach_spreads_types(enum vcm_language language);

/* What calling a name says when it is a type's. */
enum vcm_reach_call {
    VCM_REACH_OTHER,   /* functions have names of their own: a type is not meant */
    VCM_REACH_CONVERT, /* the type is meant, and nothing is made for certain */
    VCM_REACH_MAKE,    /* an object of the type is made */
};

enum vcm_reach_call vcm_reach_call_of_type(enum vcm_language language, enum vcm_symbol_kind kind);

/* Whether the last words of two paths are the same, as many as both have; and whether these are all
 * words of the one and of the other. */
bool vcm_reach_compare_paths(bool *whole_a, bool *whole_b, struct vcm_slice a, struct vcm_slice b);

/* Whether an import lets a name of the module be used without the module's. */
bool vcm_reach_brings_name(enum vcm_language language, const struct vcm_symbol_import *import,
                           struct vcm_slice name);

/* Whether an import gives this name to what it imports; `joined` when it is a module in that. */
bool vcm_reach_gives_name(bool *joined, enum vcm_language language,
                          const struct vcm_symbol_import *import, struct vcm_slice name);

/* Whether an import of Go is a package of the language. */
bool vcm_reach_is_of_go(struct vcm_slice target);

#endif
