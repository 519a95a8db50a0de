/*
 * weave_refer.h - the second walk over the finds of a file: its references, each with the
 * definition that it is in, and its imports. Local names are no references. Private to weave.c.
 */
#ifndef VCM_SYMBOLS_WEAVE_REFER_H
#define VCM_SYMBOLS_WEAVE_REFER_H

#include "symbols/weave_walk.h"

/* Lists the types whose name, called, makes an object; before names are referred to. False without
 * memory. */
bool vcm_weave_refer_list_makers(struct vcm_weave_walk *walk, const struct vcm_weave *weave);

/* Fills in references and imports. INTERNAL without memory. */
int vcm_weave_refer_all(struct vcm_weave_walk *walk, struct vcm_error *err);

#endif
