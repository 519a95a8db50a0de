#include "ops/page_rows.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { PAGES, SCOPE, ALL, TO };

static const char *const targets[] = {"compressed", "evicted", NULL};

static const struct vcm_op_param params[] = {
    [PAGES] = {.name = "pages",
               .type = VCM_OP_TEXT,
               .positional = true,
               .repeated = true,
               .placeholder = "PAGE",
               .summary = "id of a page, or its first 6 or more digits"},
    [SCOPE] = {.name = "scope",
               .type = VCM_OP_TEXT,
               .placeholder = "S",
               .summary = "all pages of a scope, or of all scopes of a base"},
    [ALL] = {.name = "all", .type = VCM_OP_FLAG, .summary = "all pages of the store"},
    [TO] = {.name = "to",
            .type = VCM_OP_CHOICE,
            .placeholder = "STATE",
            .default_text = "compressed",
            .choices = targets,
            .summary = "target state"},
};

static const char *const causes[] = {"pinned", "locked", "viewed", "volatile", NULL};

static const struct vcm_result_member page_members[] = {
    {VCM_RESULT_SPLICE_GROUP(vcm_page_rows_state)},
    {.name = "skipped",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_page_outcome, stays),
     .choices = causes,
     .summary = "why it was skipped, or null"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "pages",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = page_members,
     .summary = "the named pages; with --scope or --all, those that were skipped"},
    {.name = "pages_compressed",
     VCM_RESULT_FIELD(struct vcm_evict_result, pages_compressed),
     .summary = "number of pages that were compressed"},
    {.name = "pages_evicted",
     VCM_RESULT_FIELD(struct vcm_evict_result, pages_evicted),
     .summary = "number of pages that were evicted"},
    {.name = "pages_skipped",
     VCM_RESULT_FIELD(struct vcm_evict_result, pages_stayed),
     .summary = "number of pages that were skipped: pinned, locked or open in a view"},
    {0},
};

static const char *const examples[] = {"vcm evict --scope tool-stable",
                                       "vcm evict --all --to evicted", NULL};

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_page_rows rows = {.w = call->out, .members = page_members};
    struct vcm_evict_result done;
    const struct vcm_evict_query query = {
        .pages = call->values[PAGES].list,
        .count = call->values[PAGES].count,
        .scope = vcm_op_text(call, SCOPE),
        .all = vcm_op_flag(call, ALL),
        .target = vcm_op_text(call, TO),
    };

    if ((query.count > 0) + (query.scope != NULL) + query.all != 1)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "name pages, or a scope with --scope, or everything with --all, and "
                             "only one of these");
    vcm_jsonw_begin_object(call->out);
    vcm_jsonw_key(call->out, "pages");
    vcm_jsonw_begin_array(call->out);
    int rc = vcm_evict(&done, call->vcm, &query, vcm_page_rows_put, &rows, err);
    vcm_jsonw_end_array(call->out);
    vcm_result_put_members(call->out, result + 1, &done);
    vcm_jsonw_end_object(call->out);
    /* Pinned and locked pages of a scope, or of all, are expected to stay. A page that was named
     * and stays is a partial failure. */
    call->exit_status = query.count > 0 && rows.bad > 0 ? 3 : 0;
    return rc;
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    char a[VCM_PRINT_NUMBER_BYTES], b[VCM_PRINT_NUMBER_BYTES], c[VCM_PRINT_NUMBER_BYTES];

    vcm_page_rows_print(out, document, call);
    if (call->quiet)
        return;
    vcm_print_format(
        out, VCM_PRINT_PLAIN, "%s compressed, %s evicted, %s skipped\n",
        vcm_print_count(a, (uint64_t)vcm_json_get_int(document, "pages_compressed", 0)),
        vcm_print_count(b, (uint64_t)vcm_json_get_int(document, "pages_evicted", 0)),
        vcm_print_count(c, (uint64_t)vcm_json_get_int(document, "pages_skipped", 0)));
}

const struct vcm_op vcm_op_evict = {
    .name = "evict",
    .summary = "compress pages, or evict them",
    .description = "A compressed page is decompressed when it is read; an evicted page is rebuilt "
                   "from its repository. Pages that are pinned, locked or open in a view are "
                   "skipped and reported; when they were named one by one, the exit status is 3. A "
                   "page that does not fit among the compressed ones is evicted.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_STORE,
            .title = "Evict pages",
            .summary =
                "Compresses pages, or drops their text until it is needed again; nothing is lost.",
            .effects = VCM_OP_WRITES | VCM_OP_IDEMPOTENT,
        },
};
