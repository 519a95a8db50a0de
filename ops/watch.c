#include "ops/shared.h"
#include "ops/watch_shared.h"

#include "base/banned.h"

enum { REPO, SCOPE, BRANCH, ONLY, POLL, TIMEOUT };

static const struct vcm_op_param params[] = {
    [REPO] = VCM_SHARED_REPO,
    [SCOPE] = VCM_SHARED_BASE,
    [BRANCH] = VCM_SHARED_BRANCH("branch to follow"),
    [ONLY] = VCM_SHARED_ONLY("follow only this row (may be repeated)"),
    [POLL] = VCM_WATCH_POLL,
    [TIMEOUT] = VCM_SHARED_TIMEOUT,
};

static const char *const examples[] = {
    "vcm watch",
    "vcm watch ~/src/tool --poll 5m --json | jq -r .page_id",
    NULL,
};

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const char *repo = vcm_op_text(call, REPO);
    struct vcm_map_options options = {
        .repository = repo ? repo : ".",
        .base_scope_id = vcm_op_text(call, SCOPE),
        .branch = vcm_op_text(call, BRANCH),
        .only = call->values[ONLY].list,
        .only_count = call->values[ONLY].count,
        .progress = call->progress,
        .progress_context = call->progress_context,
    };

    int rc = vcm_shared_timeout(&options.timeout_ms, vcm_op_text(call, TIMEOUT), err);
    if (rc == VCM_OK)
        rc = vcm_watch_shared_run(call, &options, vcm_op_text(call, POLL), NULL, err);
    return rc;
}

/* A watch prints only events. */
static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    (void)call;
    vcm_watch_shared_print_event(out, document);
}

const struct vcm_op vcm_op_watch = {
    .name = "watch",
    .summary = "keep a repository mapped and print the pages that change",
    .description =
        "Maps the rows that are not static, and maps them again whenever a commit, a checkout or a "
        "fetch moves HEAD or a branch, and when a remote has moved. Static rows that are already "
        "mapped stay as they are.\n\nPrints one line for each page that changed; with --json, an "
        "object. A new page that shares a path with a dropped one replaces it, other new pages are "
        "added, and other dropped pages are invalidated.\n\nContinues after failures and while the "
        "repository is missing, until it is interrupted (exit status 130) or its reader is gone.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = vcm_watch_event,
    .is_stream = true,
    .run = run,
    .print = print,
    .print_event = vcm_watch_shared_print_event,
};
