/*
 * find_node.h - the file that a module of JavaScript or TypeScript is in, as Node and the
 * compiler find it: relative to the importing file, by the paths of tsconfig.json, or by the name
 * of a package of the tree. Private to imports.c.
 */
#ifndef VCM_SYMBOLS_FIND_NODE_H
#define VCM_SYMBOLS_FIND_NODE_H

#include "symbols/packages.h"

/* The number of the file, or VCM_TREE_PATHS_NONE; then *external says that the module is none of
 * the tree's. */
uint32_t vcm_find_node(bool *external, const struct vcm_index *index, struct vcm_packages *packages,
                       size_t from, struct vcm_slice target);

#endif
