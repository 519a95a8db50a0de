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
    [SCOPE] = {.name = "scope",
               .type = VCM_OP_TEXT,
               .placeholder = "BASE",
               .default_text = "made from the origin",
               .summary = "base name of the scopes that are mapped"},
    [BRANCH] = {.name = "branch",
                .type = VCM_OP_TEXT,
                .placeholder = "B",
                .default_text = "HEAD's",
                .summary = "branch to map"},
    [COMMIT] = {.name = "commit",
                .type = VCM_OP_TEXT,
                .placeholder = "C",
                .default_text = "the branch's tip",
                .summary = "commit or tag to map"},
    [ONLY] = {.name = "only",
              .type = VCM_OP_TEXT,
              .repeated = true,
              .placeholder = "NAME",
              .summary = "map this row of the map alone (may be given several times)"},
    [KNOWLEDGE] = {.name = "knowledge",
                   .type = VCM_OP_FLAG,
                   .summary = "follow knowledge_routing with --only, too"},
    [FLUSH_THRESHOLD] = {.name = "flush-threshold",
                         .type = VCM_OP_NUMBER,
                         .placeholder = "N",
                         .min = 1,
                         .max = VCM_LIMIT_FLUSH_THRESHOLD_MAX,
                         .default_text = "mmap.flush_threshold",
                         .summary = "most records in a page"},
    [FLUSH_TOKEN_BUDGET] = {.name = "flush-token-budget",
                            .type = VCM_OP_NUMBER,
                            .placeholder = "N",
                            .min = VCM_LIMIT_TOKEN_BUDGET_MIN,
                            .max = VCM_LIMIT_TOKEN_BUDGET_MAX,
                            .default_text = "mmap.flush_token_budget",
                            .summary = "most tokens in a page"},
    [PINNED] = {.name = "pinned", .type = VCM_OP_FLAG, .summary = "exempt the pages from eviction"},
    [REPLACE] = {.name = "replace",
                 .type = VCM_OP_FLAG,
                 .summary = "let another repository take the scope over"},
    [DRY_RUN] = {.name = "dry-run",
                 .type = VCM_OP_FLAG,
                 .summary = "print what preview prints, with the files of each row, and stop"},
    [JOBS] = {.name = "jobs",
              .type = VCM_OP_NUMBER,
              .placeholder = "N",
              .min = 1,
              .max = VCM_LIMIT_WORKERS,
              .default_text = "one for each core",
              .summary = "how many files to read at a time; the pages are the same"},
    [TIMEOUT] = VCM_SHARED_TIMEOUT,
    [WATCH] = {.name = "watch",
               .type = VCM_OP_FLAG,
               .summary = "then follow the rows that are not static, as 'vcm watch' does"},
    [POLL] = VCM_WATCH_POLL,
};

static const struct vcm_op_key result[] = {
    {"repo_root", "the working tree, or the directory of a bare repository"},
    {"origin_url", "URL of the remote origin without credentials, or null"},
    {"branch", "the branch that was mapped, or null"},
    {"commit", "the commit that was mapped"},
    {"base_scope_id", "what the scopes are called"},
    {"status", "mapped, already_mapped, partial or error"},
    {"sources", "what became of each row, with its coverage ledger"},
    {"unmapped", "scopes of the base that no row names any more"},
    {"knowledge", "what became of files that are routed to the knowledge base"},
    {"elapsed_ms", "how long it took"},
    {NULL, NULL},
};

static const char *const examples[] = {
    "vcm map .",
    "vcm map ~/src/tool --branch stable --scope tool-stable",
    "vcm map https://github.com/org/tool.git --commit v1.2",
    "vcm map --watch --json",
    "vcm map --flush-token-budget 2048 --json | jq '.sources[].coverage'",
    NULL,
};

static void put_source(struct vcm_jsonw *w, const struct vcm_map_source *source)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "name", source->name);
    vcm_jsonw_member_string(w, "scope_id", source->scope_id);
    vcm_jsonw_member_string(w, "status", vcm_status_name(source->status));
    vcm_jsonw_member_string(w, "code",
                            source->code == VCM_OK ? NULL : vcm_error_code_name(source->code));
    vcm_jsonw_member_string(w, "message", source->message);
    vcm_jsonw_member_string(w, "commit", source->commit);
    vcm_jsonw_member_uint(w, "records", source->records);
    vcm_jsonw_member_uint(w, "pages", source->pages);
    vcm_jsonw_member_uint(w, "tokens", source->tokens);
    vcm_jsonw_member_uint(w, "bytes", source->bytes);
    vcm_jsonw_member_uint(w, "pages_created", source->pages_created);
    vcm_jsonw_member_uint(w, "pages_reused", source->pages_reused);
    vcm_jsonw_member_uint(w, "pages_dropped", source->pages_dropped);
    vcm_shared_put_coverage(w, &source->coverage);
    vcm_jsonw_member_uint(w, "elapsed_ms", source->elapsed_ms);
    vcm_jsonw_end_object(w);
}

