/*
 * mcp.h - the command `vcm mcp`: the operations as tools of MCP, on standard input and output.
 */
#ifndef VCM_CLI_MCP_H
#define VCM_CLI_MCP_H

#include "ops/op.h"

extern const struct vcm_op vcm_mcp_command;

#endif
