/*
 * schema.h - the command that prints the JSON Schema of what commands print with --json.
 */
#ifndef VCM_CLI_SCHEMA_H
#define VCM_CLI_SCHEMA_H

#include "ops/op.h"

/* About the command line itself (it covers completion, too), so it is not in ops/. */
extern const struct vcm_op vcm_schema_command;

#endif
