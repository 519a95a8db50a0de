/*
 * weave_define.h - the first walk over the finds of a file: its definitions, in order, with their
 * containers. A value that is defined in a function becomes a local name. Private to weave.c.
 */
#ifndef VCM_SYMBOLS_WEAVE_DEFINE_H
#define VCM_SYMBOLS_WEAVE_DEFINE_H

#include "symbols/weave_walk.h"

/* Fills in the definitions, and which blocks are entered. Without memory the weave says so. */
void vcm_weave_define_all(struct vcm_weave_walk *walk);

#endif
