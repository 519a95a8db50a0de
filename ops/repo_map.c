#include <string.h>

#include "base/defaults.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { REPO, BUDGET, INCLUDE, FOCUS, MENTION, RANKING, FORMAT };

static const char *const formats[] = {"text", "json", NULL};
static const char *const rankings[] = {"references", "symbols", NULL};

static const struct vcm_op_param params[] = {
    [REPO] = {.name = "path",
              .type = VCM_OP_TEXT,
              .positional = true,
              .placeholder = "REPO",
              .hint = VCM_OP_HINT_DIRECTORY,
              .default_text = "the repository around the current directory",
              .summary = "path of a repository, or of a directory in it to look at alone"},
    [BUDGET] = {.name = "token-budget",
                .type = VCM_OP_NUMBER,
                .placeholder = "N",
                .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_REPO_MAP_TOKENS),
                .min = 1,
                .max = 10000000,
                .summary = "how many tokens (o200k_base) the map may have; never more"},
    [INCLUDE] = {.name = "include",
                 .type = VCM_OP_TEXT,
                 .placeholder = "GLOB",
                 .repeated = true,
                 .summary = "only files that match, as in .gitignore"},
    [FOCUS] = {.name = "focus",
               .type = VCM_OP_TEXT,
               .placeholder = "PATH",
               .repeated = true,
               .summary = "a file or directory, from the root, that matters more"},
    [MENTION] = {.name = "mention",
                 .type = VCM_OP_TEXT,
                 .placeholder = "NAME",
                 .repeated = true,
                 .summary = "a name that matters more: of a symbol, a file or a directory"},
    [RANKING] = {.name = "ranking",
                 .type = VCM_OP_CHOICE,
                 .placeholder = "R",
                 .default_text = "references",
                 .choices = rankings,
                 .summary = "by who uses what, or by the number of symbols"},
    [FORMAT] = {.name = "format",
                .type = VCM_OP_CHOICE,
                .placeholder = "F",
                .default_text = "text",
                .choices = formats,
                .summary = "the map, or the document"},
};

static const char *const reasons[] = {
    "no_files", "filtered_out", "not_fetched", "no_supported_language", "budget_too_small", NULL};

static const struct vcm_result_member source_members[] = {
    {.name = "tree-sitter",
     .type = VCM_RESULT_INTEGER,
     .optional = true,
     .summary = "files whose symbols it found"},
    {.name = "ctags", .type = VCM_RESULT_INTEGER, .optional = true, .summary = "likewise"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "map",
     .type = VCM_RESULT_TEXT,
     .summary = "a block a file: its path, then kind, signature and line of its best symbols"},
    {.name = "tokens",
     .type = VCM_RESULT_INTEGER,
     .summary = "of the map, exactly; never above the budget"},
    {.name = "tokens_estimated",
     .type = VCM_RESULT_INTEGER,
     .summary = "the same, for callers of an older shape"},
    {.name = "files_covered",
     .type = VCM_RESULT_INTEGER,
     .summary = "files that the map shows something of"},
    {.name = "files_total",
     .type = VCM_RESULT_INTEGER,
     .summary = "tracked files that match the globs"},
    {.name = "files_not_fetched",
     .type = VCM_RESULT_INTEGER,
     .summary = "of these, how many are not in a clone of which a part was fetched"},
    {.name = "symbols_shown", .type = VCM_RESULT_INTEGER, .summary = "how many the map shows"},
    {.name = "symbols_total", .type = VCM_RESULT_INTEGER, .summary = "how many these files define"},
    {.name = "symbols_dropped", .type = VCM_RESULT_INTEGER, .summary = "how many it does not show"},
    {.name = "files_dropped",
     .type = VCM_RESULT_INTEGER,
     .summary = "files that define something, and of which nothing is shown"},
    {.name = "next",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .summary = "the best symbol that was left out, with its file; null for none"},
    {.name = "next_budget",
     .type = VCM_RESULT_INTEGER,
     .nullable = true,
     .summary = "the budget that would hold it; null for none"},
    {.name = "sources",
     .type = VCM_RESULT_OBJECT,
     .members = source_members,
     .summary = "how many files have their symbols from where"},
    {.name = "commit", .type = VCM_RESULT_TEXT, .summary = "that was looked at: HEAD"},
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
}

const struct vcm_op vcm_op_repo_map = {
    .name = "repo map",
    .summary = "show what is defined where, the most used first",
    .description =
        "Ranks the files of HEAD by who uses the names that they define, and shows the signatures "
        "that matter most in exactly the tokens that can be spared. Symbols are read once for each "
        "blob and kept in the home. Tests, generated and vendored files stand back.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
};
