#include "ops/shared.h"

#include "base/banned.h"

static const char *const status_names[] = {
    [VCM_FINDING_OK] = "ok",
    [VCM_FINDING_WARNING] = "warning",
    [VCM_FINDING_ERROR] = "error",
    NULL,
};

static void put_status(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_finding *finding = from;

    vcm_jsonw_string(w, status_names[finding->status]);
}

static const struct vcm_result_member finding_members[] = {
    {.name = "check", VCM_RESULT_FIELD(struct vcm_finding, check), .summary = "what was checked"},
    {.name = "status",
     .type = VCM_RESULT_TEXT,
     .choices = status_names,
     .put = put_status,
     .summary = "result of the check"},
    {.name = "detail", VCM_RESULT_FIELD(struct vcm_finding, detail), .summary = "what was found"},
    {.name = "remedy",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_finding, remedy),
     .summary = "what to do about it, or null"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "findings",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = finding_members,
     .summary = "every check with its status, what was found, and what to do about it"},
    {.name = "ok", .type = VCM_RESULT_BOOL, .summary = "false if a check found an error"},
    {0},
};

static const char *const examples[] = {"vcm doctor", NULL};

static int put_finding(void *context, const struct vcm_finding *finding, struct vcm_error *err)
{
    struct vcm_op_call *call = context;

    (void)err;
    if (finding->status == VCM_FINDING_ERROR)
        call->exit_status = 1;
    vcm_result_put(call->out, finding_members, finding);
    return VCM_OK;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_jsonw *w = call->out;

    vcm_jsonw_begin_object(w);
    vcm_jsonw_key(w, "findings");
    vcm_jsonw_begin_array(w);
    int rc = vcm_doctor(call->vcm, put_finding, call, err);
    vcm_jsonw_end_array(w);
    vcm_jsonw_member_bool(w, "ok", call->exit_status == 0);
    vcm_jsonw_end_object(w);
    return rc;
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    static const char *const headings[] = {"CHECK", "STATUS", "FOUND"};
    static const bool right[] = {false, false, false};
    struct vcm_print_table table;

    (void)call;
    vcm_print_table_begin(&table, out, headings, right, VCM_OP_COUNT(headings));
    const struct vcm_json *findings = vcm_json_get(document, "findings");
    for (const struct vcm_json *f = findings->first; f; f = f->next) {
        const char *status = vcm_json_get_text(f, "status", "");
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(f, "check", ""));
        vcm_print_table_cell(&table, vcm_shared_status_style(status), status);
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(f, "detail", ""));
    }
    vcm_print_table_end(&table);
    for (const struct vcm_json *f = findings->first; f; f = f->next)
        if (vcm_json_get_text(f, "remedy", NULL))
            vcm_print_format(out, vcm_shared_status_style(vcm_json_get_text(f, "status", "")),
                             "%s: %s\n", vcm_json_get_text(f, "check", ""),
                             vcm_json_get_text(f, "remedy", ""));
}

const struct vcm_op vcm_op_doctor = {
    .name = "doctor",
    .summary = "check that this machine can run vcm",
    .description = "Checks library versions, git and git-lfs, the home and its file system, free "
                   "space, reader slots and limits. Each finding says what to do about it. The "
                   "exit status is 1 when one of them is an error.",
    .examples = examples,
    .result = result,
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_STORE,
            .title = "Examine the installation",
            .summary = "Examines the home, programs and limits, and says what to mend.",
        },
};
