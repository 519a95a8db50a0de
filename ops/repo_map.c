#include <string.h>

#include "base/defaults.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { REPO, BUDGET, INCLUDE, FOCUS, MENTION, RANKING, FORMAT, COMMIT, WORKTREE };

static const char *const formats[] = {"text", "json", NULL};
static const char *const rankings[] = {"references", "symbols", NULL};

static const struct vcm_op_param params[] = {
    [REPO] = {.name = "path",
              .type = VCM_OP_TEXT,
              .positional = true,
              .placeholder = "REPO",
              .hint = VCM_OP_HINT_DIRECTORY,
              .reach = VCM_OP_REACH_REPO,
              .default_text = "the repository around the current directory",
              .summary = "path of a repository, or of a directory in it, or a git URL"},
    [BUDGET] = {.name = "token-budget",
                .type = VCM_OP_NUMBER,
                .placeholder = "N",
                .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_REPO_MAP_TOKENS),
                .min = 1,
                .max = 10000000,
                .summary = "maximum number of tokens (o200k_base) of the map"},
    [INCLUDE] = {.name = "include",
                 .type = VCM_OP_TEXT,
                 .placeholder = "GLOB",
                 .repeated = true,
                 .summary = "only files that match, as in .gitignore"},
    [FOCUS] = {.name = "focus",
               .type = VCM_OP_TEXT,
               .placeholder = "PATH",
               .repeated = true,
               .summary = "file or directory, relative to the root, to rank higher"},
    [MENTION] = {.name = "mention",
                 .type = VCM_OP_TEXT,
                 .placeholder = "NAME",
                 .repeated = true,
                 .summary = "name of a symbol, file or directory to rank higher"},
    [RANKING] = {.name = "ranking",
                 .reach = VCM_OP_REACH_HERE,
                 .type = VCM_OP_CHOICE,
                 .placeholder = "R",
                 .default_text = "references",
                 .choices = rankings,
                 .summary = "rank by use, or by the number of symbols"},
    [FORMAT] = {.name = "format",
                .reach = VCM_OP_REACH_HERE,
                .type = VCM_OP_CHOICE,
                .placeholder = "F",
                .default_text = "text",
                .choices = formats,
                .summary = "the map, or the document"},
    [COMMIT] = VCM_SHARED_LOOK_AT_COMMIT,
    [WORKTREE] = {.name = "worktree",
                  .type = VCM_OP_FLAG,
                  .summary = "HEAD with what is changed, added and deleted"},
};

static const char *const reasons[] = {"no_files", "filtered_out",          "not_fetched",
                                      "damaged",  "no_supported_language", "budget_too_small",
                                      NULL};

static const struct vcm_result_member source_members[] = {
    {.name = "tree-sitter",
     .type = VCM_RESULT_INTEGER,
     .optional = true,
     .summary = "number of files whose symbols came from it"},
    {.name = "ctags",
     .type = VCM_RESULT_INTEGER,
     .optional = true,
     .summary = "number of files whose symbols came from it"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "map",
     .type = VCM_RESULT_TEXT,
     .summary = "one block per file: its path, then kind, signature and line of its best symbols"},
    {.name = "tokens",
     .type = VCM_RESULT_INTEGER,
     .summary = "exact token count of the map; never above the budget"},
    {.name = "tokens_estimated",
     .type = VCM_RESULT_INTEGER,
     .summary = "the same as tokens, for older callers"},
    {.name = "files_covered",
     .type = VCM_RESULT_INTEGER,
     .summary = "number of files that the map shows"},
    {.name = "files_total",
     .type = VCM_RESULT_INTEGER,
     .summary = "number of tracked files that match the globs"},
    {.name = "files_not_fetched",
     .type = VCM_RESULT_INTEGER,
     .summary = "of these, how many a partial clone did not fetch"},
    {.name = "symbols_shown",
     .type = VCM_RESULT_INTEGER,
     .summary = "number of symbols that the map shows"},
    {.name = "symbols_total",
     .type = VCM_RESULT_INTEGER,
     .summary = "number of symbols that these files define"},
    {.name = "symbols_dropped",
     .type = VCM_RESULT_INTEGER,
     .summary = "number of symbols that the map does not show"},
    {.name = "files_dropped",
     .type = VCM_RESULT_INTEGER,
     .summary = "files with definitions of which none is shown"},
    {.name = "next",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .summary = "best symbol that was left out, with its file; null if there is none"},
    {.name = "next_budget",
     .type = VCM_RESULT_INTEGER,
     .nullable = true,
     .summary = "budget with which it would be shown; null if there is none"},
    {.name = "sources",
     .type = VCM_RESULT_OBJECT,
     .members = source_members,
     .summary = "number of files by the origin of their symbols"},
    {.name = "incomplete",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = vcm_shared_gap_members,
     .summary = "files that cannot be read"},
    {.name = "commit",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .summary = "commit that was looked at; null for the working tree"},
    {.name = "reason",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .choices = reasons,
     .summary = "why the map is empty, else null"},
    {0},
};

static const char *const examples[] = {
    "vcm repo map",
    "vcm repo map --token-budget 4000 --focus src/store --mention evict",
    "vcm repo map --include '*.py' --json | jq -r .map",
    NULL,
};

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const char *format = vcm_op_text(call, FORMAT), *ranking = vcm_op_text(call, RANKING);
    const struct vcm_repo_map_options options = {
        .path = vcm_op_text(call, REPO),
        .commit = vcm_op_text(call, COMMIT),
        .worktree = vcm_op_flag(call, WORKTREE),
        .progress = call->progress,
        .progress_context = call->progress_context,
        .token_budget = vcm_op_number(call, BUDGET, 0),
        .include = call->values[INCLUDE].list,
        .include_count = call->values[INCLUDE].count,
        .focus = call->values[FOCUS].list,
        .focus_count = call->values[FOCUS].count,
        .mentions = call->values[MENTION].list,
        .mention_count = call->values[MENTION].count,
        .by_symbol_count = ranking && strcmp(ranking, "symbols") == 0,
    };

    call->json_wanted = format && strcmp(format, "json") == 0;
    return vcm_repo_map(call->vcm, &options, vcm_shared_put_document, call, err);
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    const char *reason = vcm_json_get_text(document, "reason", NULL);

    vcm_print_text(out, VCM_PRINT_PLAIN, vcm_json_get_text(document, "map", ""));
    int64_t absent = vcm_json_get_int(document, "files_not_fetched", 0);
    if (reason && !call->quiet)
        vcm_print_format(out, VCM_PRINT_WARNING, "the map is empty: %s\n", reason);
    if (absent > 0 && !call->quiet)
        vcm_print_format(out, VCM_PRINT_WARNING,
                         "%lld files are not fetched; vcm repo fetch without --subpath does it\n",
                         (long long)absent);
    if (!call->quiet)
        vcm_shared_print_incomplete(out, vcm_json_get(document, "incomplete"));
}

const struct vcm_op vcm_op_repo_map = {
    .name = "repo map",
    .summary = "show the most used definitions of a repository",
    .description =
        "Ranks the files of a commit by how often other files use the names they define, and shows "
        "the "
        "most important signatures within the token budget. Symbols are extracted once per blob "
        "and cached in the home. Tests, generated and vendored files are ranked lower.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_CORE | VCM_OP_SET_REPO,
            .title = "Map of a repository",
            .summary = "Shows the most important files and symbols of a repository within a token "
                       "budget, ranked by use. Start here to get to know a repository; focus and "
                       "mention put your task first.",
        },
};
