#include "ops/failure.h"
#include "ops/page_rows.h"

#include "base/banned.h"

enum { PAGES, LOCK, PRIORITY, OWNER };

static const struct vcm_op_param params[] = {
    [PAGES] = VCM_PAGE_ROWS_PAGES,
    [LOCK] = {.name = "lock",
              .type = VCM_OP_TEXT,
              .placeholder = "TTL",
              .summary = "also lock the pages for this long, in ms, s, m or h; at most 87840h"},
    [PRIORITY] =
        {.name = "priority",
         .type = VCM_OP_NUMBER,
         .placeholder = "N",
         .default_text = "0",
         .max = 1000000,
         .summary = "priority among the waiting faults of one server; the highest is served first"},
    [OWNER] = VCM_PAGE_ROWS_OWNER,
};

static const char *const faults[] = {"hit", "minor", "major", NULL};

static const struct vcm_result_member page_members[] = {
    {VCM_RESULT_SPLICE_GROUP(vcm_residency_page)},
    {.name = "fault",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_page_outcome, fault),
     .choices = faults,
     .summary = "hit, or minor or major fault; null on failure"},
    {.name = "error",
     VCM_RESULT_INNER_OR_NULL(struct vcm_page_outcome, error, vcm_failure_cause),
     .summary = "why the page is not resident, or null"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "pages",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = page_members,
     .summary = "all pages in the order given"},
    {0},
};

static const char *const examples[] = {
    "vcm fault 3f2a91c0",
    "vcm fault 3f2a91c0 77be0d12 --lock 10m",
    NULL,
};

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_page_rows rows = {.w = call->out, .members = page_members};
    struct vcm_fault_query query = {
        .pages = call->values[PAGES].list,
        .count = call->values[PAGES].count,
        .priority = (unsigned)vcm_op_number(call, PRIORITY, 0),
        .owner = vcm_op_text(call, OWNER),
    };

    int rc = VCM_OK;
    if (vcm_op_is_set(call, LOCK))
        rc = vcm_page_rows_duration(&query.lock_ms, "--lock", vcm_op_text(call, LOCK), err);
    if (rc != VCM_OK)
        return rc;
    vcm_jsonw_begin_object(call->out);
    vcm_jsonw_key(call->out, "pages");
    vcm_jsonw_begin_array(call->out);
    rc = vcm_fault(call->vcm, &query, vcm_page_rows_put, &rows, err);
    vcm_jsonw_end_array(call->out);
    vcm_jsonw_end_object(call->out);
    call->exit_status = vcm_page_rows_status(&rows);
    return rc;
}

const struct vcm_op vcm_op_fault = {
    .name = "fault",
    .summary = "make pages resident",
    .description = "Makes pages resident: compressed pages are decompressed, evicted pages are "
                   "rebuilt from the repository and their hash is checked. Evicted pages with "
                   "other parts of the same files are rebuilt, too. Each page counts as one "
                   "read.\n\nA page that could not be made resident is reported with the reason: "
                   "its content is gone from the repository, there is no room for it (STORE_FULL), "
                   "or another process is writing (STORE_BUSY: try again). The other pages are "
                   "still loaded. The exit status is 3 when some pages failed, 1 when all did.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = vcm_page_rows_print,
    .tool =
        {
            .sets = VCM_OP_SET_STORE,
            .title = "Fault pages in",
            .summary = "Makes pages resident, so that reading them later is fast. Reading works "
                       "without it.",
            .effects = VCM_OP_WRITES | VCM_OP_IDEMPOTENT,
        },
};
