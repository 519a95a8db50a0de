#include "cli/mcp.h"

#include <unistd.h>

#include "base/limits.h"
#include "cli/serve_options.h"
#include "serve/stdio.h"

#include "base/banned.h"

enum { DESCRIBE = VCM_SERVE_OPTIONS_COUNT };

static const struct vcm_op_param params[] = {
    VCM_SERVE_OPTIONS,
    [DESCRIBE] = {.name = "describe",
                  .type = VCM_OP_FLAG,
                  .summary = "list the tools with what they cost, and serve nothing"},
};

static const struct vcm_result_member tool_members[] = {
    {.name = "name", .type = VCM_RESULT_TEXT, .summary = "name, as clients see it"},
    {.name = "title", .type = VCM_RESULT_TEXT, .summary = "its title"},
    {.name = "toolsets", .type = VCM_RESULT_TEXT, .is_list = true, .summary = "sets it is in"},
    {.name = "tokens", .type = VCM_RESULT_INTEGER, .summary = "tokens of its definition"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "tools",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = tool_members,
     .summary = "with --describe: the tools, as they are listed"},
    {.name = "tokens", .type = VCM_RESULT_INTEGER, .summary = "tokens of all definitions"},
    {0},
};

static const char *const examples[] = {
    "vcm mcp",
    "vcm mcp --root ~/src --toolset core --read-only",
    NULL,
};

static int describe_one(struct vcm_jsonw *w, uint64_t *total, const struct vcm_tools *tools,
                        const struct vcm_op *op, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB), name = VCM_BUF_INIT(VCM_KIB);
    struct vcm_jsonw definition;
    uint64_t tokens = 0;

    vcm_jsonw_init(&definition, &text);
    vcm_tools_put(&definition, tools, op);
    vcm_tools_name(&name, tools, op);
    int rc = vcm_jsonw_finish(&definition, err);
    if (rc == VCM_OK)
        rc = vcm_tokens_count(&tokens, NULL, text.data, text.len, 0, err);
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "name", vcm_buf_text(&name));
    vcm_jsonw_member_string(w, "title", op->tool.title);
    vcm_jsonw_key(w, "toolsets");
    vcm_jsonw_begin_array(w);
    for (unsigned i = 0; vcm_tools_set_names[i]; i++)
        if (op->tool.sets & 1u << i)
            vcm_jsonw_string(w, vcm_tools_set_names[i]);
    vcm_jsonw_end_array(w);
    vcm_jsonw_member_uint(w, "tokens", tokens);
    vcm_jsonw_end_object(w);
    *total += tokens;
    vcm_buf_release(&name);
    vcm_buf_release(&text);
    return rc;
}

static int describe(struct vcm_op_call *call, const struct vcm_tools *tools, struct vcm_error *err)
{
    const struct vcm_op *op;
    uint64_t total = 0;
    int rc = VCM_OK;

    vcm_jsonw_begin_object(call->out);
    vcm_jsonw_key(call->out, "tools");
    vcm_jsonw_begin_array(call->out);
    for (size_t at = 0; rc == VCM_OK && (op = vcm_tools_next(tools, &at));)
        rc = describe_one(call->out, &total, tools, op, err);
    vcm_jsonw_end_array(call->out);
    vcm_jsonw_member_uint(call->out, "tokens", total);
    vcm_jsonw_end_object(call->out);
    return rc;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_service_options options = {
        .home = vcm_home(call->vcm), .log = call->log, .waiting_max = VCM_LIMIT_MCP_WAITING};
    struct vcm_service *service = NULL;
    struct vcm_roots *roots = NULL;

    int rc = vcm_serve_options_take(&options.tools, &roots, call, true, err);
    bool is_described = vcm_op_flag(call, DESCRIBE);
    if (rc == VCM_OK && is_described)
        rc = describe(call, &options.tools, err);
    else if (rc == VCM_OK)
        rc = vcm_service_open(&service, &options, err);
    if (rc == VCM_OK && service)
        rc = vcm_stdio_serve(vcm_service_mcp(service), STDIN_FILENO, STDOUT_FILENO, call->cancel,
                             err);
    vcm_service_close(service);
    vcm_roots_close(roots);
    call->is_over = !is_described;
    return rc;
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    static const char *const headings[] = {"TOOL", "TOKENS", "TITLE"};
    static const bool right[] = {false, true, false};
    struct vcm_print_table table;
    char number[VCM_PRINT_NUMBER_BYTES];

    (void)call;
    vcm_print_table_begin(&table, out, headings, right, VCM_OP_COUNT(headings));
    for (const struct vcm_json *t = vcm_json_get(document, "tools")->first; t; t = t->next) {
        uint64_t tokens = (uint64_t)vcm_json_get_int(t, "tokens", 0);
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(t, "name", ""));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_print_count(number, tokens));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(t, "title", ""));
    }
    vcm_print_table_end(&table);
    vcm_print_format(out, VCM_PRINT_PLAIN, "%s tokens in all\n",
                     vcm_print_count(number, (uint64_t)vcm_json_get_int(document, "tokens", 0)));
}

const struct vcm_op vcm_mcp_command = {
    .name = "mcp",
    .summary = "serve the operations as tools of MCP",
    .description =
        "Speaks the Model Context Protocol on standard input and output: revision 2026-07-28, and "
        "with "
        "'initialize' also 2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05. A client starts it "
        "by itself; docs/mcp.md tells how to configure one. Clients may name repositories and "
        "files beneath the roots alone: the directory in which the server was started (unless "
        "that is / or a home directory) and every --root. The home is opened with the first call "
        "of a tool.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
};
