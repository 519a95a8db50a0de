#include <string.h>

#include "base/outcome.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { SCOPE, REASON };

#define OUTCOME(NAME, name, number, retried, meaning, remedy) #name,
static const char *const outcomes[] = {VCM_OUTCOME_LIST(OUTCOME) NULL};

static const char *const reasons[] = {
#define REASON_OF(OUTCOME, NAME, word, name, retried, remedy) #word,
    VCM_OUTCOME_LIST(OUTCOME) VCM_REASON_LIST(REASON_OF) NULL
#undef REASON_OF
};
#undef OUTCOME

static const struct vcm_op_param params[] = {
    [SCOPE] = {.name = "scope",
               .type = VCM_OP_TEXT,
               .positional = true,
               .required = true,
               .placeholder = "SCOPE",
               .summary = "id of the scope, or a unique prefix of at least 6 characters"},
    [REASON] = {.name = "reason",
                .type = VCM_OP_CHOICE,
                .placeholder = "R",
                .choices = reasons,
                .summary = "only files with this outcome or reason"},
};

static const struct vcm_result_member file_members[] = {
    {.name = "path",
     VCM_RESULT_FIELD(struct vcm_coverage_file, path),
     .summary = "path, relative to the root"},
    {.name = "outcome",
     VCM_RESULT_FIELD(struct vcm_coverage_file, outcome),
     .choices = outcomes,
     .summary = "its outcome"},
    {.name = "reason",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_coverage_file, reason),
     .summary = "why it failed, or null"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "scope_id",
     VCM_RESULT_FIELD(struct vcm_scope_info, scope_id),
     .summary = "id of the scope"},
    {.name = "commit", VCM_RESULT_FIELD(struct vcm_scope_info, commit), .summary = "mapped commit"},
    {.name = "coverage",
     VCM_RESULT_INNER(struct vcm_scope_info, coverage, vcm_shared_coverage),
     .summary = "number of files by outcome; tracked is the sum of the others"},
    {.name = "files",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = file_members,
     .summary = "every path in byte order, with its outcome"},
    VCM_ANSWER_MEMBERS,
    {0},
};

static const char *const examples[] = {
    "vcm coverage tool-stable",
    "vcm coverage tool-stable --reason binary",
    "vcm coverage tool-stable --reason failed --json | jq -r '.files[].path'",
    NULL,
};

static int put_scope(void *context, const struct vcm_scope_info *scope, struct vcm_error *err)
{
    struct vcm_jsonw *w = context;

    (void)err;
    vcm_result_put_members(w, result, scope);
    vcm_jsonw_key(w, "files");
    vcm_jsonw_begin_array(w);
    return VCM_OK;
}

static int put_file(void *context, const struct vcm_coverage_file *file, struct vcm_error *err)
{
    struct vcm_jsonw *w = context;

    (void)err;
    vcm_result_put(w, file_members, file);
    return VCM_OK;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const struct vcm_coverage_query query = {
        .scope = vcm_op_text(call, SCOPE),
        .reason = vcm_op_text(call, REASON),
    };
    struct vcm_jsonw *w = call->out;

    vcm_jsonw_begin_object(w);
    int rc = vcm_coverage(call->vcm, &query, put_scope, put_file, w, err);
    if (rc != VCM_OK)
        return rc;
    vcm_jsonw_end_array(w);
    vcm_jsonw_end_object(w);
    return VCM_OK;
}

/* The row of the table for a file of the document; NULL for a reason that is not in the table. */
static const struct vcm_reason_info *info_of(const char *outcome, const char *reason)
{
    size_t count = 0;
    const struct vcm_reason_info *list = vcm_reason_list(&count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].outcome, outcome) == 0 &&
            (reason ? list[i].reason && strcmp(list[i].reason, reason) == 0 : !list[i].reason))
            return &list[i];
    return NULL;
}

/* Prints the remedies for the reasons that occur, each once, in the order of the table. */
static void print_remedies(struct vcm_print *out, const struct vcm_json *files)
{
    size_t count = 0;
    const struct vcm_reason_info *list = vcm_reason_list(&count);
    bool occurs[VCM_OP_COUNT(reasons)] = {false};

    for (const struct vcm_json *f = files->first; f; f = f->next) {
        const struct vcm_reason_info *info =
            info_of(vcm_json_get_text(f, "outcome", ""), vcm_json_get_text(f, "reason", NULL));
        if (info)
            occurs[info - list] = true;
    }
    for (size_t i = 0; i < count; i++)
        if (occurs[i] && list[i].remedy)
            vcm_print_format(out, VCM_PRINT_DIM, "%s: %s\n",
                             list[i].reason ? list[i].reason : list[i].outcome, list[i].remedy);
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    const struct vcm_json *coverage = vcm_json_get(document, "coverage");
    int64_t tracked = vcm_json_get_int(coverage, "tracked", 0);
    char number[VCM_PRINT_NUMBER_BYTES];

    for (const struct vcm_json *f = vcm_json_get(document, "files")->first; f; f = f->next) {
        const char *outcome = vcm_json_get_text(f, "outcome", "");
        const char *reason = vcm_json_get_text(f, "reason", NULL);
        vcm_print_format(out,
                         strcmp(outcome, "failed") == 0  ? VCM_PRINT_BAD
                         : strcmp(outcome, "paged") == 0 ? VCM_PRINT_PLAIN
                                                         : VCM_PRINT_DIM,
                         "%-11s", outcome);
        vcm_print_format(out, VCM_PRINT_PLAIN, "  %s", vcm_json_get_text(f, "path", ""));
        if (reason)
            vcm_print_format(out, VCM_PRINT_DIM, "  (%s)", reason);
        vcm_buf_append_byte(out->out, '\n');
    }
    if (call->quiet)
        return;
    print_remedies(out, vcm_json_get(document, "files"));
    if (vcm_op_is_set(call, REASON))
        return;
    vcm_print_format(out, VCM_PRINT_BOLD,
                     "%s: %s file%s tracked: ", vcm_json_get_text(document, "scope_id", ""),
                     vcm_print_count(number, (uint64_t)tracked), tracked == 1 ? "" : "s");
    vcm_shared_print_coverage(out, coverage);
    vcm_buf_append_byte(out->out, '\n');
}

const struct vcm_op vcm_op_coverage = {
    .name = "coverage",
    .summary = "list every file of a scope and whether it was mapped",
    .description =
        "Prints the coverage ledger of a mapped scope: every tracked path, whether it is in a "
        "page, why not, and what to do about each reason that occurs. A path has exactly one "
        "outcome; those decided by its mode and path come before those decided by its content. The "
        "counts add up to the number of files that git tracks.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .list = {"files", {"path"}},
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_REPO,
            .title = "List coverage",
            .summary = "Lists every path of a scope with its outcome: paged, or why it was left "
                       "out. Use it to learn whether a file that you miss is there.",
        },
};
