/*
 * stat.h - the document of 'stat', which 'top' repeats. Private to ops/.
 */
#ifndef VCM_OPS_STAT_H
#define VCM_OPS_STAT_H

#include "ops/op.h"

/* The members, without the object around them. */
void vcm_stat_put(struct vcm_jsonw *w, const struct vcm_stat *stat);

#endif
