/*
 * tools.h - the operations as tools of MCP: their list, and calling one.
 *
 * Knows no operation by name: which are tools, what they change and what they take stands in their
 * descriptors (ops/op.h). The result of a tool is the document that the command prints with --json.
 */
#ifndef VCM_SERVE_TOOLS_H
#define VCM_SERVE_TOOLS_H

#include "ops/op.h"
#include "serve/mcp.h"
#include "serve/roots.h"

struct vcm_tools {
    unsigned sets;       /* of enum vcm_op_set */
    bool dots;           /* list names as "kb.search" instead of "kb_search" */
    bool output_schemas; /* list the schemas of results */
    bool read_only;      /* leave out what writes */
    const struct vcm_roots *roots;
};

#define VCM_TOOLS_SETS_DEFAULT                                                                     \
    (VCM_OP_SET_CORE | VCM_OP_SET_CONTEXT | VCM_OP_SET_NAV | VCM_OP_SET_REPO | VCM_OP_SET_KB |     \
     VCM_OP_SET_CORPUS)

/* The names of the sets, in the order of enum vcm_op_set; ends with NULL. */
extern const char *const vcm_tools_set_names[];

/* The operation of a tool's name, in either form, if it is offered; else NULL. */
const struct vcm_op *vcm_tools_find(const struct vcm_tools *tools, const char *name);

/* The next tool that is offered, in the order of the table; *at begins with 0. NULL at the end. */
const struct vcm_op *vcm_tools_next(const struct vcm_tools *tools, size_t *at);

/* Appends the name of a tool as it is listed. */
void vcm_tools_name(struct vcm_buf *out, const struct vcm_tools *tools, const struct vcm_op *op);

/* Writes the definition of a tool as tools/list has it. */
void vcm_tools_put(struct vcm_jsonw *w, const struct vcm_tools *tools, const struct vcm_op *op);

/* Runs an operation on the call's handle and appends its document, or the text in its place when
 * `text` is not NULL. */
int vcm_tools_run(struct vcm_buf *document, struct vcm_buf *text, int *exit_status,
                  struct vcm_mcp_call *call, const struct vcm_op *op,
                  const struct vcm_op_value *values, struct vcm_error *err);

/* The methods; the context of the features has to begin with a struct vcm_tools. */
void vcm_tools_list(struct vcm_mcp_call *call);
void vcm_tools_call(struct vcm_mcp_call *call);

/* Whether the call may take long: a tool that writes or uses the network. */
bool vcm_tools_is_long(const struct vcm_mcp_call *call);

#endif
