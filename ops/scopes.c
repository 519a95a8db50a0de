#include <stdio.h>

#include "ops/shared.h"

#include "base/banned.h"

static const struct vcm_result_member scope_members[] = {
    {.name = "scope_id", VCM_RESULT_FIELD(struct vcm_scope_info, scope_id), .summary = "its id"},
    {.name = "name", VCM_RESULT_FIELD(struct vcm_scope_info, name), .summary = "name of the row"},
    {.name = "type",
     VCM_RESULT_FIELD(struct vcm_scope_info, type),
     .summary = "type of its source"},
    {.name = "repo_root",
     VCM_RESULT_FIELD(struct vcm_scope_info, repo_root),
     .summary = "root of the repository"},
    {.name = "origin_url",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_scope_info, origin_url),
     .summary = "URL of the remote origin, or null"},
    {.name = "branch",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_scope_info, branch),
     .summary = "mapped branch, or null"},
    {.name = "commit",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_scope_info, commit),
     .summary = "mapped commit; null for a working tree"},
    {.name = "tree",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_scope_info, tree),
     .summary = "id of the tree that the working tree made when it was mapped, or null"},
    {.name = "flush_threshold",
     VCM_RESULT_FIELD(struct vcm_scope_info, flush_threshold),
     .summary = "maximum number of records in a page"},
    {.name = "flush_token_budget",
     VCM_RESULT_FIELD(struct vcm_scope_info, flush_token_budget),
     .summary = "maximum number of tokens in a page"},
    {.name = "pinned",
     VCM_RESULT_FIELD(struct vcm_scope_info, pinned),
     .summary = "whether its pages are exempt from eviction"},
    {.name = "records",
     VCM_RESULT_FIELD(struct vcm_scope_info, records),
     .summary = "number of records in its pages"},
    {.name = "pages",
     VCM_RESULT_FIELD(struct vcm_scope_info, pages),
     .summary = "number of pages in its page table"},
    {.name = "tokens",
     VCM_RESULT_FIELD(struct vcm_scope_info, tokens),
     .summary = "tokens of its pages"},
    {.name = "bytes",
     VCM_RESULT_FIELD(struct vcm_scope_info, bytes),
     .summary = "size of its pages"},
    {.name = "coverage",
     VCM_RESULT_INNER(struct vcm_scope_info, coverage, vcm_shared_coverage),
     .summary = "number of files by outcome"},
    {.name = "mapped_at",
     VCM_RESULT_FIELD(struct vcm_scope_info, mapped_at),
     .summary = "time of mapping, Unix seconds"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "scopes",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = scope_members,
     .summary = "all mapped scopes, by id"},
    VCM_ANSWER_MEMBERS,
    {0},
};

static const char *const examples[] = {"vcm scopes",
                                       "vcm scopes --json | jq -r '.scopes[].scope_id'", NULL};

static int put_scope(void *context, const struct vcm_scope_info *scope, struct vcm_error *err)
{
    struct vcm_jsonw *w = context;

    (void)err;
    vcm_result_put(w, scope_members, scope);
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
        snprintf(commit, sizeof commit, "%s",
                 vcm_json_get_text(s, "commit", vcm_json_get_text(s, "tree", "")));
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
    .summary = "list mapped scopes",
    .description = "A scope is one mapped row of a repository's map: a page table, with the commit "
                   "and the configuration it was made from.",
    .examples = examples,
    .result = result,
    .list = {"scopes", {"scope_id"}},
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_CORE | VCM_OP_SET_REPO,
            .title = "List scopes",
            .summary =
                "Lists what is mapped: scope ids with repository, branch, commit, pages, tokens "
                "and the ledger of what was left out. Start here to learn which scopes there are.",
        },
};
