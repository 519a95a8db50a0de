/*
 * weave_walk.h - what the two walks over the finds of a file share: the first defines
 * (weave_define.c), the second refers (weave_refer.c). Private to weave.c and its parts.
 */
#ifndef VCM_SYMBOLS_WEAVE_WALK_H
#define VCM_SYMBOLS_WEAVE_WALK_H

#include "symbols/locals.h"
#include "symbols/name_set.h"
#include "symbols/weave_nest.h"
#include "symbols/weave_visibility.h"

struct vcm_weave_walk {
    struct vcm_weave_nest nest;
    struct vcm_weave_exports exports;
    struct vcm_name_set makers;  /* types whose name, called, makes one */
    struct vcm_name_set holders; /* types that may stand before such a name */
    uint32_t *index_of;          /* for each block 1 + the index of its definition, or 0 */
    bool *open;                  /* for each block whether it is entered */
    struct vcm_locals locals;
};

#endif
