#include "ops/op.h"

#include "base/banned.h"

enum { DEEP };

static const struct vcm_op_param params[] = {
    [DEEP] = {.name = "deep",
              .type = VCM_OP_FLAG,
              .summary = "also rebuild evicted pages from their repositories"},
};

static const struct vcm_result_member finding_members[] = {
    {.name = "what", VCM_RESULT_FIELD(struct vcm_verify_finding, what), .summary = "what is wrong"},
    {.name = "where",
     VCM_RESULT_FIELD(struct vcm_verify_finding, where),
     .summary = "place in the store"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "ok",
     VCM_RESULT_FIELD(struct vcm_verify_result, ok),
     .summary = "whether there are no findings"},
    {.name = "pages_checked",
     VCM_RESULT_FIELD(struct vcm_verify_result, pages_checked),
     .summary = "number of pages checked"},
    {.name = "findings",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = finding_members,
     .summary = "what is wrong, and where"},
    {0},
};

static const char *const examples[] = {"vcm verify", "vcm verify --deep --json", NULL};

static int put_finding(void *context, const struct vcm_verify_finding *finding,
                       struct vcm_error *err)
{
    struct vcm_jsonw *w = context;

    (void)err;
    vcm_result_put(w, finding_members, finding);
    return VCM_OK;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_buf list = VCM_BUF_INIT(64 * 1024 * 1024);
    struct vcm_verify_result done;
    struct vcm_jsonw findings;

    vcm_jsonw_init(&findings, &list);
    vcm_jsonw_begin_array(&findings);
    int rc = vcm_verify(&done, call->vcm, vcm_op_flag(call, DEEP), put_finding, &findings, err);
    vcm_jsonw_end_array(&findings);
    if (rc == VCM_OK)
        rc = vcm_jsonw_finish(&findings, err);
    if (rc == VCM_OK) {
        vcm_jsonw_begin_object(call->out);
        vcm_result_put_members(call->out, result, &done);
        vcm_jsonw_key(call->out, "findings");
        vcm_jsonw_raw(call->out, vcm_buf_slice(&list));
        vcm_jsonw_end_object(call->out);
        call->exit_status = done.ok ? 0 : 1;
    }
    vcm_buf_release(&list);
    return rc;
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    const struct vcm_json *findings = vcm_json_get(document, "findings");
    char number[VCM_PRINT_NUMBER_BYTES];

    for (const struct vcm_json *f = findings->first; f; f = f->next) {
        vcm_print_format(out, VCM_PRINT_BAD, "%s", vcm_json_get_text(f, "where", ""));
        vcm_print_format(out, VCM_PRINT_PLAIN, ": %s\n", vcm_json_get_text(f, "what", ""));
    }
    if (findings->first)
        vcm_print_text(out, VCM_PRINT_PLAIN,
                       "the next 'vcm map' sets a damaged store aside and maps its scopes again\n");
    else if (!call->quiet)
        vcm_print_format(
            out, VCM_PRINT_GOOD, "%s pages, nothing wrong\n",
            vcm_print_count(number, (uint64_t)vcm_json_get_int(document, "pages_checked", 0)));
}

const struct vcm_op vcm_op_verify = {
    .name = "verify",
    .summary = "check every page and every index of the store",
    .description =
        "Hashes every resident and compressed page and checks that the tables agree with each "
        "other and with the capacities. With --deep, evicted pages are rebuilt, too. The check "
        "runs in a child process, so that a damaged store cannot crash the command. The exit "
        "status is 1 when something is wrong, also when the store lacks a scope that was mapped, "
        "which the next 'vcm map' maps again. A damaged store is marked; the next 'vcm map' sets "
        "it aside and maps its scopes again. The mark of a store that proves sound is removed. "
        "Stored symbols are checked, too; damaged ones are removed, and made anew when they are "
        "needed. So is the knowledge base; of a damaged one nothing is changed.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_STORE,
            .title = "Verify the store",
            .summary = "Checks every page and table of the store against its hash; deep also "
                       "rebuilds evicted pages.",
        },
};
