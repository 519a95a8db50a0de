#include "base/defaults.h"
#include "base/limits.h"
#include "ops/where.h"

#include "base/banned.h"

enum { WHAT, VCM_WHERE_INDEXES, VCM_WHERE_BOUND_INDEXES };

static const struct vcm_op_param params[] = {
    [WHAT] = {.name = "what",
              .type = VCM_OP_TEXT,
              .positional = true,
              .repeated = true,
              .placeholder = "PATH|DIR",
              .hint = VCM_OP_HINT_FILE,
              .default_text = "the current directory",
              .summary = "a file, a directory for all files below it, or a definition"},
    VCM_WHERE_PARAMS,
    VCM_WHERE_BOUND_PARAMS,
};

static const struct vcm_result_member symbol_members[] = {
    {.name = "name",
     VCM_RESULT_FIELD(struct vcm_outline_symbol, name),
     .summary = "name of the definition"},
    {.name = "kind",
     VCM_RESULT_FIELD(struct vcm_outline_symbol, kind),
     .summary = "kind of symbol, as 'vcm symbols' has it"},
    {.name = "signature",
     VCM_RESULT_FIELD(struct vcm_outline_symbol, signature),
     .summary = "as written in the source"},
    {.name = "line", VCM_RESULT_FIELD(struct vcm_outline_symbol, line), .summary = "first line"},
    {.name = "end_line",
     VCM_RESULT_FIELD(struct vcm_outline_symbol, end_line),
     .summary = "last line"},
    {.name = "tokens",
     VCM_RESULT_FIELD(struct vcm_outline_symbol, tokens),
     .summary = "tokens of these lines"},
    {.name = "container",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_outline_symbol, container),
     .summary = "symbol that contains it, or null"},
    {0},
};

static const struct vcm_result_member file_members[] = {
    {.name = "path",
     VCM_RESULT_FIELD(struct vcm_outline_file, path),
     .summary = "path from the root of the repository"},
    {.name = "language",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_outline_file, language),
     .summary = "language, or null if symbols are not read from such files"},
    {.name = "lines", VCM_RESULT_FIELD(struct vcm_outline_file, lines), .summary = "lines"},
    {.name = "tokens",
     VCM_RESULT_FIELD(struct vcm_outline_file, tokens),
     .summary = "tokens of the file"},
    {.name = "symbols",
     VCM_RESULT_STRUCTS(struct vcm_outline_file, symbols, symbol_count, symbol_members),
     .summary = "definitions, in the order of the file"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "files",
     VCM_RESULT_STRUCTS(struct vcm_outline_result, files, file_count, file_members),
     .summary = "files by path, for each argument"},
    {.name = "total",
     VCM_RESULT_FIELD(struct vcm_outline_result, total),
     .summary = "number of files, listed here or not"},
    {.name = "others",
     VCM_RESULT_FIELD(struct vcm_outline_result, others),
     .summary = "files of the directories without symbols: other languages, binary files, links"},
    {.name = "rendered_tokens",
     VCM_RESULT_FIELD(struct vcm_outline_result, rendered_tokens),
     .summary = "tokens of the text that is printed without --json"},
    {.name = "truncated",
     VCM_RESULT_FIELD(struct vcm_outline_result, truncated),
     .summary = "whether --max-answer-tokens left definitions out"},
    {.name = "next_cursor",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_outline_result, next_cursor),
     .summary = "where the next answer goes on, or null"},
    {0},
};

static const char *const examples[] = {
    "vcm outline src/main.c",
    "vcm outline src --max-answer-tokens 1000",
    "vcm outline Shop --json | jq -r '.files[].symbols[].signature'",
    NULL,
};

static int put(void *context, const struct vcm_op_call *call, struct vcm_jsonw *w,
               uint64_t max_tokens, struct vcm_error *err)
{
    struct vcm_outline_query query = *(const struct vcm_outline_query *)context;
    struct vcm_outline_result *outline = NULL;

    query.max_tokens = max_tokens;
    int rc = vcm_outline(&outline, call->vcm, &query, err);
    if (rc != VCM_OK)
        return rc;
    if (w) {
        vcm_result_put(w, result, outline);
    } else {
        vcm_buf_append(call->text, outline->rendered, outline->rendered_bytes);
        if (outline->truncated && !call->quiet)
            vcm_where_go_on(call->text, call,
                            &(struct vcm_where_rest){outline->files_left,
                                                     outline->files_left == 1 ? "file" : "files",
                                                     outline->next_cursor});
        else if (outline->total == 0 && !call->quiet)
            vcm_buf_append_string(call->text, "no file that symbols are read from\n");
    }
    vcm_outline_free(outline);
    return VCM_OK;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_outline_query query = {
        .what = call->values[WHAT].list,
        .what_count = call->values[WHAT].count,
        .cursor = vcm_op_text(call, BOUND_CURSOR),
    };

    vcm_where_fill(&query.place, call, WHERE_REPO);
    return vcm_where_answer(call, BOUND_TOKENS, &(struct vcm_where_answer){put, &query}, err);
}

const struct vcm_op vcm_op_outline = {
    .name = "outline",
    .summary = "list the definitions of files with lines and tokens",
    .description =
        "Lists what a file, or every file below a directory, defines: the lines of each "
        "definition, "
        "its signature and the exact tokens that reading it costs, indented by what contains it. "
        "Of "
        "a definition, what is in it. 'vcm read' prints any of them. Nothing is indexed for it: a "
        "file whose symbols are not stored is parsed.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = vcm_where_print,
    .tool =
        {
            .sets = VCM_OP_SET_CORE | VCM_OP_SET_CONTEXT,
            .title = "Outline files",
            .summary = "Lists definitions of files or directories with lines, signatures and token "
                       "costs.",
            .effects = VCM_OP_NETWORK,
        },
};
