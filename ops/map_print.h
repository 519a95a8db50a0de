/*
 * map_print.h - prints what a mapping did. Private to ops/.
 */
#ifndef VCM_OPS_MAP_PRINT_H
#define VCM_OPS_MAP_PRINT_H

#include "ops/op.h"

/* Prints the document of `map`: repository and commit, a table of the rows, what was left out, and
 * notes. */
void vcm_map_print(struct vcm_print *out, const struct vcm_json *document);

#endif
