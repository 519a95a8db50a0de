#include "serve/tools.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "ops/failure.h"
#include "ops/schema.h"
#include "ops/table.h"
#include "serve/tool_args.h"

#include "base/banned.h"

#define PROGRESS_MS 100u
/* The list of tools does not change while a server runs. */
#define LIST_TTL_MS 3600000u

const char *const vcm_tools_set_names[] = {"core", "context", "nav",   "repo",
                                           "kb",   "corpus",  "store", NULL};

static const struct vcm_tools *tools_of(const struct vcm_mcp_call *call)
{
    return vcm_mcp_features_of(call->mcp)->context;
}

/* Whether the client of this call may use the tool. */
static bool is_allowed(const struct vcm_mcp_call *call, const struct vcm_op *op)
{
    return !(call->is_read_only && op->tool.effects & VCM_OP_WRITES);
}

static bool is_offered(const struct vcm_tools *tools, const struct vcm_op *op)
{
    return op->tool.sets & tools->sets && !(tools->read_only && op->tool.effects & VCM_OP_WRITES);
}

/* The words of an operation's name are joined by a dot or by an underscore. */
static bool is_name_of(const struct vcm_op *op, const char *name)
{
    const char *own = op->name;

    for (; *own && *name; own++, name++)
        if (*own != *name && !(*own == ' ' && (*name == '.' || *name == '_')))
            return false;
    return *own == *name;
}

const struct vcm_op *vcm_tools_next(const struct vcm_tools *tools, size_t *at)
{
    while (vcm_ops[*at] && !is_offered(tools, vcm_ops[*at]))
        (*at)++;
    return vcm_ops[*at] ? vcm_ops[(*at)++] : NULL;
}

const struct vcm_op *vcm_tools_find(const struct vcm_tools *tools, const char *name)
{
    const struct vcm_op *op;

    for (size_t at = 0; (op = vcm_tools_next(tools, &at));)
        if (is_name_of(op, name))
            return op;
    return NULL;
}

void vcm_tools_name(struct vcm_buf *out, const struct vcm_tools *tools, const struct vcm_op *op)
{
    for (const char *p = op->name; *p; p++)
        vcm_buf_append_byte(out, *p != ' ' ? *p : tools->dots ? '.' : '_');
}

static void put_hints(struct vcm_jsonw *w, const struct vcm_op_tool *tool)
{
    bool writes = tool->effects & VCM_OP_WRITES;

    vcm_jsonw_key(w, "annotations");
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_bool(w, "readOnlyHint", !writes);
    vcm_jsonw_member_bool(w, "destructiveHint", tool->effects & VCM_OP_DESTROYS);
    vcm_jsonw_member_bool(w, "idempotentHint", !writes || tool->effects & VCM_OP_IDEMPOTENT);
    vcm_jsonw_member_bool(w, "openWorldHint", tool->effects & VCM_OP_NETWORK);
    vcm_jsonw_end_object(w);
}

void vcm_tools_put(struct vcm_jsonw *w, const struct vcm_tools *tools, const struct vcm_op *op)
{
    struct vcm_buf name = VCM_BUF_INIT(VCM_KIB);

    vcm_tools_name(&name, tools, op);
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "name", vcm_buf_text(&name));
    vcm_jsonw_member_string(w, "title", op->tool.title);
    vcm_jsonw_member_string(w, "description", op->tool.summary);
    vcm_jsonw_key(w, "inputSchema");
    vcm_tool_args_put_schema(w, op);
    if (tools->output_schemas) {
        vcm_jsonw_key(w, "outputSchema");
        vcm_schema_put(w, op);
    }
    put_hints(w, &op->tool);
    vcm_jsonw_end_object(w);
    vcm_buf_release(&name);
}

void vcm_tools_list(struct vcm_mcp_call *call)
{
    const struct vcm_tools *tools = tools_of(call);
    const struct vcm_op *op;

    call->ttl_ms = LIST_TTL_MS;
    vcm_jsonw_key(&call->w, "tools");
    vcm_jsonw_begin_array(&call->w);
    for (size_t at = 0; (op = vcm_tools_next(tools, &at));)
        if (is_allowed(call, op))
            vcm_tools_put(&call->w, tools, op);
    vcm_jsonw_end_array(&call->w);
}

/* Progress of an operation for a client that asked for it. */
struct progress {
    struct vcm_mcp_call *call;
    uint64_t sent_ms, sent;
};

static void show_progress(void *context, const struct vcm_progress *progress)
{
    struct progress *state = context;
    uint64_t now = vcm_clock_ms();
    char text[128];

    if (progress->files <= state->sent || now - state->sent_ms < PROGRESS_MS)
        return;
    if (progress->files_total > 0)
        snprintf(text, sizeof text, "%llu of %llu files", (unsigned long long)progress->files,
                 (unsigned long long)progress->files_total);
    else
        snprintf(text, sizeof text, "%llu files, %llu pages, %llu tokens",
                 (unsigned long long)progress->files, (unsigned long long)progress->pages,
                 (unsigned long long)progress->tokens);
    vcm_mcp_notice_progress(state->call, progress->files, progress->files_total, text);
    state->sent = progress->files;
    state->sent_ms = now;
}

