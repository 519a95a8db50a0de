#include <stdio.h>

#include "ops/shared.h"

#include "base/banned.h"

static const struct vcm_op_key result[] = {
    {"scopes", "every mapped scope, by its id"},
    {NULL, NULL},
};

static const char *const examples[] = {"vcm scopes",
                                       "vcm scopes --json | jq -r '.scopes[].scope_id'", NULL};

static int put_scope(void *context, const struct vcm_scope_info *scope, struct vcm_error *err)
{
    struct vcm_jsonw *w = context;

    (void)err;
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "scope_id", scope->scope_id);
    vcm_jsonw_member_string(w, "name", scope->name);
    vcm_jsonw_member_string(w, "type", scope->type);
    vcm_jsonw_member_string(w, "repo_root", scope->repo_root);
    vcm_jsonw_member_string(w, "origin_url", scope->origin_url);
    vcm_jsonw_member_string(w, "branch", scope->branch);
    vcm_jsonw_member_string(w, "commit", scope->commit);
    vcm_jsonw_member_uint(w, "flush_threshold", scope->flush_threshold);
    vcm_jsonw_member_uint(w, "flush_token_budget", scope->flush_token_budget);
    vcm_jsonw_member_bool(w, "pinned", scope->pinned);
    vcm_jsonw_member_uint(w, "records", scope->records);
    vcm_jsonw_member_uint(w, "pages", scope->pages);
    vcm_jsonw_member_uint(w, "tokens", scope->tokens);
    vcm_jsonw_member_uint(w, "bytes", scope->bytes);
    vcm_shared_put_coverage(w, &scope->coverage);
    vcm_jsonw_member_uint(w, "mapped_at", scope->mapped_at);
    vcm_jsonw_end_object(w);
    return VCM_OK;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_jsonw *w = call->out;

    vcm_jsonw_begin_object(w);
    vcm_jsonw_key(w, "scopes");
    vcm_jsonw_begin_array(w);
    int rc = vcm_scopes(call->vcm, put_scope, w, err);
    vcm_jsonw_end_array(w);
    vcm_jsonw_end_object(w);
    return rc;
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    static const char *const headings[] = {"SCOPE",   "TYPE",   "COMMIT", "PAGES",
                                           "RECORDS", "TOKENS", "PINNED", "FROM"};
    static const bool right[] = {false, false, false, true, true, true, false, false};
    const struct vcm_json *scopes = vcm_json_get(document, "scopes");
    struct vcm_print_table table;

    if (!scopes->first) {
        if (!call->quiet)
            vcm_print_text(out, VCM_PRINT_PLAIN,
                           "nothing is mapped yet; begin with 'vcm map REPO'\n");
        return;
    }
    vcm_print_table_begin(&table, out, headings, right, VCM_OP_COUNT(headings));
    for (const struct vcm_json *s = scopes->first; s; s = s->next) {
        char commit[13];
        snprintf(commit, sizeof commit, "%s", vcm_json_get_text(s, "commit", ""));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(s, "scope_id", ""));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(s, "type", ""));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, commit);
        vcm_shared_count_cell(&table, s, "pages");
        vcm_shared_count_cell(&table, s, "records");
        vcm_shared_count_cell(&table, s, "tokens");
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN,
                             vcm_json_get_bool(s, "pinned", false) ? "yes" : "no");
        vcm_print_table_cell(
            &table, VCM_PRINT_PLAIN,
            vcm_json_get_text(s, "origin_url", vcm_json_get_text(s, "repo_root", "")));
    }
    vcm_print_table_end(&table);
}

const struct vcm_op vcm_op_scopes = {
    .name = "scopes",
    .summary = "list what is mapped",
    .description = "A scope is one mapped row of a repository's map: a page table with the commit "
                   "and the configuration that it was made from.",
    .examples = examples,
    .result = result,
    .run = run,
    .print = print,
};
