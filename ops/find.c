#include <stdio.h>

#include "ops/shared.h"

#include "base/banned.h"

enum { PATH, SCOPE, ALL_SCOPES };

static const struct vcm_op_param params[] = {
    [PATH] = {.name = "path",
              .type = VCM_OP_TEXT,
              .positional = true,
              .required = true,
              .placeholder = "PATH",
              .hint = VCM_OP_HINT_FILE,
              .summary =
                  "path of a file, relative to the root of its repository; PATH:LINE for a line"},
    [SCOPE] = {.name = "scope",
               .type = VCM_OP_TEXT,
               .placeholder = "S",
               .default_text = "those of the repository around the current directory, else all",
               .summary = "only this scope, or all scopes of this base; a unique prefix is enough"},
    [ALL_SCOPES] = VCM_SHARED_ALL_SCOPES,
};

static const struct vcm_result_member page_members[] = {
    {.name = "page_id",
     VCM_RESULT_FIELD(struct vcm_find_entry, page_id),
     .summary = "40 hex digits"},
    {.name = "scope_id",
     VCM_RESULT_FIELD(struct vcm_find_entry, scope_id),
     .summary = "scope that holds the page"},
    {.name = "seq",
     VCM_RESULT_FIELD(struct vcm_find_entry, seq),
     .summary = "position of the page in the scope"},
    {.name = "record",
     VCM_RESULT_FIELD(struct vcm_find_entry, record),
     .summary = "index of the record in the page, from 0"},
    {.name = "part",
     VCM_RESULT_FIELD(struct vcm_find_entry, part),
     .summary = "which part of the file it is, from 1"},
    {.name = "parts",
     VCM_RESULT_FIELD(struct vcm_find_entry, parts),
     .summary = "number of parts of the file"},
    {.name = "start_line",
     VCM_RESULT_FIELD(struct vcm_find_entry, start_line),
     .summary = "first line of the part; 0 for an empty file or a PDF"},
    {.name = "end_line",
     VCM_RESULT_FIELD(struct vcm_find_entry, end_line),
     .summary = "last line of the part"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "path", VCM_RESULT_FIELD(struct vcm_find_entry, path), .summary = "path of the file"},
    {.name = "line",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_find_entry, line),
     .summary = "line, or null"},
    {.name = "pages",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = page_members,
     .summary = "pages that hold it, by scope and seq"},
    VCM_ANSWER_MEMBERS,
    {0},
};

static const char *const examples[] = {
    "vcm find src/main.c",
    "vcm find src/main.c:120 --scope tool-stable",
    "vcm find src/main.c:120 --json | jq -r '.pages[0].page_id'",
    NULL,
};

struct output {
    struct vcm_jsonw *w;
    bool begun;
};

static void begin(struct output *output, const struct vcm_find_entry *first)
{
    vcm_jsonw_begin_object(output->w);
    vcm_result_put_members(output->w, result, first);
    vcm_jsonw_key(output->w, "pages");
    vcm_jsonw_begin_array(output->w);
    output->begun = true;
}

static int put_entry(void *context, const struct vcm_find_entry *entry, struct vcm_error *err)
{
    struct output *output = context;

    (void)err;
    if (!output->begun)
        begin(output, entry);
    vcm_result_put(output->w, page_members, entry);
    return VCM_OK;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const struct vcm_find_query query = {
        .path = vcm_op_text(call, PATH),
        .scope = vcm_op_text(call, SCOPE),
        .repo = vcm_op_flag(call, ALL_SCOPES) ? NULL : ".",
    };
    struct output output = {.w = call->out};

    int rc = vcm_find(call->vcm, &query, put_entry, &output, err);
    if (rc != VCM_OK)
        return rc;
    vcm_jsonw_end_array(output.w);
    vcm_jsonw_end_object(output.w);
    return VCM_OK;
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    static const char *const headings[] = {"PAGE", "SCOPE", "SEQ", "PART", "LINES"};
    static const bool right[] = {false, false, true, false, false};
    struct vcm_print_table table;
    char text[64];

    (void)call;
    vcm_print_table_begin(&table, out, headings, right, VCM_OP_COUNT(headings));
    for (const struct vcm_json *p = vcm_json_get(document, "pages")->first; p; p = p->next) {
        snprintf(text, sizeof text, "%.12s", vcm_json_get_text(p, "page_id", ""));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, text);
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(p, "scope_id", ""));
        vcm_shared_count_cell(&table, p, "seq");
        snprintf(text, sizeof text, "%lld of %lld", (long long)vcm_json_get_int(p, "part", 1),
                 (long long)vcm_json_get_int(p, "parts", 1));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, text);
        if (vcm_json_get_int(p, "start_line", 0) > 0)
            snprintf(text, sizeof text, "%lld-%lld",
                     (long long)vcm_json_get_int(p, "start_line", 0),
                     (long long)vcm_json_get_int(p, "end_line", 0));
        else
            snprintf(text, sizeof text, "-"); /* an empty file, or a PDF */
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, text);
    }
    vcm_print_table_end(&table);
}

const struct vcm_op vcm_op_find = {
    .name = "find",
    .summary = "find the pages that hold a file or a line",
    .description = "Finds a file in the page tables of the mapped scopes and prints the page of "
                   "each of its parts, or of the part with the given line. For a tracked file that "
                   "is in no page, the error says why it was left out.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .list = {"pages", {"scope_id", "seq", "record"}},
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_CORE | VCM_OP_SET_CONTEXT,
            .title = "Find the pages of a file",
            .summary = "Finds the pages that hold a file, or one line of it (path:line). Read them "
                       "with page.",
        },
};
