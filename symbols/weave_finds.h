/*
 * weave_finds.h - lists of what was found, and their order. Private to weave.c.
 */
#ifndef VCM_SYMBOLS_WEAVE_FINDS_H
#define VCM_SYMBOLS_WEAVE_FINDS_H

#include "symbols/weave.h"

/* Whether it says something else about a name than what it is, or nothing. */
bool vcm_weave_finds_is_aside(const struct vcm_find *found);

/* Of several definitions by one name keeps the first pattern's. Outer ones come before inner. */
void vcm_weave_finds_drop_repeated(struct vcm_finds *list);

/* In the order of the file; of several for one name the first pattern of the query is first. */
void vcm_weave_finds_sort_uses(struct vcm_finds *list);

#endif
