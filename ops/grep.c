#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "ops/shared.h"

#include "base/banned.h"

enum {
    PATTERN,
    SCOPE,
    REPO,
    COMMIT,
    WORKTREE,
    ALL_SCOPES,
    IGNORE_CASE,
    WORD,
    LITERAL,
    FILES,
    CONTEXT,
    PATH,
};

static const struct vcm_op_param params[] = {
    [PATTERN] = {.name = "pattern",
                 .type = VCM_OP_TEXT,
                 .positional = true,
                 .required = true,
                 .placeholder = "PATTERN",
                 .summary = "regular expression, as in Perl and ripgrep; a match is within a line"},
    [SCOPE] = {.name = "scope",
               .type = VCM_OP_TEXT,
               .repeated = true,
               .placeholder = "S",
               .summary = "search the mapped pages of this scope, or of all scopes of this base"},
    [REPO] = {.name = "repo",
              .type = VCM_OP_TEXT,
              .placeholder = "R",
              .hint = VCM_OP_HINT_DIRECTORY,
              .reach = VCM_OP_REACH_REPO,
              .default_text = "the repository around the current directory",
              .summary = "search this repository, or a directory in it, mapped or not; or a URL"},
    [COMMIT] = {.name = "commit",
                .type = VCM_OP_TEXT,
                .placeholder = "C",
                .default_text = "HEAD",
                .summary = "search this commit"},
    [WORKTREE] = {.name = "worktree",
                  .type = VCM_OP_FLAG,
                  .summary = "search HEAD with what is changed, untracked and deleted"},
    [ALL_SCOPES] = {.name = "all-scopes",
                    .type = VCM_OP_FLAG,
                    .summary = "search the mapped pages of all scopes"},
    [IGNORE_CASE] = {.name = "ignore-case",
                     .letter = 'i',
                     .type = VCM_OP_FLAG,
                     .summary = "capitals and small letters are the same"},
    [WORD] = {.name = "word-regexp",
              .letter = 'w',
              .type = VCM_OP_FLAG,
              .summary = "only whole words"},
    [LITERAL] = {.name = "fixed-strings",
                 .letter = 'F',
                 .type = VCM_OP_FLAG,
                 .summary = "the pattern is the text itself, no regular expression"},
    [FILES] = {.name = "files-with-matches",
               .letter = 'l',
               .type = VCM_OP_FLAG,
               .summary = "only the names of the files, each once"},
    [CONTEXT] = {.name = "context",
                 .letter = 'C',
                 .type = VCM_OP_NUMBER,
                 .placeholder = "N",
                 .default_text = "0",
                 .min = 0,
                 .max = VCM_LIMIT_GREP_CONTEXT,
                 .summary = "show this many lines before and behind each match"},
    [PATH] = {.name = "path",
              .type = VCM_OP_TEXT,
              .repeated = true,
              .placeholder = "GLOB",
              .summary = "only files that match, as in .gitignore"},
};

static const struct vcm_result_member match_members[] = {
    {.name = "scope_id",
     VCM_RESULT_FIELD(struct vcm_grep_match, scope_id),
     .nullable = true,
     .summary = "scope of the page, or null"},
    {.name = "page_id",
     VCM_RESULT_FIELD(struct vcm_grep_match, page_id),
     .nullable = true,
     .summary = "page that holds the line, or null"},
    {.name = "path", VCM_RESULT_FIELD(struct vcm_grep_match, path), .summary = "path of the file"},
    {.name = "line",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_grep_match, line),
     .summary = "number of the line, or null in a document without lines"},
    {.name = "column",
     VCM_RESULT_FIELD(struct vcm_grep_match, column),
     .summary = "byte of the line where the first match begins, from 1"},
    {.name = "symbol",
     VCM_RESULT_FIELD(struct vcm_grep_match, symbol),
     .nullable = true,
     .summary = "innermost definition around the line, or null"},
    {.name = "text",
     VCM_RESULT_FIELD(struct vcm_grep_match, text),
     .summary = "the line; a long one is cut around the match"},
    {.name = "before",
     VCM_RESULT_STRINGS(struct vcm_grep_match, before, before_count),
     .summary = "lines before it"},
    {.name = "after",
     VCM_RESULT_STRINGS(struct vcm_grep_match, after, after_count),
     .summary = "lines behind it"},
    {0},
};

