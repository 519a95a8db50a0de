/*
 * import_text.h - what an import says, from its text: the module, and the names that it makes.
 * Which file that is, imports.h knows. Private to weave.c.
 */
#ifndef VCM_SYMBOLS_IMPORT_TEXT_H
#define VCM_SYMBOLS_IMPORT_TEXT_H

#include "symbols/weave.h"

/* How many imports there can be. */
size_t vcm_import_text_count(const struct vcm_weave *weave);

/* Puts those of one use to the symbols, which have room for them. */
void vcm_import_text_put(struct vcm_weave *weave, const struct vcm_find *use);

#endif
