#include "base/limits.h"
#include "ops/map_print.h"
#include "ops/report.h"
#include "ops/shared.h"
#include "ops/watch_shared.h"

#include "base/banned.h"

enum {
    REPO,
    SCOPE,
    BRANCH,
    COMMIT,
    WORKTREE,
    ONLY,
    KNOWLEDGE,
    FLUSH_THRESHOLD,
    FLUSH_TOKEN_BUDGET,
    PINNED,
    REPLACE,
    DRY_RUN,
    JOBS,
    TIMEOUT,
    WATCH,
    POLL
};

static const struct vcm_op_param params[] = {
    [REPO] = VCM_SHARED_REPO,
    [SCOPE] = VCM_SHARED_BASE,
    [BRANCH] = VCM_SHARED_BRANCH("branch to map"),
    [COMMIT] = VCM_SHARED_COMMIT("commit or tag to map"),
    [WORKTREE] = {.name = "worktree",
                  .type = VCM_OP_FLAG,
                  .summary =
                      "map the working tree: HEAD with what is changed, staged, untracked and "
                      "not ignored, and deleted"},
    [ONLY] = VCM_SHARED_ONLY("map only this row (may be repeated)"),
    [KNOWLEDGE] = {.name = "knowledge",
                   .reach = VCM_OP_REACH_HERE,
                   .type = VCM_OP_FLAG,
                   .summary = "follow knowledge_routing even with --only"},
    [FLUSH_THRESHOLD] = {.name = "flush-threshold",
                         .reach = VCM_OP_REACH_HERE,
                         .type = VCM_OP_NUMBER,
                         .placeholder = "N",
                         .min = 1,
                         .max = VCM_LIMIT_FLUSH_THRESHOLD_MAX,
                         .default_text = "mmap.flush_threshold",
                         .summary = "maximum number of records in a page"},
    [FLUSH_TOKEN_BUDGET] = {.name = "flush-token-budget",
                            .reach = VCM_OP_REACH_HERE,
                            .type = VCM_OP_NUMBER,
                            .placeholder = "N",
                            .min = VCM_LIMIT_TOKEN_BUDGET_MIN,
                            .max = VCM_LIMIT_TOKEN_BUDGET_MAX,
                            .default_text = "mmap.flush_token_budget",
                            .summary = "maximum number of tokens in a page"},
    [PINNED] = {.name = "pinned", .type = VCM_OP_FLAG, .summary = "exempt the pages from eviction"},
    [REPLACE] = {.name = "replace",
                 .type = VCM_OP_FLAG,
                 .summary = "replace a scope of this name that another repository has"},
    [DRY_RUN] = {.name = "dry-run",
                 .reach = VCM_OP_REACH_HERE,
                 .type = VCM_OP_FLAG,
                 .summary = "print what preview prints, with file counts, and do nothing"},
    [JOBS] = {.name = "jobs",
              .reach = VCM_OP_REACH_HERE,
              .type = VCM_OP_NUMBER,
              .placeholder = "N",
              .min = 1,
              .max = VCM_LIMIT_WORKERS,
              .default_text = "one per core",
              .summary = "number of files to read in parallel; does not change the pages"},
    [TIMEOUT] = VCM_SHARED_TIMEOUT,
    [WATCH] = {.name = "watch",
               .reach = VCM_OP_REACH_HERE,
               .type = VCM_OP_FLAG,
               .summary = "then keep mapping changes, as 'vcm watch' does"},
    [POLL] = VCM_WATCH_POLL,
};

static const char *const statuses[] = {"mapped", "already_mapped", "partial", "error", NULL};
static const char *const source_statuses[] = {"mapped", "already_mapped", "remapped", "error",
                                              NULL};

static void put_status(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_map_result *map = from;

    vcm_jsonw_string(w, vcm_status_name(map->status));
}

static void put_source_status(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_map_source *source = from;

    vcm_jsonw_string(w, vcm_status_name(source->status));
}

static void put_source_code(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_map_source *source = from;

    vcm_jsonw_string(w, source->code == VCM_OK ? NULL : vcm_error_code_name(source->code));
}

