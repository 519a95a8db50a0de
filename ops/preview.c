#include "ops/report.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { REPO, SCOPE, ORIGIN_URL, BRANCH, COMMIT, ONLY };

static const struct vcm_op_param params[] = {
    [REPO] = VCM_SHARED_REPO,
    [SCOPE] = {.name = "scope",
               .type = VCM_OP_TEXT,
               .placeholder = "BASE",
               .default_text = "derived from the origin",
               .summary = "base name of the scopes"},
    [ORIGIN_URL] = {.name = "origin-url",
                    .type = VCM_OP_TEXT,
                    .placeholder = "U",
                    .default_text = "URL of the remote origin",
                    .summary = "URL of the repository"},
    [BRANCH] = {.name = "branch",
                .type = VCM_OP_TEXT,
                .placeholder = "B",
                .default_text = "HEAD's",
                .summary = "branch to map, and to read the map from"},
    [COMMIT] = {.name = "commit",
                .type = VCM_OP_TEXT,
                .placeholder = "C",
                .default_text = "the branch's tip",
                .summary = "commit to map, and to read the map from"},
    [ONLY] = {.name = "only",
              .type = VCM_OP_TEXT,
              .repeated = true,
              .placeholder = "NAME",
              .summary = "only this row (may be repeated)"},
};

static const char *const examples[] = {
    "vcm preview",
    "vcm preview --only design-code --json | jq '.sources[].mmap_kwargs'",
    NULL,
};

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const char *repo = vcm_op_text(call, REPO);
    const struct vcm_map_query query = {
        .repository = repo ? repo : ".",
        .base_scope_id = vcm_op_text(call, SCOPE),
        .origin_url = vcm_op_text(call, ORIGIN_URL),
        .branch = vcm_op_text(call, BRANCH),
        .commit = vcm_op_text(call, COMMIT),
        .only = call->values[ONLY].list,
        .only_count = call->values[ONLY].count,
    };
    struct vcm_map_report *report = NULL;

    int rc = vcm_map_preview(&report, call->vcm, &query, err);
    if (rc != VCM_OK)
        return rc;
    call->exit_status = vcm_report_preview_status(report);
    vcm_result_put(call->out, vcm_report_preview, report);
    vcm_map_report_free(report);
    return VCM_OK;
}

const struct vcm_op vcm_op_preview = {
    .name = "preview",
    .summary = "show what map would do, without doing it",
    .description =
        "Shows for each row of the map the call that would map it: scope, type, origin, branch, "
        "commit, and those other fields that the row sets. Reads the map of the working tree, "
        "unless a branch or commit is given. Nothing is written and the network is not used. The "
        "exit status is 3 when some rows cannot be resolved, 1 when none can.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = vcm_report_preview,
    .run = run,
    .print = vcm_report_print_preview,
};
