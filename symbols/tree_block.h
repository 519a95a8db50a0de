/*
 * tree_block.h - where a definition begins and ends, and where its body begins, by its node in the
 * syntax tree. Private to extractor.c.
 */
#ifndef VCM_SYMBOLS_TREE_BLOCK_H
#define VCM_SYMBOLS_TREE_BLOCK_H

#include <tree_sitter/api.h>

#include "symbols/weave.h"

/* Fills in places and lines. */
void vcm_tree_block_read(struct vcm_find *found, TSNode node,
                         const struct vcm_language_descriptor *language);

/* Corrects those of a definition, whose kind is known, where the grammar leaves that to us. */
void vcm_tree_block_adapt(struct vcm_find *found, TSNode node, const struct vcm_weave *weave);

#endif
