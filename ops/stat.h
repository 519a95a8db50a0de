/*
 * stat.h - the members of the document of 'stat', which 'top' also has. Private to ops/.
 */
#ifndef VCM_OPS_STAT_H
#define VCM_OPS_STAT_H

#include "ops/op.h"

extern const struct vcm_result_member vcm_stat_result[]; /* over a struct vcm_stat */

#endif
