#include "ops/page_rows.h"

#include "base/banned.h"

enum { PAGES, OWNER, TTL, REASON, FORCE = TTL };

static const struct vcm_op_param lock_params[] = {
    [PAGES] = VCM_PAGE_ROWS_PAGES,
    [OWNER] = VCM_PAGE_ROWS_OWNER,
    [TTL] = {.name = "ttl",
             .type = VCM_OP_TEXT,
             .required = true,
             .placeholder = "TTL",
             .summary = "how long, in ms, s, m or h; at most 87840h"},
    [REASON] = {.name = "reason",
                .type = VCM_OP_TEXT,
                .placeholder = "R",
                .summary = "note for other users"},
};

static const struct vcm_op_param unlock_params[] = {
    [PAGES] = VCM_PAGE_ROWS_PAGES,
    [OWNER] = VCM_PAGE_ROWS_OWNER,
    [FORCE] = {.name = "force",
               .type = VCM_OP_FLAG,
               .summary = "remove the locks of all owners, not only of --owner"},
};

static const struct vcm_result_member lock_result[] = {
    {.name = "pages",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = vcm_residency_page,
     .summary = "all pages in the order given, with state and end of the lock"},
    {0},
};

static const struct vcm_result_member unlock_result[] = {
    {.name = "pages",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = vcm_residency_page,
     .summary = "all pages in the order given, with state and end of other owners' locks"},
    {.name = "released",
     .type = VCM_RESULT_INTEGER,
     .summary = "number of locks removed before they expired"},
    {0},
};

static const char *const lock_examples[] = {
    "vcm lock 3f2a91c0 --ttl 10m --reason 'the parser, while it is rewritten'", NULL};
static const char *const unlock_examples[] = {"vcm unlock 3f2a91c0",
                                              "vcm unlock 3f2a91c0 --owner agent-7", NULL};

static struct vcm_lock_query query_of(const struct vcm_op_call *call)
{
    return (struct vcm_lock_query){
        .pages = call->values[PAGES].list,
        .count = call->values[PAGES].count,
        .owner = vcm_op_text(call, OWNER),
    };
}

static int run_lock(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_page_rows rows = {.w = call->out, .members = vcm_residency_page};
    struct vcm_lock_query query = query_of(call);

    query.reason = vcm_op_text(call, REASON);
    int rc = vcm_page_rows_duration(&query.ttl_ms, "--ttl", vcm_op_text(call, TTL), err);
    if (rc != VCM_OK)
        return rc;
    vcm_jsonw_begin_object(call->out);
    vcm_jsonw_key(call->out, "pages");
    vcm_jsonw_begin_array(call->out);
    rc = vcm_lock(call->vcm, &query, vcm_page_rows_put, &rows, err);
    vcm_jsonw_end_array(call->out);
    vcm_jsonw_end_object(call->out);
    return rc;
}

static int run_unlock(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_page_rows rows = {.w = call->out, .members = vcm_residency_page};
    struct vcm_lock_query query = query_of(call);
    uint64_t released = 0;

    query.force = vcm_op_flag(call, FORCE);
    vcm_jsonw_begin_object(call->out);
    vcm_jsonw_key(call->out, "pages");
    vcm_jsonw_begin_array(call->out);
    int rc = vcm_unlock(&released, call->vcm, &query, vcm_page_rows_put, &rows, err);
    vcm_jsonw_end_array(call->out);
    vcm_jsonw_member_uint(call->out, "released", released);
    vcm_jsonw_end_object(call->out);
    return rc;
}

static void print_unlock(struct vcm_print *out, const struct vcm_json *document,
                         const struct vcm_op_call *call)
{
    int64_t released = vcm_json_get_int(document, "released", 0);

    vcm_page_rows_print(out, document, call);
    if (!call->quiet)
        vcm_print_format(out, VCM_PRINT_PLAIN, "%lld lock%s removed\n", (long long)released,
                         released == 1 ? "" : "s");
}

const struct vcm_op vcm_op_lock = {
    .name = "lock",
    .summary = "keep pages resident for a limited time",
    .description = "Makes the pages resident and keeps them resident until the lock expires; locks "
                   "all of them or none. Each owner has its own lock on a page. Locking again "
                   "extends the lock and never shortens it. Pinned and locked pages together never "
                   "exceed cache.capacity: otherwise the call fails with STORE_FULL.",
    .examples = lock_examples,
    .params = lock_params,
    .param_count = VCM_OP_COUNT(lock_params),
    .result = lock_result,
    .run = run_lock,
    .print = vcm_page_rows_print,
    .tool =
        {
            .sets = VCM_OP_SET_STORE,
            .title = "Lock pages",
            .summary = "Protects pages from eviction for a time.",
            .effects = VCM_OP_WRITES,
        },
};

const struct vcm_op vcm_op_unlock = {
    .name = "unlock",
    .summary = "remove locks",
    .description = "Removes the owner's locks on the pages before they expire. A page without a "
                   "lock is not an error.",
    .examples = unlock_examples,
    .params = unlock_params,
    .param_count = VCM_OP_COUNT(unlock_params),
    .result = unlock_result,
    .run = run_unlock,
    .print = print_unlock,
    .tool =
        {
            .sets = VCM_OP_SET_STORE,
            .title = "Unlock pages",
            .summary = "Ends locks of pages.",
            .effects = VCM_OP_WRITES | VCM_OP_IDEMPOTENT,
        },
};
