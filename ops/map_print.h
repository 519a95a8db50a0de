/*
 * map_print.h - what a mapping did, for a person. Private to ops/.
 */
#ifndef VCM_OPS_MAP_PRINT_H
#define VCM_OPS_MAP_PRINT_H

#include "ops/op.h"

/* Prints the document of `map`: what and where, a table of the rows, what was left out, what else
 * is worth knowing. */
void vcm_map_print(struct vcm_print *out, const struct vcm_json *document);

#endif