int vcm_tools_run(struct vcm_buf *document, struct vcm_buf *text, int *exit_status,
                  struct vcm_mcp_call *call, const struct vcm_op *op,
                  const struct vcm_op_value *values, struct vcm_error *err)
{
    struct progress progress = {.call = call};
    struct vcm_op_call run = {
        .values = values,
        .text = text,
        .quiet = true,
        .cancel = &call->cancel,
        .progress = show_progress,
        .progress_context = &progress,
    };
    struct vcm *vcm = NULL;

    int rc = vcm_mcp_handle(&vcm, call, err);
    if (rc == VCM_OK)
        rc = vcm_op_run_on(document, &run, op, vcm, err);
    *exit_status = run.exit_status;
    return rc;
}

/* The document as text, for clients that show nothing else, and as it is. */
static void put_result(struct vcm_mcp_call *call, struct vcm_slice document, bool is_error,
                       bool is_structured)
{
    struct vcm_jsonw *w = &call->w;

    call->is_tool_error = is_error;
    vcm_jsonw_key(w, "content");
    vcm_jsonw_begin_array(w);
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "type", "text");
    vcm_jsonw_member_slice(w, "text", document);
    vcm_jsonw_end_object(w);
    vcm_jsonw_end_array(w);
    if (is_structured) {
        vcm_jsonw_key(w, "structuredContent");
        vcm_jsonw_raw(w, document);
    }
    vcm_jsonw_member_bool(w, "isError", is_error);
}

/* Where the schemas of results are listed, some clients hold failures against them, too, and throw
 * them away: there a failure is text alone. */
static void put_failure(struct vcm_mcp_call *call, const struct vcm_error *err)
{
    struct vcm_buf document = VCM_BUF_INIT(64 * VCM_KIB);
    struct vcm_jsonw w;

    vcm_jsonw_init(&w, &document);
    vcm_failure_put(&w, err);
    put_result(call, vcm_buf_slice(&document), true, !tools_of(call)->output_schemas);
    vcm_buf_release(&document);
}

/* A token has at least one byte: most answers need no counting. */
static int check_size(const struct vcm_buf *document, uint64_t tokens_max, struct vcm_error *err)
{
    uint64_t tokens = 0;

    if (document->len <= tokens_max)
        return VCM_OK;
    int rc = vcm_tokens_count(&tokens, NULL, document->data, document->len, tokens_max, err);
    if (rc == VCM_OK && tokens > tokens_max)
        rc = vcm_error_set(err, VCM_UNSUPPORTED,
                           "the answer has more than %llu tokens; ask for less of it, or raise "
                           "max_answer_tokens (at most %d)",
                           (unsigned long long)tokens_max, VCM_TOOL_ARGS_TOKENS_MAX);
    return rc;
}

static void no_tool(struct vcm_mcp_call *call, const char *name)
{
    vcm_mcp_fail(call, VCM_RPC_INVALID_PARAMS, "there is no tool '%.100s'; tools/list has them all",
                 name);
}

void vcm_tools_call(struct vcm_mcp_call *call)
{
    const struct vcm_tools *tools = tools_of(call);
    const char *name = vcm_mcp_param(call, "name", true);
    struct vcm_buf document = VCM_BUF_INIT(VCM_LIMIT_MCP_ANSWER_BYTES);
    struct vcm_op_value *values = NULL;
    struct vcm_error err = {0};
    uint64_t tokens_max = 0;
    int exit_status = 0;

    if (!name)
        return;
    const struct vcm_op *op = vcm_tools_find(tools, name);
    if (!op || !is_allowed(call, op)) {
        no_tool(call, name);
        return;
    }
    int rc = vcm_tool_args_take(&values, &tokens_max, op,
                                vcm_json_get(call->message.params, "arguments"), tools->roots,
                                &call->message.arena, &err);
    if (rc == VCM_OK)
        rc = vcm_tools_run(&document, NULL, &exit_status, call, op, values, &err);
    if (rc == VCM_OK)
        rc = check_size(&document, tokens_max, &err);
    if (rc == VCM_OK)
        put_result(call, vcm_buf_slice(&document), exit_status == 1, true);
    else
        put_failure(call, &err);
    vcm_buf_release(&document);
}

bool vcm_tools_is_long(const struct vcm_mcp_call *call)
{
    const char *name = vcm_json_get_text(call->message.params, "name", "");
    const struct vcm_op *op = vcm_tools_find(tools_of(call), name);

    return op && op->tool.effects & (VCM_OP_WRITES | VCM_OP_NETWORK);
}
