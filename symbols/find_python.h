/*
 * find_python.h - the file that a module of Python is in: relative to the package of the importing
 * file, or in one of the directories from which packages are found. Private to imports.c.
 */
#ifndef VCM_SYMBOLS_FIND_PYTHON_H
#define VCM_SYMBOLS_FIND_PYTHON_H

#include "symbols/index.h"

/* The number of the file, or VCM_TREE_PATHS_NONE; then *external says that the module is none of
 * the tree's. A directory without a file of its own is a module that has others. `packages` are the
 * "__init__.py" of all directories by the name of the target's first word. */
uint32_t vcm_find_python(bool *external, const struct vcm_index *index, size_t from,
                         struct vcm_slice target, const uint32_t *packages, size_t count);

/* "a" of "a.b". */
struct vcm_slice vcm_find_python_first_word(struct vcm_slice target);

#endif