static const struct vcm_result_member source_members[] = {
    {.name = "name", VCM_RESULT_FIELD(struct vcm_map_source, name), .summary = "name of the row"},
    {.name = "scope_id",
     VCM_RESULT_FIELD(struct vcm_map_source, scope_id),
     .summary = "scope of the row"},
    {.name = "status",
     .type = VCM_RESULT_TEXT,
     .choices = source_statuses,
     .put = put_source_status,
     .summary = "its outcome"},
    {.name = "code",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .choices = VCM_ERROR_CODES,
     .put = put_source_code,
     .summary = "why it failed, or null"},
    {.name = "message",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_source, message),
     .summary = "a note, or null"},
    {.name = "commit",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_source, commit),
     .summary = "mapped commit; null if it is not known, and for a working tree"},
    {.name = "tree",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_source, tree),
     .summary = "id of the tree that the working tree makes, or null"},
    {.name = "records",
     VCM_RESULT_FIELD(struct vcm_map_source, records),
     .summary = "number of records in its pages"},
    {.name = "pages",
     VCM_RESULT_FIELD(struct vcm_map_source, pages),
     .summary = "number of pages in its page table"},
    {.name = "tokens",
     VCM_RESULT_FIELD(struct vcm_map_source, tokens),
     .summary = "tokens of its pages"},
    {.name = "bytes",
     VCM_RESULT_FIELD(struct vcm_map_source, bytes),
     .summary = "size of its pages"},
    {.name = "pages_created",
     VCM_RESULT_FIELD(struct vcm_map_source, pages_created),
     .summary = "pages that were new to the store"},
    {.name = "pages_reused",
     VCM_RESULT_FIELD(struct vcm_map_source, pages_reused),
     .summary = "pages that the store already had"},
    {.name = "pages_dropped",
     VCM_RESULT_FIELD(struct vcm_map_source, pages_dropped),
     .summary = "pages that left the page table"},
    {.name = "coverage",
     VCM_RESULT_INNER(struct vcm_map_source, coverage, vcm_shared_coverage),
     .summary = "number of files by outcome"},
    {.name = "elapsed_ms",
     VCM_RESULT_FIELD(struct vcm_map_source, elapsed_ms),
     .summary = "time it took"},
    {0},
};

static const struct vcm_result_member knowledge_members[] = {
    {.name = "ingested",
     VCM_RESULT_FIELD(struct vcm_map_knowledge, ingested),
     .summary = "number of documents that are new or changed"},
    {.name = "skipped",
     VCM_RESULT_FIELD(struct vcm_map_knowledge, skipped),
     .summary = "number of documents already present"},
    {.name = "failed",
     VCM_RESULT_FIELD(struct vcm_map_knowledge, failed),
     .summary = "number of documents that could not be read"},
    {.name = "removed",
     VCM_RESULT_FIELD(struct vcm_map_knowledge, removed),
     .summary = "number of documents removed because their file left the tree"},
    {.name = "files",
     VCM_RESULT_STRUCTS(struct vcm_map_knowledge, files, file_count, vcm_shared_kb_file),
     .summary = "outcome of each document"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "repo_root",
     VCM_RESULT_FIELD(struct vcm_map_result, repo_root),
     .summary = "the working tree, or the directory of a bare repository"},
    {.name = "origin_url",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_result, origin_url),
     .summary = "URL of the remote origin without credentials, or null"},
    {.name = "branch",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_result, branch),
     .summary = "mapped branch, or null"},
    {.name = "commit",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_result, commit),
     .summary = "mapped commit; null for a working tree"},
    {.name = "tree",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_result, tree),
     .summary = "id of the tree that the working tree makes, or null"},
    {.name = "worktree_changes",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_result, worktree_changes),
     .summary =
         "number of files of the working tree that differ from the commit, or from HEAD with "
         "--worktree; null without a working tree"},
    {.name = "base_scope_id",
     VCM_RESULT_FIELD(struct vcm_map_result, base_scope_id),
     .summary = "base name of the scopes"},
    {.name = "status",
     .type = VCM_RESULT_TEXT,
     .choices = statuses,
     .put = put_status,
     .summary = "summary of all rows"},
    {.name = "sources",
     VCM_RESULT_STRUCTS(struct vcm_map_result, sources, source_count, source_members),
     .summary = "outcome of each row, with its coverage"},
    {.name = "unmapped",
     VCM_RESULT_STRINGS(struct vcm_map_result, unmapped, unmapped_count),
     .summary = "scopes that were unmapped because no row names them any more"},
    {.name = "knowledge",
     VCM_RESULT_INNER(struct vcm_map_result, knowledge, knowledge_members),
     .summary = "outcome of following knowledge_routing"},
    {.name = "elapsed_ms",
     VCM_RESULT_FIELD(struct vcm_map_result, elapsed_ms),
     .summary = "time it took"},
    {0},
};

static const struct vcm_op_document also[] = {
    {.when = "with --dry-run", .members = vcm_report_counted_preview},
    {.when = "each line after the first, with --watch", .members = vcm_watch_event},
    {0},
};

static const char *const examples[] = {
    "vcm map .",
    "vcm map ~/src/tool --branch stable --scope tool-stable",
    "vcm map https://github.com/org/tool.git --commit v1.2",
    "vcm map --worktree",
    "vcm map --watch --json",
    "vcm map --flush-token-budget 2048 --json | jq '.sources[].coverage'",
    NULL,
};

static void put_result(struct vcm_jsonw *w, const struct vcm_map_result *map)
{
    vcm_result_put(w, result, map);
}

