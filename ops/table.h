/*
 * table.h - all operations, in the order in which help shows them.
 */
#ifndef VCM_OPS_TABLE_H
#define VCM_OPS_TABLE_H

#include "ops/op.h"

extern const struct vcm_op *const vcm_ops[]; /* ends with NULL */

#endif
