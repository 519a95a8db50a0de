/*
 * schema.h - JSON Schema (2020-12) of the documents of operations, made from the tables of
 * result.h.
 *
 * Every described member is required unless it is optional. Other members are allowed only in open
 * objects. Any thread may call these functions: they read constant tables.
 */
#ifndef VCM_OPS_SCHEMA_H
#define VCM_OPS_SCHEMA_H

#include "ops/op.h"

/* Writes the schema of the operation's document; of a stream, that of each object. One value, an
 * object with "type":"object". */
void vcm_schema_put(struct vcm_jsonw *w, const struct vcm_op *op);

/* Writes the schema of the document of a failed call. */
void vcm_schema_put_failure(struct vcm_jsonw *w);

#endif
