/*
 * schema.h - the command that prints what commands print with --json, as JSON Schema.
 */
#ifndef VCM_CLI_SCHEMA_H
#define VCM_CLI_SCHEMA_H

#include "ops/op.h"

/* About the command line itself, completions and all, so it lives here. */
extern const struct vcm_op vcm_schema_command;

#endif
