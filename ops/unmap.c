#include "ops/op.h"

#include "base/banned.h"

enum { SCOPE };

static const struct vcm_op_param params[] = {
    [SCOPE] = {.name = "scope",
               .type = VCM_OP_TEXT,
               .positional = true,
               .required = true,
               .placeholder = "SCOPE",
               .summary = "scope, or base of scopes; a unique prefix is enough"},
};

static const struct vcm_result_member result[] = {
    {.name = "unmapped",
     .type = VCM_RESULT_TEXT,
     .is_list = true,
     .summary = "ids of the unmapped scopes"},
    {0},
};

static const char *const examples[] = {"vcm unmap tool-stable", NULL};

static int put_scope(void *context, const char *scope_id, struct vcm_error *err)
{
    (void)err;
    vcm_jsonw_string(context, scope_id);
    return VCM_OK;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    vcm_jsonw_begin_object(call->out);
    vcm_jsonw_key(call->out, "unmapped");
    vcm_jsonw_begin_array(call->out);
    int rc = vcm_unmap(call->vcm, vcm_op_text(call, SCOPE), put_scope, call->out, err);
    vcm_jsonw_end_array(call->out);
    vcm_jsonw_end_object(call->out);
    return rc;
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    if (call->quiet)
        return;
    for (const struct vcm_json *s = vcm_json_get(document, "unmapped")->first; s; s = s->next)
        vcm_print_format(out, VCM_PRINT_PLAIN, "unmapped %s\n", s->text.data);
}

const struct vcm_op vcm_op_unmap = {
    .name = "unmap",
    .summary = "remove a scope and the pages that only it holds",
    .description = "Removes the scope from the store in one transaction, then deletes the pages "
                   "that no other scope holds. The repository is not changed.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_STORE,
            .title = "Unmap a scope",
            .summary = "Removes a scope, or all scopes of a base, with the pages that only they "
                       "hold. The repository is not changed; map brings them back.",
            .effects = VCM_OP_WRITES | VCM_OP_DESTROYS | VCM_OP_IDEMPOTENT,
        },
};
