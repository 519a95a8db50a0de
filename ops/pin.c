#include "ops/op.h"

#include "base/banned.h"

enum { NAME };

static const struct vcm_op_param params[] = {
    [NAME] = {.name = "name",
              .type = VCM_OP_TEXT,
              .positional = true,
              .required = true,
              .placeholder = "NAME",
              .summary = "scope, base of scopes, or page; a unique prefix is enough"},
};

static const struct vcm_result_member pin_members[] = {
    {.name = "scope_id",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_pin_outcome, scope_id),
     .summary = "null if a page was named"},
    {.name = "page_id",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_pin_outcome, page_id),
     .summary = "null if a scope was named"},
    {.name = "pinned", .type = VCM_RESULT_BOOL, .summary = "whether it is pinned now"},
    {.name = "changed",
     VCM_RESULT_FIELD(struct vcm_pin_outcome, changed),
     .summary = "whether the call changed it"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "pins",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = pin_members,
     .summary = "the scopes or the page that NAME means"},
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
                         vcm_json_get_bool(p, "changed", false) ? "" : " (no change)");
    }
}

const struct vcm_op vcm_op_pin = {
    .name = "pin",
    .summary = "keep a scope's pages, or one page, resident",
    .description = "Makes the pages resident and keeps them resident until 'vcm unpin'. Pinned and "
                   "locked pages together, shared pages counted once, never exceed cache.capacity: "
                   "otherwise the call fails with STORE_FULL and changes nothing.",
    .examples = pin_examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run_pin,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_STORE,
            .title = "Pin pages",
            .summary = "Exempts the pages of a scope, or one page, from eviction.",
            .effects = VCM_OP_WRITES | VCM_OP_IDEMPOTENT,
        },
};

const struct vcm_op vcm_op_unpin = {
    .name = "unpin",
    .summary = "remove a pin",
    .description = "Removes the named pin and no other: a page stays pinned while it has a pin of "
                   "its own or a scope that holds it is pinned.",
    .examples = unpin_examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run_unpin,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_STORE,
            .title = "Unpin pages",
            .summary = "Lets pinned pages be evicted again.",
            .effects = VCM_OP_WRITES | VCM_OP_IDEMPOTENT,
        },
};
