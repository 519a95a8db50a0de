#include "cli/guide.h"

#include "base/limits.h"
#include "cli/args.h"
#include "cli/help.h"

#include "base/banned.h"

enum { WORDS };

static const struct vcm_op_param params[] = {
    [WORDS] = {.name = "command",
               .type = VCM_OP_TEXT,
               .positional = true,
               .repeated = true,
               .placeholder = "COMMAND",
               .summary = "command, or the first word of a family of commands"},
};

static const struct vcm_result_member result[] = {
    {.name = "help", .type = VCM_RESULT_TEXT, .summary = "the text"},
    {0},
};

static const char *const examples[] = {"vcm help", "vcm help map", "vcm help config set", NULL};

static int fill(struct vcm_print *out, const char *const *words, size_t count,
                struct vcm_error *err)
{
    const char *second = count > 1 ? words[1] : NULL;
    const struct vcm_op *op = count > 0 ? vcm_args_find(words[0], second) : NULL;

    if (count > 2)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "unexpected argument '%s'; a command has at most two words", words[2]);
    if (op)
        vcm_help_command(out, op);
    else if (count == 0)
        vcm_help_overview(out);
    else if (count == 1 && vcm_args_is_family(words[0]))
        vcm_help_family(out, words[0]);
    else
        return vcm_args_refuse(words[0], second, err);
    return VCM_OK;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(1 * VCM_MIB);
    struct vcm_print print = {.out = &text};

    int rc = fill(&print, call->values[WORDS].list, call->values[WORDS].count, err);
    vcm_jsonw_begin_object(call->out);
    vcm_jsonw_member_string(call->out, "help", vcm_buf_text(&text));
    vcm_jsonw_end_object(call->out);
    if (rc == VCM_OK)
        rc = vcm_buf_check(&text, "the help", err);
    vcm_buf_release(&text);
    return rc;
}

/* Prints the same again, in colours if there are some. */
static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    struct vcm_error ignored = {0};

    (void)document;
    fill(out, call->values[WORDS].list, call->values[WORDS].count, &ignored);
}

const struct vcm_op vcm_guide_command = {
    .name = "help",
    .summary = "explain a command",
    .description = "Prints what 'vcm COMMAND --help' prints: usage, options, the keys of the JSON "
                   "document, examples. Without a command it lists all of them.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
};
