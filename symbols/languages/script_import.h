/*
 * script_import.h - the names that an import of JavaScript or TypeScript makes, from the text
 * around its target. Private to script.c.
 */
#ifndef VCM_SYMBOLS_LANGUAGES_SCRIPT_IMPORT_H
#define VCM_SYMBOLS_LANGUAGES_SCRIPT_IMPORT_H

#include "base/buf.h"

/* Of the module whose name, without its quotes, is at [start, end): appends the one name that
 * stands for all of it, "-" when there is none, or a list of names in it and returns true:
 * "default as a, b, c as d"; *passed when the file exports these, and has none of them itself. */
bool vcm_script_import_names(struct vcm_buf *out, bool *passed, struct vcm_slice text, size_t start,
                             size_t end);

#endif
