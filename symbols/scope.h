/*
 * scope.h - what the rules of each language say about names: how far they reach, what reaches a
 * member, what an import brings.
 *
 * Knows languages and words, not files; resolve.h looks for the definitions.
 */
#ifndef VCM_SYMBOLS_SCOPE_H
#define VCM_SYMBOLS_SCOPE_H

#include "symbols/symbol.h"

/* How far a name reaches without an import. */
enum vcm_scope_reach {
    VCM_SCOPE_FILE,
    VCM_SCOPE_DIRECTORY,
    VCM_SCOPE_REPOSITORY,
};

enum vcm_scope_reach vcm_scope_reach(enum vcm_language language);

/* Whether names of the one are seen from the other. */
bool vcm_scope_are_kin(enum vcm_language a, enum vcm_language b);

/* Whether a member is only reached through its object. */
bool vcm_scope_names_objects(enum vcm_language language);

/* Whether what is in a function or module is seen from inside of it alone. */
bool vcm_scope_is_closed(enum vcm_language language);

/* Whether a type's members may be in other files than the type. */
bool vcm_scope_spreads_types(enum vcm_language language);

/* What calling a name says when it is a type's. */
enum vcm_scope_call {
    VCM_SCOPE_OTHER,   /* functions have names of their own: a type is not meant */
    VCM_SCOPE_CONVERT, /* the type is meant, and nothing is made for certain */
    VCM_SCOPE_MAKE,    /* an object of the type is made */
};

enum vcm_scope_call vcm_scope_call_of_type(enum vcm_language language, enum vcm_symbol_kind kind);

/* Whether the last words of two paths are the same, as many as both have; and whether these are all
 * words of the one and of the other. */
bool vcm_scope_compare_paths(bool *whole_a, bool *whole_b, struct vcm_slice a, struct vcm_slice b);

/* Whether an import lets a name of the module be used without the module's. */
bool vcm_scope_brings_name(enum vcm_language language, const struct vcm_symbol_import *import,
                           struct vcm_slice name);

/* Whether an import gives this name to what it imports; `joined` when it is a module in that. */
bool vcm_scope_gives_name(bool *joined, enum vcm_language language,
                          const struct vcm_symbol_import *import, struct vcm_slice name);

/* Whether an import of Go is a package of the language. */
bool vcm_scope_is_of_go(struct vcm_slice target);

#endif