static void put_knowledge(struct vcm_jsonw *w, const struct vcm_map_knowledge *knowledge)
{
    vcm_jsonw_key(w, "knowledge");
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_uint(w, "ingested", knowledge->ingested);
    vcm_jsonw_member_uint(w, "skipped", knowledge->skipped);
    vcm_jsonw_member_uint(w, "failed", knowledge->failed);
    vcm_jsonw_member_uint(w, "removed", knowledge->removed);
    vcm_jsonw_key(w, "files");
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < knowledge->file_count; i++) {
        const struct vcm_kb_file *file = &knowledge->files[i];
        vcm_jsonw_begin_object(w);
        vcm_jsonw_member_string(w, "path", file->path);
        vcm_jsonw_member_string(w, "status", file->status);
        vcm_jsonw_member_string(w, "data_type", file->data_type);
        vcm_jsonw_member_uint(w, "chunks", file->chunks);
        vcm_jsonw_member_string(w, "message", file->message);
        vcm_jsonw_end_object(w);
    }
    vcm_jsonw_end_array(w);
    vcm_jsonw_end_object(w);
}

static void put_result(struct vcm_jsonw *w, const struct vcm_map_result *map)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "repo_root", map->repo_root);
    vcm_jsonw_member_string(w, "origin_url", map->origin_url);
    vcm_jsonw_member_string(w, "branch", map->branch);
    vcm_jsonw_member_string(w, "commit", map->commit);
    vcm_jsonw_member_string(w, "base_scope_id", map->base_scope_id);
    vcm_jsonw_member_string(w, "status", vcm_status_name(map->status));
    vcm_jsonw_key(w, "sources");
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < map->source_count; i++)
        put_source(w, &map->sources[i]);
    vcm_jsonw_end_array(w);
    vcm_jsonw_key(w, "unmapped");
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < map->unmapped_count; i++)
        vcm_jsonw_string(w, map->unmapped[i]);
    vcm_jsonw_end_array(w);
    put_knowledge(w, &map->knowledge);
    vcm_jsonw_member_uint(w, "elapsed_ms", map->elapsed_ms);
    vcm_jsonw_end_object(w);
}

/* The same calls by the same map, with counts, and nothing done. */
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
    struct vcm_map_report *report = NULL;

    int rc = vcm_map_preview(&report, call->vcm, &query, err);
    if (rc != VCM_OK)
        return rc;
    call->exit_status = vcm_report_preview_status(report);
    vcm_report_put_preview(call->out, report, true);
    vcm_map_report_free(report);
    return VCM_OK;
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

    if (vcm_op_flag(call, DRY_RUN))
        return run_dry(call, &options, err);
    if (vcm_op_flag(call, WATCH))
        return vcm_watch_run(call, &options, vcm_op_text(call, POLL), put_result, err);
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
    .summary = "turn a repository's files into pages",
    .description =
        "Reads .colony/repo_map.yaml from the commit that it maps; without one, the whole tree is "
        "one row. Options of the command win over the row's own. Reads the files of the commit "
        "straight from the repository's objects, cuts them into "
        "records, packs the records into pages by directory, record count and token budget, and "
        "keeps the pages in the store. Nothing in the repository is changed or run.\n"
        "A git URL (https, ssh, user@host:path or file) is fetched by git into a bare clone under "
        "the home, as shallow as can be, and so are rows with origin_url and submodules that are "
        "not here. Credentials come from credentials.<host> of the configuration, or from git's "
        "own helpers; vcm asks nobody and keeps none.\n"
        "A second run on the same commit does nothing; after a new commit only pages with changed "
        "content are written. Every tracked file is accounted for in the coverage ledger.\n"
        "Files that knowledge_routing names are then taken into the knowledge base, unless a route "
        "to vcm matches them too; what is there already is passed over, and what the tree lost is "
        "removed. "
        "The exit status is 3 when some files could not be mapped and the rest was.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
    .print_event = vcm_watch_print_event,
};
