#include "ops/report.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { REPO, SCOPE, ORIGIN_URL, BRANCH, COMMIT, ONLY };

static const struct vcm_op_param params[] = {
    [REPO] = VCM_SHARED_REPO,
    [SCOPE] = VCM_SHARED_BASE,
    [ORIGIN_URL] = {.name = "origin-url",
                    .type = VCM_OP_TEXT,
                    .placeholder = "U",
                    .default_text = "URL of the remote origin",
                    .summary = "URL of the repository"},
    [BRANCH] = VCM_SHARED_BRANCH("branch to map, and to read the map from"),
    [COMMIT] = VCM_SHARED_COMMIT("commit to map, and to read the map from"),
    [ONLY] = VCM_SHARED_ONLY("only this row (may be repeated)"),
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

    return vcm_report_preview_run(call, &query, vcm_report_preview, err);
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
    .tool =
        {
            .sets = VCM_OP_SET_REPO,
            .title = "Preview a mapping",
            .summary = "Shows what map would do, row by row, and does nothing: scope ids, commits, "
                       "configuration, matched files of routes.",
        },
};
