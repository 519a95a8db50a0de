/*
 * schema.h - JSON Schema (2020-12) of what operations return, from the tables of result.h.
 *
 * Every described member is required unless it is optional, and nothing else is allowed but in
 * objects that are open. Anyone may call it from any thread; it reads constant tables only.
 */
#ifndef VCM_OPS_SCHEMA_H
#define VCM_OPS_SCHEMA_H

#include "ops/op.h"

/* The schema of the operation's document; of one that goes on, of each object that it passes on.
 * One value, an object with "type":"object". */
void vcm_schema_put(struct vcm_jsonw *w, const struct vcm_op *op);

/* The schema of the document of a call that failed. */
void vcm_schema_put_failure(struct vcm_jsonw *w);

#endif