/* Reports what the mapping would do, with file counts, and does nothing. */
static int run_dry(struct vcm_op_call *call, const struct vcm_map_options *options,
                   struct vcm_error *err)
{
    const struct vcm_map_query query = {
        .repository = options->repository,
        .base_scope_id = options->base_scope_id,
        .branch = options->branch,
        .commit = options->commit,
        .only = options->only,
        .only_count = options->only_count,
        .from_commit = true,
        .flush_threshold = options->flush_threshold,
        .flush_token_budget = options->flush_token_budget,
        .pinned = options->pinned,
        .timeout_ms = options->timeout_ms,
    };

    return vcm_report_preview_run(call, &query, vcm_report_counted_preview, err);
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const char *repo = vcm_op_text(call, REPO);
    unsigned timeout_ms = 0;
    int rc = vcm_shared_timeout(&timeout_ms, vcm_op_text(call, TIMEOUT), err);
    if (rc != VCM_OK)
        return rc;
    const struct vcm_map_options options = {
        .repository = repo ? repo : ".",
        .base_scope_id = vcm_op_text(call, SCOPE),
        .branch = vcm_op_text(call, BRANCH),
        .commit = vcm_op_text(call, COMMIT),
        .worktree = vcm_op_flag(call, WORKTREE),
        .only = call->values[ONLY].list,
        .only_count = call->values[ONLY].count,
        .flush_threshold = (uint32_t)vcm_op_number(call, FLUSH_THRESHOLD, 0),
        .flush_token_budget = (uint32_t)vcm_op_number(call, FLUSH_TOKEN_BUDGET, 0),
        .pinned = vcm_op_flag(call, PINNED),
        .replace = vcm_op_flag(call, REPLACE),
        .knowledge = vcm_op_flag(call, KNOWLEDGE),
        .jobs = (unsigned)vcm_op_number(call, JOBS, 0),
        .timeout_ms = timeout_ms,
        .progress = call->progress,
        .progress_context = call->progress_context,
    };
    struct vcm_map_result *map = NULL;

    if (options.worktree && (vcm_op_flag(call, WATCH) || vcm_op_flag(call, DRY_RUN)))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "--worktree maps once; it goes neither with --watch nor with "
                             "--dry-run");
    if (vcm_op_flag(call, DRY_RUN))
        return run_dry(call, &options, err);
    if (vcm_op_flag(call, WATCH))
        return vcm_watch_shared_run(call, &options, vcm_op_text(call, POLL), put_result, err);
    rc = vcm_map(&map, call->vcm, &options, err);
    if (rc != VCM_OK)
        return rc;
    call->exit_status = map->status == VCM_STATUS_ERROR     ? 1
                        : map->status == VCM_STATUS_PARTIAL ? 3
                                                            : 0;
    put_result(call->out, map);
    vcm_map_result_free(map);
    return VCM_OK;
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    if (vcm_op_flag(call, DRY_RUN)) {
        vcm_report_print_preview(out, document, call);
        return;
    }
    if (!call->quiet)
        vcm_map_print(out, document);
}

const struct vcm_op vcm_op_map = {
    .name = "map",
    .summary = "map a repository: turn its files into pages",
    .description =
        "Reads .colony/repo_map.yaml from the commit to map; without that file the whole tree is "
        "one row. Options override the rows. The files of the commit are read from the "
        "repository's objects, cut into records, and packed into pages by directory, record count "
        "and token budget. Nothing in the repository is changed or run.\n\nMapping the same commit "
        "again does nothing; after a new commit only pages with changed content are written. Every "
        "tracked file is accounted for: see 'vcm coverage'.\n\nFiles of the "
        "working tree that differ from the commit are counted and not mapped. With --worktree the "
        "working tree is mapped into a scope of its own, '<scope id>@worktree', by git's rules for "
        "what counts; filters such as those for line ends do not run. Pages with text that is in "
        "no "
        "object of the repository are volatile: they are never evicted, count as pinned, and are "
        "not brought back when the store is lost. Committing the same text gives the same "
        "pages.\n\nA git URL (https, ssh, "
        "user@host:path or file) is fetched into a bare clone in the home, as shallow as possible. "
        "So are rows with origin_url, and submodules that are not on this machine. Credentials "
        "come from credentials.<host> of the configuration or from git's credential helpers; vcm "
        "does not prompt for them and does not store them.\n\nFinally, files that "
        "knowledge_routing names are ingested into the knowledge base, unless a route to vcm "
        "matches them too. Documents that are unchanged are skipped; documents whose file left the "
        "tree are removed. The exit status is 3 when some files could not be mapped and the rest "
        "was.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .also = also,
    .run = run,
    .print = print,
    .print_event = vcm_watch_shared_print_event,
    .tool =
        {
            .sets = VCM_OP_SET_CORE | VCM_OP_SET_REPO,
            .title = "Map a repository",
            .summary =
                "Cuts a repository into pages of exact token counts and publishes its page table; "
                "needed once before find, page and pages know it, and again after commits. Answers "
                "with the scope ids, the counts of every outcome (what was left out, and why) and "
                "what changed. A repository that did not change answers already_mapped at once.",
            .effects = VCM_OP_WRITES | VCM_OP_IDEMPOTENT | VCM_OP_NETWORK,
        },
};
