/*
 * exports.h - what a module has for those who import it: what it defines, and what it passes on.
 *
 * Follows re-exports through any number of files, each name of each file once, up to a bound.
 * Private to resolve.c and its parts.
 */
#ifndef VCM_SYMBOLS_EXPORTS_H
#define VCM_SYMBOLS_EXPORTS_H

#include "symbols/naming.h"

/* What `name` means in the module that `target` is for the file `from`. `use` is that of the
 * reference, which may choose among definitions of one name. */
struct vcm_naming_answer vcm_exports_find(struct vcm_naming *lookup, size_t from,
                                          struct vcm_slice target, struct vcm_slice name,
                                          const struct vcm_naming_use *use);

/* The same of the module that a file is. */
struct vcm_naming_answer vcm_exports_find_in(struct vcm_naming *lookup, size_t file,
                                             struct vcm_slice name,
                                             const struct vcm_naming_use *use);

/* What an imported name means in the file that imports it; not settled when none of its imports has
 * the name. */
struct vcm_naming_answer vcm_exports_find_imported(struct vcm_naming *lookup,
                                                   const struct vcm_naming_use *use);

#endif
