/*
 * weave_import.h - what an import in a file's tree names: its target, and the names that it makes.
 * Private to weave.c.
 */
#ifndef VCM_SYMBOLS_WEAVE_IMPORT_H
#define VCM_SYMBOLS_WEAVE_IMPORT_H

#include "symbols/weave.h"

/* How many there can be: a statement of Scala has several. */
size_t vcm_weave_import_count(const struct vcm_weave *weave);

/* Adds one, or several, to the symbols, which have room for all that were counted. */
void vcm_weave_import_put(struct vcm_weave *weave, const struct vcm_find *use);

#endif
