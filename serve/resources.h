/*
 * resources.h - what the store holds as resources of MCP: scopes, tables of contents, pages,
 * chunks of documents; their templates, and completion of what stands in the templates.
 *
 * A resource is an operation with one argument (a table says which), so that resources repeat what
 * tools give. The context of the features has to begin with a struct vcm_tools.
 */
#ifndef VCM_SERVE_RESOURCES_H
#define VCM_SERVE_RESOURCES_H

#include "serve/mcp.h"

#define VCM_RESOURCES_SCOPES "vcm://scopes"
#define VCM_RESOURCES_SCOPE  "vcm://scope/" /* and the id of the scope */

void vcm_resources_list(struct vcm_mcp_call *call);
void vcm_resources_templates(struct vcm_mcp_call *call);
void vcm_resources_read(struct vcm_mcp_call *call);
void vcm_resources_complete(struct vcm_mcp_call *call);

#endif
