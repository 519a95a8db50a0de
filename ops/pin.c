#include "ops/op.h"

#include "base/banned.h"

enum { NAME };

static const struct vcm_op_param params[] = {
    [NAME] = {.name = "name",
              .type = VCM_OP_TEXT,
              .positional = true,
              .required = true,
              .placeholder = "NAME",
              .summary = "a scope, a base for all its scopes, or a page; a prefix will do"},
};

static const struct vcm_result_member pin_members[] = {
    {.name = "scope_id",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_pin_outcome, scope_id),
     .summary = "null when a page was named"},
    {.name = "page_id",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_pin_outcome, page_id),
     .summary = "null when a scope was named"},
    {.name = "pinned", .type = VCM_RESULT_BOOL, .summary = "whether it is pinned now"},
    {.name = "changed",
     VCM_RESULT_FIELD(struct vcm_pin_outcome, changed),
     .summary = "whether it was not so before"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "pins",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = pin_members,
     .summary = "what was meant"},
    {0},
};

static const char *const pin_examples[] = {"vcm pin tool-stable", "vcm pin 3f2a91c0", NULL};
static const char *const unpin_examples[] = {"vcm unpin tool-stable", NULL};

struct rows {
    struct vcm_jsonw *w;
    bool pinned;
};

static int put_pin(void *context, const struct vcm_pin_outcome *pin, struct vcm_error *err)
{
    const struct rows *rows = context;

    (void)err;
    vcm_jsonw_begin_object(rows->w);
    const struct vcm_result_member *pinned = vcm_result_put_members(rows->w, pin_members, pin);
    vcm_jsonw_member_bool(rows->w, pinned->name, rows->pinned);
    vcm_result_put_members(rows->w, pinned + 1, pin);
    vcm_jsonw_end_object(rows->w);
    return VCM_OK;
}

static int run(struct vcm_op_call *call, bool pinned, struct vcm_error *err)
{
    struct rows rows = {call->out, pinned};
    const char *name = vcm_op_text(call, NAME);

    vcm_jsonw_begin_object(call->out);
    vcm_jsonw_key(call->out, "pins");
    vcm_jsonw_begin_array(call->out);
    int rc = pinned ? vcm_pin(call->vcm, name, put_pin, &rows, err)
                    : vcm_unpin(call->vcm, name, put_pin, &rows, err);
    vcm_jsonw_end_array(call->out);
    vcm_jsonw_end_object(call->out);
    return rc;
}

static int run_pin(struct vcm_op_call *call, struct vcm_error *err)
{
    return run(call, true, err);
}

static int run_unpin(struct vcm_op_call *call, struct vcm_error *err)
{
    return run(call, false, err);
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    if (call->quiet)
        return;
    for (const struct vcm_json *p = vcm_json_get(document, "pins")->first; p; p = p->next) {
        const char *scope = vcm_json_get_text(p, "scope_id", NULL);
        const char *verb = vcm_json_get_bool(p, "pinned", false) ? "pinned" : "unpinned";
        vcm_print_format(out, VCM_PRINT_PLAIN, "%s %s%s\n", verb,
                         scope ? scope : vcm_json_get_text(p, "page_id", ""),
                         vcm_json_get_bool(p, "changed", false) ? "" : " (it was so before)");
    }
}

const struct vcm_op vcm_op_pin = {
    .name = "pin",
    .summary = "keep a scope's pages, or one page, resident for good",
    .description =
        "Makes the pages resident and keeps them so until 'vcm unpin'. What is pinned or locked, a "
        "shared page once, never takes more than cache.capacity: otherwise the answer is "
        "STORE_FULL and the store is as it was.",
    .examples = pin_examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run_pin,
    .print = print,
};

const struct vcm_op vcm_op_unpin = {
    .name = "unpin",
    .summary = "take back a pin",
    .description = "Removes the pin that it names and no other: a page stays pinned while it is "
                   "pinned by itself or any scope that holds it is.",
    .examples = unpin_examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run_unpin,
    .print = print,
};