static const struct vcm_result_member gap_members[] = {
    {.name = "file_path",
     VCM_RESULT_FIELD(struct vcm_grep_gap, path),
     .summary = "path of the file"},
    {.name = "reason",
     VCM_RESULT_FIELD(struct vcm_grep_gap, reason),
     .summary = "why it could not be searched: an outcome or reason of coverage, or "
                "page_not_readable"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "matches",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = match_members,
     .summary = "lines that match: of pages by scope and seq, else by path"},
    {.name = "files", .type = VCM_RESULT_INTEGER, .summary = "number of files with a match"},
    {.name = "total",
     .type = VCM_RESULT_INTEGER,
     .summary = "number of lines that match, shown or not; of files with --files-with-matches"},
    {.name = "searched", .type = VCM_RESULT_INTEGER, .summary = "number of files searched"},
    {.name = "complete",
     .type = VCM_RESULT_BOOL,
     .summary = "whether every text was searched, so that files and total are exact"},
    {.name = "incomplete",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = gap_members,
     .summary = "files that could not be searched, and why; the first hundred"},
    {.name = "truncated",
     .type = VCM_RESULT_BOOL,
     .summary = "whether there are more behind the last one"},
    {.name = "next_cursor",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .summary = "value for --cursor to continue, or null at the end"},
    {0},
};

static const char *const examples[] = {
    "vcm grep 'malloc.*len'",
    "vcm grep -F 'a[0]' --path 'src/*.c' -C 2",
    "vcm grep TODO --scope tool-stable --json",
    NULL,
};

struct output {
    struct vcm_jsonw *matches;
    struct vcm_jsonw *gaps;
};

static int put_match(void *context, const struct vcm_grep_match *match, struct vcm_error *err)
{
    struct output *output = context;

    (void)err;
    vcm_result_put(output->matches, match_members, match);
    return VCM_OK;
}

static int put_gap(void *context, const struct vcm_grep_gap *gap, struct vcm_error *err)
{
    struct output *output = context;

    (void)err;
    vcm_result_put(output->gaps, gap_members, gap);
    return VCM_OK;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    uint64_t rows = vcm_answer_rows(call);
    const struct vcm_grep_query query = {
        .pattern = vcm_op_text(call, PATTERN),
        .ignore_case = vcm_op_flag(call, IGNORE_CASE),
        .word = vcm_op_flag(call, WORD),
        .literal = vcm_op_flag(call, LITERAL),
        .files_only = vcm_op_flag(call, FILES),
        .context = (uint32_t)vcm_op_number(call, CONTEXT, 0),
        .paths = call->values[PATH].list,
        .path_count = call->values[PATH].count,
        .place = {.repo = vcm_op_text(call, REPO),
                  .commit = vcm_op_text(call, COMMIT),
                  .worktree = vcm_op_flag(call, WORKTREE),
                  .all_scopes = vcm_op_flag(call, ALL_SCOPES)},
        .scopes = call->values[SCOPE].list,
        .scope_count = call->values[SCOPE].count,
        .limit = rows < UINT64_MAX ? rows : 0,
        .from_path = vcm_answer_key(call, 0),
        .from_line = vcm_answer_key_number(call, 1),
        .from_scope = vcm_answer_key(call, 2),
    };
    struct vcm_shared_list gaps;
    struct output output = {.matches = call->out, .gaps = vcm_shared_list_begin(&gaps)};
    struct vcm_grep_result found = {0};

    vcm_jsonw_begin_object(call->out);
    vcm_jsonw_key(call->out, "matches");
    vcm_jsonw_begin_array(call->out);
    int rc = vcm_grep(
        &found, call->vcm, &query,
        &(struct vcm_grep_visitor){.match = put_match, .gap = put_gap, .context = &output}, err);
    vcm_jsonw_end_array(call->out);
    vcm_jsonw_member_uint(call->out, "files", found.files);
    vcm_jsonw_member_uint(call->out, "total", found.total);
    vcm_jsonw_member_uint(call->out, "searched", found.searched);
    vcm_jsonw_member_bool(call->out, "complete", found.complete);
    rc = vcm_shared_list_end(&gaps, call->out, "incomplete", rc, err);
    vcm_jsonw_member_bool(call->out, "truncated", found.truncated);
    vcm_jsonw_member_null(call->out, "next_cursor");
    vcm_jsonw_end_object(call->out);
    return rc;
}

/* What was printed last, so that a path and a definition are named once. */
struct position {
    const char *scope, *path, *symbol;
    long long line; /* the last one that was printed; 0 for none */
};

static void print_heading(struct vcm_print *out, struct position *at, const struct vcm_json *match)
{
    const char *path = vcm_json_get_text(match, "path", "");
    const char *scope = vcm_json_get_text(match, "scope_id", "");
    const char *symbol = vcm_json_get_text(match, "symbol", "");

    if (strcmp(at->path, path) != 0 || strcmp(at->scope, scope) != 0) {
        if (strcmp(at->scope, scope) != 0)
            vcm_print_format(out, VCM_PRINT_DIM, "scope %s\n", scope);
        vcm_print_format(out, VCM_PRINT_BOLD, "%s\n", path);
        *at = (struct position){.scope = scope, .path = path, .symbol = ""};
    }
    if (strcmp(at->symbol, symbol) != 0)
        vcm_print_format(out, VCM_PRINT_DIM, symbol[0] != '\0' ? " in %s\n" : " --\n", symbol);
    at->symbol = symbol;
}

