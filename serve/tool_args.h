/*
 * tool_args.h - the arguments of a tool: their schema, and their values for an operation.
 *
 * Both come from the parameters of the operation, so that one rule holds for the command line and
 * for models. All mistakes of a call are told at once, because each one that is told alone costs a
 * model another call.
 */
#ifndef VCM_SERVE_TOOL_ARGS_H
#define VCM_SERVE_TOOL_ARGS_H

#include "ops/op.h"
#include "serve/roots.h"

/* The name of a parameter in JSON: "token_budget", and "repo_path" for a repository. */
void vcm_tool_args_name(struct vcm_buf *out, const struct vcm_op_param *param);

/* Writes the JSON Schema of the arguments. */
void vcm_tool_args_put_schema(struct vcm_jsonw *w, const struct vcm_op *op);

/* How much an answer may have. */
#define VCM_TOOL_ARGS_TOKENS_DEFAULT 8000
#define VCM_TOOL_ARGS_TOKENS_MAX     24000

/* Makes the values of a call; they and their texts live in the arena. `arguments` is an object, or
 * NULL for none. *tokens_max bounds the answer. INVALID_ARGUMENT names all that is wrong. */
int vcm_tool_args_take(struct vcm_op_value **out, uint64_t *tokens_max, const struct vcm_op *op,
                       const struct vcm_json *arguments, const struct vcm_roots *roots,
                       struct vcm_arena *arena, struct vcm_error *err);

#endif
