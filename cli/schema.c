#include "cli/schema.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "cli/args.h"
#include "ops/schema.h"

#include "base/banned.h"

#define NAMES_MAX 128u

enum { COMMAND, FAILURE };

static const struct vcm_op_param params[] = {
    [COMMAND] = {.name = "command",
                 .type = VCM_OP_TEXT,
                 .positional = true,
                 .repeated = true,
                 .placeholder = "COMMAND",
                 .default_text = "all",
                 .summary = "command of one or two words"},
    [FAILURE] = {.name = "error",
                 .type = VCM_OP_FLAG,
                 .summary = "the schema of errors, which all commands share"},
};

static const struct vcm_result_member result[] = {
    {.name = "commands",
     .type = VCM_RESULT_OBJECT,
     .is_open = true,
     .summary = "schema of every command's document, by command"},
    {.name = "error",
     .type = VCM_RESULT_OBJECT,
     .is_open = true,
     .summary = "schema of the document of a failed call"},
    {0},
};

static const struct vcm_result_member schema_members[] = {
    {.name = "$schema", .type = VCM_RESULT_TEXT, .summary = "JSON Schema dialect: 2020-12"},
    {.name = "title", .type = VCM_RESULT_TEXT, .summary = "name of the command"},
    {.name = "description", .type = VCM_RESULT_TEXT, .summary = "summary of the command"},
    {.name = "type", .type = VCM_RESULT_TEXT, .summary = "object"},
    {0},
};

static const struct vcm_op_document also[] = {
    {.when = "with COMMAND or --error: the members of the schema",
     .members = schema_members,
     .is_open = true},
    {0},
};

static const char *const examples[] = {
    "vcm schema",
    "vcm schema kb search",
    "vcm schema --error --json | jq -r '.properties.error.properties.code.enum[]'",
    NULL,
};

static int find(const struct vcm_op **out, const char *name, struct vcm_error *err)
{
    const char *names[NAMES_MAX];
    size_t count = 0;

    *out = NULL;
    for (; vcm_args_command(count) && count < NAMES_MAX; count++) {
        names[count] = vcm_args_command(count)->name;
        if (strcmp(names[count], name) == 0)
            *out = vcm_args_command(count);
    }
    if (*out)
        return VCM_OK;
    const char *nearest = vcm_text_nearest(vcm_slice_of_string(name), names, count);
    if (nearest)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is no command; did you mean '%s'?",
                             name, nearest);
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "'%s' is no command; 'vcm schema' lists the commands", name);
}

static void put_all(struct vcm_jsonw *w)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_key(w, "commands");
    vcm_jsonw_begin_object(w);
    for (size_t i = 0; vcm_args_command(i); i++) {
        vcm_jsonw_key(w, vcm_args_command(i)->name);
        vcm_schema_put(w, vcm_args_command(i));
    }
    vcm_jsonw_end_object(w);
    vcm_jsonw_key(w, "error");
    vcm_schema_put_failure(w);
    vcm_jsonw_end_object(w);
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const struct vcm_op_value *words = &call->values[COMMAND];
    struct vcm_buf name = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    const struct vcm_op *op = NULL;

    if (words->count > 0 && vcm_op_flag(call, FAILURE))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "--error is about all commands; leave the command out");
    for (size_t i = 0; i < words->count; i++)
        vcm_buf_append_format(&name, "%s%s", i > 0 ? " " : "", words->list[i]);
    int rc = vcm_buf_check(&name, "the command", err);
    if (rc == VCM_OK && words->count > 0)
        rc = find(&op, vcm_buf_text(&name), err);
    vcm_buf_release(&name);
    if (rc != VCM_OK)
        return rc;
    if (op)
        vcm_schema_put(call->out, op);
    else if (vcm_op_flag(call, FAILURE))
        vcm_schema_put_failure(call->out);
    else
        put_all(call->out);
    return VCM_OK;
}

/* Prints a document over several indented lines. */
static void print_value(struct vcm_print *out, const struct vcm_json *value, unsigned depth)
{
    bool is_object = value->kind == VCM_JSON_OBJECT;
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);

    if (!is_object && value->kind != VCM_JSON_ARRAY) {
        if (value->kind == VCM_JSON_STRING)
            vcm_jsonw_escape(&text, value->text);
        else if (value->kind == VCM_JSON_BOOL)
            vcm_buf_append_string(&text, value->boolean ? "true" : "false");
        else if (value->kind == VCM_JSON_INT)
            vcm_buf_append_format(&text, "%lld", (long long)value->integer);
        else
            vcm_buf_append_string(&text, "null");
        vcm_print_text(out, VCM_PRINT_PLAIN, vcm_buf_text(&text));
        vcm_buf_release(&text);
        return;
    }
    vcm_print_text(out, VCM_PRINT_PLAIN, is_object ? "{" : "[");
    for (const struct vcm_json *v = value->first; v; v = v->next) {
        vcm_print_format(out, VCM_PRINT_PLAIN, "\n%*s", (int)(2 * (depth + 1)), "");
        if (is_object) {
            vcm_buf_clear(&text);
            vcm_jsonw_escape(&text, v->key);
            vcm_print_format(out, VCM_PRINT_PLAIN, "%s: ", vcm_buf_text(&text));
        }
        print_value(out, v, depth + 1);
        vcm_print_text(out, VCM_PRINT_PLAIN, v->next ? "," : "");
    }
    if (value->first)
        vcm_print_format(out, VCM_PRINT_PLAIN, "\n%*s", (int)(2 * depth), "");
    vcm_print_text(out, VCM_PRINT_PLAIN, is_object ? "}" : "]");
    vcm_buf_release(&text);
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    if (call->values[COMMAND].count > 0 || vcm_op_flag(call, FAILURE)) {
        print_value(out, document, 0);
        vcm_print_text(out, VCM_PRINT_PLAIN, "\n");
        return;
    }
    for (const struct vcm_json *c = vcm_json_get(document, "commands")->first; c; c = c->next)
        vcm_print_format(out, VCM_PRINT_PLAIN, "%-14s %s\n", c->key.data,
                         vcm_json_get_text(c, "description", ""));
}

const struct vcm_op vcm_schema_command = {
    .name = "schema",
    .summary = "print the JSON Schema of what commands print with --json",
    .description = "Prints the JSON Schema (2020-12) of a command's document: every member with "
                   "its type, whether it may be null or missing, and its possible values. For a "
                   "command that prints a stream, it is the schema of each line. Without a "
                   "command, lists the commands; with --json, prints the schemas of all commands.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .also = also,
    .run = run,
    .print = print,
};