static void print_line(struct vcm_print *out, struct position *at, long long line, char mark,
                       const char *text)
{
    if (line <= at->line && line > 0)
        return; /* behind an earlier match already */
    if (line > 0)
        vcm_print_format(out, VCM_PRINT_PLAIN, "%lld%c %s\n", line, mark, text);
    else
        vcm_print_format(out, VCM_PRINT_PLAIN, "%s\n", text);
    at->line = line;
}

static void print_match(struct vcm_print *out, struct position *at, const struct vcm_json *match)
{
    const struct vcm_json *before = vcm_json_get(match, "before");
    const struct vcm_json *after = vcm_json_get(match, "after");
    const char *text = vcm_json_get_text(match, "text", "");
    long long line = (long long)vcm_json_get_int(match, "line", 0);

    /* Without lines around it, the indentation of a line says nothing. */
    if (before->count + after->count == 0)
        text += strspn(text, " \t");
    long long number = line - (long long)before->count;
    if (at->line > 0 && before->count + after->count > 0 && number > at->line + 1)
        vcm_print_text(out, VCM_PRINT_DIM, "--\n");
    for (const struct vcm_json *b = before->first; b; b = b->next)
        print_line(out, at, number++, '-', b->text.data);
    print_line(out, at, line, ':', text);
    number = line;
    for (const struct vcm_json *a = after->first; a; a = a->next)
        print_line(out, at, ++number, '-', a->text.data);
}

static void print_sum(struct vcm_print *out, const struct vcm_json *document,
                      const struct vcm_op_call *call)
{
    long long total = (long long)vcm_json_get_int(document, "total", 0);
    long long files = (long long)vcm_json_get_int(document, "files", 0);
    const struct vcm_json *gaps = vcm_json_get(document, "incomplete");
    bool complete = vcm_json_get_bool(document, "complete", false);

    if (call->quiet)
        return;
    if (total == 0)
        vcm_print_format(out, VCM_PRINT_DIM, "no match in %lld files%s\n",
                         (long long)vcm_json_get_int(document, "searched", 0),
                         complete ? ", complete" : "");
    else if (vcm_op_flag(call, FILES))
        vcm_print_format(out, VCM_PRINT_DIM, "%lld file%s%s\n", files, files == 1 ? "" : "s",
                         complete ? ", complete" : "");
    else
        vcm_print_format(out, VCM_PRINT_DIM, "%lld match%s in %lld file%s%s\n", total,
                         total == 1 ? "" : "es", files, files == 1 ? "" : "s",
                         complete ? ", complete" : "");
    for (const struct vcm_json *g = gaps->first; g; g = g->next)
        vcm_print_format(out, VCM_PRINT_WARNING, "not searched: %s (%s)\n",
                         vcm_json_get_text(g, "file_path", ""), vcm_json_get_text(g, "reason", ""));
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    struct position at = {.scope = "", .path = "", .symbol = ""};

    for (const struct vcm_json *m = vcm_json_get(document, "matches")->first; m; m = m->next) {
        if (vcm_op_flag(call, FILES)) {
            vcm_print_format(out, VCM_PRINT_PLAIN, "%s\n", vcm_json_get_text(m, "path", ""));
        } else {
            print_heading(out, &at, m);
            print_match(out, &at, m);
        }
    }
    print_sum(out, document, call);
}

const struct vcm_op vcm_op_grep = {
    .name = "grep",
    .summary = "search the text of a repository or of mapped pages",
    .description =
        "Searches the lines of HEAD, of another commit, of the working tree or of mapped pages, "
        "which stay evicted when they are. Each match is printed with the definition around it, "
        "and the last line has the number of all matches. The pattern is a regular expression as "
        "in Perl; \\w, \\d and \\b know Unicode. Binary files are not searched.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .list = {.member = "matches", .key = {"path", "line", "scope_id"}},
    .run = run,
    .print = print,
    .tool = {.sets = VCM_OP_SET_CORE | VCM_OP_SET_CONTEXT | VCM_OP_SET_NAV,
             .title = "Search text",
             .summary = "Finds lines that match a regular expression, in a repository's commit or "
                        "working tree or in mapped pages, each with the definition around it. The "
                        "count of matches is complete."},
};
