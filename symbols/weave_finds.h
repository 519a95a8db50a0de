/*
 * weave_finds.h - lists of what was found, and their order. Private to extractor.c, weave.c and its
 * parts.
 */
#ifndef VCM_SYMBOLS_WEAVE_FINDS_H
#define VCM_SYMBOLS_WEAVE_FINDS_H

#include "symbols/weave.h"

/* Appends to the list that the role belongs in; the weave says so when there is no memory, or when
 * the list is full. */
void vcm_weave_finds_add(struct vcm_weave *weave, const struct vcm_find *found);

/* Whether both are in one declaration: "int a, b". */
bool vcm_weave_finds_have_same_span(const struct vcm_find *a, const struct vcm_find *b);

/* Whether the find neither defines nor uses its name: it declares a local name, a region or a
 * visibility, or was dropped. */
bool vcm_weave_finds_is_aside(const struct vcm_find *found);

/* Keeps one definition for each name, that of the first pattern of the query, and sorts: outer
 * blocks before inner ones. */
void vcm_weave_finds_drop_repeated(struct vcm_finds *list);

/* In the order of the file; of several for one name the first pattern of the query is first. */
void vcm_weave_finds_sort_uses(struct vcm_finds *list);

/* Whether an import makes the name at this place; `passed` must be sorted. */
bool vcm_weave_finds_is_imported(const struct vcm_weave *weave, uint32_t name);

#endif
