/*
 * serve.h - the command `vcm serve`: the operations by HTTP.
 */
#ifndef VCM_CLI_SERVE_H
#define VCM_CLI_SERVE_H

#include "ops/op.h"

extern const struct vcm_op vcm_serve_command;

#endif
