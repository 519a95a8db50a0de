#include <string.h>

#include "base/limits.h"
#include "base/defaults.h"
#include "ops/where.h"

#include "base/banned.h"

enum { WHAT, VCM_WHERE_INDEXES, CONTEXT, FORMAT, VCM_WHERE_BOUND_INDEXES };

static const char *const formats[] = {"text", "markdown", "xml", "json", NULL};

static const struct vcm_op_param params[] = {
    [WHAT] = {.name = "what",
              .type = VCM_OP_TEXT,
              .positional = true,
              .required = true,
              .repeated = true,
              .placeholder = "PATH[:A[-B]]|SYMBOL|PAGE",
              .hint = VCM_OP_HINT_FILE,
              .summary = "a file or some of its lines, a definition by its name, or a page"},
    VCM_WHERE_PARAMS,
    [CONTEXT] = {.name = "context",
                 .type = VCM_OP_NUMBER,
                 .placeholder = "N",
                 .max = UINT32_MAX,
                 .summary = "lines more before and behind"},
    [FORMAT] = {.name = "format",
                .reach = VCM_OP_REACH_HERE,
                .type = VCM_OP_CHOICE,
                .placeholder = "FORMAT",
                .choices = formats,
                .default_text = "text",
                .summary = "text, markdown and xml are for models; json is the same as --json"},
    VCM_WHERE_BOUND_PARAMS,
};

static const char *const sources[] = {"page", "commit", "worktree", NULL};

static const struct vcm_result_member item_members[] = {
    {.name = "path",
     VCM_RESULT_FIELD(struct vcm_read_item, path),
     .summary = "path from the root of the repository"},
    {.name = "start_line",
     VCM_RESULT_FIELD(struct vcm_read_item, start_line),
     .summary = "first line, from 1; 0 for an empty file"},
    {.name = "end_line", VCM_RESULT_FIELD(struct vcm_read_item, end_line), .summary = "inclusive"},
    {.name = "symbol",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_read_item, symbol),
     .summary = "definition that was named, or that encloses the lines, with its container"},
    {.name = "kind",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_read_item, kind),
     .summary = "kind of that definition"},
    {.name = "scope_id",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_read_item, scope_id),
     .summary = "scope, if the text is from mapped pages"},
    {.name = "page_id",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_read_item, page_id),
     .summary = "page with the first line, if the text is from mapped pages"},
    {.name = "blob",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_read_item, blob),
     .summary = "id of the file's content; null for content that is in no object"},
    {.name = "source",
     VCM_RESULT_FIELD(struct vcm_read_item, source),
     .choices = sources,
     .summary = "where the text was read from"},
    {.name = "tokens",
     VCM_RESULT_FIELD(struct vcm_read_item, tokens),
     .summary = "tokens of the text"},
    {.name = "text",
     VCM_RESULT_TEXT_FIELD(struct vcm_read_item, text, text_len),
     .summary = "the lines"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "items",
     VCM_RESULT_STRUCTS(struct vcm_read_result, items, item_count, item_members),
     .summary = "what was read, in the order of the arguments; ranges that overlap are one"},
    {.name = "rendered_tokens",
     VCM_RESULT_FIELD(struct vcm_read_result, rendered_tokens),
     .summary = "tokens of the text that is printed in the format, text unless it is given"},
    {.name = "truncated",
     VCM_RESULT_FIELD(struct vcm_read_result, truncated),
     .summary = "whether --max-answer-tokens left lines out"},
    {.name = "next_cursor",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_read_result, next_cursor),
     .summary = "where the next answer goes on, or null"},
    {0},
};

static const char *const examples[] = {
    "vcm read src/main.c:120-160",
    "vcm read Shop.total src/shop.py:12",
    "vcm read main --context 3 --format markdown",
    NULL,
};

static int put(void *context, const struct vcm_op_call *call, struct vcm_jsonw *w,
               uint64_t max_tokens, struct vcm_error *err)
{
    struct vcm_read_query query = *(const struct vcm_read_query *)context;
    struct vcm_read_result *read = NULL;

    query.max_tokens = max_tokens;
    int rc = vcm_read(&read, call->vcm, &query, err);
    if (rc != VCM_OK)
        return rc;
    if (w) {
        vcm_result_put(w, result, read);
    } else {
        vcm_buf_append(call->text, read->rendered, read->rendered_bytes);
        if (read->truncated && !call->quiet)
            vcm_where_go_on(call->text, call,
                            &(struct vcm_where_rest){read->lines_left, "lines", read->next_cursor});
    }
    vcm_read_free(read);
    return VCM_OK;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const char *format = vcm_op_text(call, FORMAT);

    call->json_wanted = format && strcmp(format, "json") == 0;
    struct vcm_read_query query = {
        .what = call->values[WHAT].list,
        .what_count = call->values[WHAT].count,
        .context = (uint32_t)vcm_op_number(call, CONTEXT, 0),
        .format = call->json_wanted ? NULL : format,
        .cursor = vcm_op_text(call, BOUND_CURSOR),
    };
    vcm_where_fill(&query.place, call, WHERE_REPO);
    return vcm_where_answer(call, BOUND_TOKENS, &(struct vcm_where_answer){put, &query}, err);
}

const struct vcm_op vcm_op_read = {
    .name = "read",
    .summary = "print lines of files, definitions or pages",
    .description =
        "Prints just the lines that are asked for, numbered, under their path and the definition "
        "that encloses them. A path is tried first (from the root of the repository, then from the "
        "current directory), then a definition, then a page. A definition is printed with its "
        "comment; it is named by its name, its container and name (Shop.total), its file and name "
        "(src/shop.py:total), or its symbol_id (src/shop.py:12#Shop.total). Ranges of a file that "
        "overlap are printed once. The text comes from the commit, from the working tree, or, with "
        "--scope and where git objects are missing, from mapped pages.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = vcm_where_print,
    .tool =
        {
            .sets = VCM_OP_SET_CORE | VCM_OP_SET_CONTEXT,
            .title = "Read lines or definitions",
            .summary = "Reads just the lines you need, numbered: path, path:A-B, the name of a "
                       "definition (name, Container.name, path:name), or a page id; several at a "
                       "time.",
            .effects = VCM_OP_NETWORK,
        },
};
