/*
 * visibility.h - who may see a definition, by the words before its name and the form of the name,
 * as its language has it. What its container or the file says comes on top (weave.c). Private to
 * this folder.
 */
#ifndef VCM_SYMBOLS_VISIBILITY_H
#define VCM_SYMBOLS_VISIBILITY_H

#include "symbols/symbol.h"

/* Of a symbol that has its name, kind and signature. */
enum vcm_symbol_visibility vcm_visibility_of(enum vcm_language language,
                                             const struct vcm_symbol *symbol, bool in_type);

#endif
