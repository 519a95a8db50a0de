/*
 * map.h - mapping with what only other files of this folder may ask for.
 */
#ifndef VCM_API_MAP_H
#define VCM_API_MAP_H

#include "api/vcm.h"

struct vcm_map_extra {
    bool no_rows;         /* a selection of none */
    const char *map_text; /* in the place of the repository's map; may be NULL */
};

int vcm_map_with(struct vcm_map_result **out, struct vcm *vcm,
                 const struct vcm_map_options *options, const struct vcm_map_extra *extra,
                 struct vcm_error *err);

#endif
