#include <string.h>

#include "ops/shared.h"

#include "base/banned.h"

enum { RANGE, REPO, FILES, SYMBOLS, PAGES };

static const struct vcm_op_param params[] = {
    [RANGE] = {.name = "range",
               .type = VCM_OP_TEXT,
               .positional = true,
               .required = true,
               .placeholder = "A..B",
               .summary = "two commits, tags or branches; HEAD stands for one that is left out"},
    [REPO] = {.name = "repo",
              .type = VCM_OP_TEXT,
              .positional = true,
              .placeholder = "REPO",
              .hint = VCM_OP_HINT_DIRECTORY,
              .reach = VCM_OP_REACH_REPO,
              .default_text = "the repository around the current directory",
              .summary = "path of a repository, or a git URL"},
    [FILES] = {.name = "files", .type = VCM_OP_FLAG, .summary = "by file"},
    [SYMBOLS] = {.name = "symbols", .type = VCM_OP_FLAG, .summary = "by definition; the default"},
    [PAGES] = {.name = "pages",
               .type = VCM_OP_FLAG,
               .summary = "which pages of mapped scopes are not up to date at B"},
};

static const char *const changes[] = {"added",   "removed", "changed", "moved",
                                      "renamed", "stale",   NULL};
static const char *const kinds[] = {"symbols", "files", "pages", NULL};

#define OR_NULL .nullable = true

static const struct vcm_result_member change_members[] = {
    {.name = "change", .type = VCM_RESULT_TEXT, .choices = changes, .summary = "what happened"},
    {.name = "path", .type = VCM_RESULT_TEXT, .summary = "path from the root"},
    {.name = "old_path",
     .type = VCM_RESULT_TEXT,
     OR_NULL,
     .summary = "where it was in A, if elsewhere"},
    {.name = "symbol",
     .type = VCM_RESULT_TEXT,
     OR_NULL,
     .summary = "definition with its container; null for a file"},
    {.name = "old_symbol",
     .type = VCM_RESULT_TEXT,
     OR_NULL,
     .summary = "its name in A, if another"},
    {.name = "kind", .type = VCM_RESULT_TEXT, OR_NULL, .summary = "kind of the definition"},
    {.name = "line",
     .type = VCM_RESULT_INTEGER,
     OR_NULL,
     .summary = "its first line in B; in A if it is removed"},
    {.name = "end_line", .type = VCM_RESULT_INTEGER, OR_NULL, .summary = "its last line"},
    {.name = "old_line", .type = VCM_RESULT_INTEGER, OR_NULL, .summary = "its first line in A"},
    {.name = "scope_id", .type = VCM_RESULT_TEXT, OR_NULL, .summary = "scope of a stale page"},
    {.name = "page_id", .type = VCM_RESULT_TEXT, OR_NULL, .summary = "page that is stale"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "from", .type = VCM_RESULT_TEXT, .summary = "commit A"},
    {.name = "to", .type = VCM_RESULT_TEXT, .summary = "commit B"},
    {.name = "by", .type = VCM_RESULT_TEXT, .choices = kinds, .summary = "how changes are told"},
    {.name = "files", .type = VCM_RESULT_INTEGER, .summary = "number of files that differ"},
    {.name = "changes",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = change_members,
     .summary = "changes by path and line"},
    {.name = "total", .type = VCM_RESULT_INTEGER, .summary = "number of changes"},
    VCM_ANSWER_TRUNCATED,
    VCM_ANSWER_NEXT_CURSOR,
    {0},
};

static const char *const examples[] = {
    "vcm diff HEAD~1..HEAD",
    "vcm diff v1.0..v1.1 --files",
    "vcm diff main.. --pages --json | jq -r '.changes[].page_id'",
    NULL,
};

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    unsigned chosen = (unsigned)vcm_op_flag(call, FILES) + (unsigned)vcm_op_flag(call, SYMBOLS) +
                      (unsigned)vcm_op_flag(call, PAGES);

    if (chosen > 1)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "give one of files, symbols and pages");
    const struct vcm_diff_query query = {
        .range = vcm_op_text(call, RANGE),
        .repo = vcm_op_text(call, REPO),
        .by = vcm_op_flag(call, FILES)   ? "files"
              : vcm_op_flag(call, PAGES) ? "pages"
                                         : "symbols",
    };
    return vcm_diff(call->vcm, &query, vcm_shared_put_document, call, err);
}

/* "renamed src/a.c:12 function total (was sum in src/b.c:9)" */
static void print_change(struct vcm_print *out, const struct vcm_json *change)
{
    const char *symbol = vcm_json_get_text(change, "symbol", NULL);
    const char *old_symbol = vcm_json_get_text(change, "old_symbol", NULL);
    const char *old_path = vcm_json_get_text(change, "old_path", NULL);
    const char *page = vcm_json_get_text(change, "page_id", NULL);

    vcm_print_format(out, VCM_PRINT_PLAIN, "%s %s", vcm_json_get_text(change, "change", ""),
                     vcm_json_get_text(change, "path", ""));
    if (symbol)
        vcm_print_format(out, VCM_PRINT_PLAIN, ":%lld %s %s",
                         (long long)vcm_json_get_int(change, "line", 0),
                         vcm_json_get_text(change, "kind", ""), symbol);
    if (page)
        vcm_print_format(out, VCM_PRINT_PLAIN, " %.12s %s", page,
                         vcm_json_get_text(change, "scope_id", ""));
    if (old_symbol || old_path)
        vcm_print_format(out, VCM_PRINT_PLAIN, " (was %s%s%s)", old_symbol ? old_symbol : "",
                         old_symbol && old_path ? " in " : "", old_path ? old_path : "");
    vcm_print_text(out, VCM_PRINT_PLAIN, "\n");
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    const struct vcm_json *list = vcm_json_get(document, "changes");

    for (const struct vcm_json *change = list->first; change; change = change->next)
        print_change(out, change);
    if (!call->quiet && list->count == 0)
        vcm_print_text(out, VCM_PRINT_PLAIN, "no changes\n");
}

const struct vcm_op vcm_op_diff = {
    .name = "diff",
    .summary = "list what changed between two commits",
    .description =
        "Compares two commits. By definition: what was added, removed and changed, with its lines; "
        "what has the same body elsewhere is moved, or renamed when its name differs; a file "
        "without "
        "such a definition is listed by itself. A method that changes does not change its class. "
        "With "
        "--pages: which pages of mapped scopes of the repository hold a file that is another one, "
        "or "
        "gone, at B.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .list = {.member = "changes", .key = {"path", "symbol", "page_id"}},
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_NAV,
            .title = "Compare commits",
            .summary =
                "Lists what changed between two commits (A..B) by definition, by file, or which "
                "mapped pages are stale.",
            .effects = VCM_OP_NETWORK,
        },
};
