#include <stdio.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { PATHS, REPO, DRY_RUN };

static const struct vcm_op_param params[] = {
    [PATHS] = {.name = "paths",
               .type = VCM_OP_TEXT,
               .positional = true,
               .repeated = true,
               .required = true,
               .placeholder = "PATH",
               .hint = VCM_OP_HINT_FILE,
               .summary = "files, directories or patterns, relative to the root of the repository; "
                          "the last one may be the repository"},
    [REPO] = {.name = "repo",
              .type = VCM_OP_TEXT,
              .placeholder = "REPO",
              .hint = VCM_OP_HINT_DIRECTORY,
              .default_text = "the repository around the current directory",
              .summary = "path of the repository, or of a directory in it"},
    [DRY_RUN] = {.name = "dry-run",
                 .type = VCM_OP_FLAG,
                 .summary = "print what would change, and change nothing"},
};

static const struct vcm_result_member result[] = {
    {.name = "repo_root",
     VCM_RESULT_FIELD(struct vcm_promote_result, repo_root),
     .summary = "root of the repository"},
    {.name = "paths",
     VCM_RESULT_STRINGS(struct vcm_promote_result, patterns, pattern_count),
     .summary = "promoted paths, as patterns of the map"},
    {.name = "files",
     VCM_RESULT_FIELD(struct vcm_promote_result, files),
     .summary = "number of files of the commit that they match"},
    {.name = "changed",
     VCM_RESULT_FIELD(struct vcm_promote_result, changed),
     .summary = "whether the map had to change"},
    {.name = "routes_set",
     VCM_RESULT_FIELD(struct vcm_promote_result, routes_set),
     .summary = "number of routes changed from knowledge_base to vcm"},
    {.name = "route_added",
     VCM_RESULT_FIELD(struct vcm_promote_result, route_added),
     .summary = "whether a route was added"},
    {.name = "row",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_promote_result, row),
     .summary = "literature row that the paths were added to, or null"},
    {.name = "row_added",
     VCM_RESULT_FIELD(struct vcm_promote_result, row_added),
     .summary = "whether that row is new"},
    {.name = "commit",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_promote_result, commit),
     .summary = "commit with the change, or null"},
    {.name = "text",
     VCM_RESULT_FIELD(struct vcm_promote_result, text),
     .summary = "text of the map after the change"},
    {0},
};

static const char *const examples[] = {
    "vcm promote papers/lru.pdf",
    "vcm promote papers/ ~/src/tool --dry-run",
    NULL,
};

/* Whether the argument is the top directory of a working tree. */
static bool is_repository(const char *word)
{
    char path[VCM_LIMIT_PATH_BYTES];
    struct stat info;

    int len = snprintf(path, sizeof path, "%s/.git", word);
    return len > 0 && (size_t)len < sizeof path && stat(path, &info) == 0;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_promote_options options = {
        .repository = vcm_op_text(call, REPO),
        .paths = call->values[PATHS].list,
        .path_count = call->values[PATHS].count,
        .dry_run = vcm_op_flag(call, DRY_RUN),
    };
    struct vcm_promote_result *promoted = NULL;

    if (!options.repository && options.path_count > 1 &&
        is_repository(options.paths[options.path_count - 1]))
        options.repository = options.paths[--options.path_count];
    if (!options.repository)
        options.repository = ".";
    int rc = vcm_promote(&promoted, call->vcm, &options, err);
    if (rc != VCM_OK)
        return rc;
    vcm_result_put(call->out, result, promoted);
    vcm_promote_result_free(promoted);
    return VCM_OK;
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    const char *commit = vcm_json_get_text(document, "commit", NULL);
    const char *row = vcm_json_get_text(document, "row", NULL);
    bool dry_run = vcm_op_flag(call, DRY_RUN);

    if (call->quiet && !dry_run)
        return;
    for (const struct vcm_json *p = vcm_json_get(document, "paths")->first; p; p = p->next)
        vcm_print_format(out, VCM_PRINT_PLAIN, "%s\n", p->text.data);
    if (!vcm_json_get_bool(document, "changed", false)) {
        vcm_print_text(out, VCM_PRINT_PLAIN, "already promoted\n");
        return;
    }
    if (row)
        vcm_print_format(out, VCM_PRINT_PLAIN, "pages come from the %s '%s'\n",
                         vcm_json_get_bool(document, "row_added", false) ? "new row" : "row", row);
    if (dry_run)
        vcm_print_format(out, VCM_PRINT_PLAIN, "the map would be:\n\n%s",
                         vcm_json_get_text(document, "text", ""));
    else
        vcm_print_format(out, VCM_PRINT_PLAIN, "committed %.12s; run 'vcm map' to make the pages\n",
                         commit ? commit : "");
}

const struct vcm_op vcm_op_promote = {
    .name = "promote",
    .summary = "move literature from the knowledge base to pages",
    .description =
        "Changes the routes of .colony/repo_map.yaml so that the paths go to vcm instead of the "
        "knowledge base, and makes sure that a literature row covers them: adds them to a row that "
        "lists its files, or adds a row. Comments and layout of the map are kept; if the layout "
        "leaves no safe place for the change, the command refuses.\n\nThe change is one commit of "
        "that file alone; other staged or changed files stay as they are. Chunks in the knowledge "
        "base stay there until 'vcm kb clear'.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
};
