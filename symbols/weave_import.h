/*
 * weave_import.h - the imports of a file, from what was found. Private to weave_refer.c.
 */
#ifndef VCM_SYMBOLS_WEAVE_IMPORT_H
#define VCM_SYMBOLS_WEAVE_IMPORT_H

#include "symbols/weave.h"

/* An upper bound of their number: one statement may have several. */
size_t vcm_weave_import_count(const struct vcm_weave *weave);

/* Appends those of a find to the symbols, which have room for them. */
void vcm_weave_import_put(struct vcm_weave *weave, const struct vcm_find *use);

/* Adds what the file gives to others by another name, or by none, as imports from itself. */
void vcm_weave_import_put_given(struct vcm_weave *weave);

#endif
