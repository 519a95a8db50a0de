/*
 * reach.h - what the rules of a language say about a name: what an import brings, what a path of
 * words names, what a call of a type means.
 *
 * Knows descriptors and words, not files; resolve.h looks for the definitions.
 */
#ifndef VCM_SYMBOLS_REACH_H
#define VCM_SYMBOLS_REACH_H

#include "symbols/languages/language.h"

/* What calling a name says when it is a type's. */
enum vcm_reach_call {
    VCM_REACH_OTHER,   /* functions have names of their own: a type is not meant */
    VCM_REACH_CONVERT, /* the type is meant, and nothing is made for certain */
    VCM_REACH_MAKE,    /* an object of the type is made */
};

enum vcm_reach_call vcm_reach_call_of_type(const struct vcm_language_descriptor *language,
                                           enum vcm_symbol_kind kind);

/* Whether the last words of two paths are the same, as many as both have; and whether these are all
 * words of the one and of the other. */
bool vcm_reach_compare_paths(bool *whole_a, bool *whole_b, struct vcm_slice a, struct vcm_slice b);

/* Whether an import lets a name of the module be used without the module's. */
bool vcm_reach_brings_name(const struct vcm_language_descriptor *language,
                           const struct vcm_symbol_import *import, struct vcm_slice name);

/* Whether an import gives this name to what it imports; `joined` when it is a module in that. */
bool vcm_reach_gives_name(bool *joined, const struct vcm_language_descriptor *language,
                          const struct vcm_symbol_import *import, struct vcm_slice name);

#endif
