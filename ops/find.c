#include <stdio.h>

#include "ops/shared.h"

#include "base/banned.h"

enum { PATH, SCOPE };

static const struct vcm_op_param params[] = {
    [PATH] = {.name = "path",
              .type = VCM_OP_TEXT,
              .positional = true,
              .required = true,
              .placeholder = "PATH",
              .hint = VCM_OP_HINT_FILE,
              .summary = "file from the root of its repository, PATH:LINE for a line of it"},
    [SCOPE] = {.name = "scope",
               .type = VCM_OP_TEXT,
               .placeholder = "S",
               .default_text = "all",
               .summary = "only this scope, or all scopes of this base; a prefix will do"},
};

static const struct vcm_op_key result[] = {
    {"path", "the file that was looked for"},
    {"line", "the line that was looked for, or null"},
    {"pages", "by scope and seq: page, scope, seq, the record in the page, its part and lines"},
    {NULL, NULL},
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
    vcm_jsonw_member_string(output->w, "path", first->path);
    if (first->line > 0)
        vcm_jsonw_member_uint(output->w, "line", first->line);
    else
        vcm_jsonw_member_null(output->w, "line");
    vcm_jsonw_key(output->w, "pages");
    vcm_jsonw_begin_array(output->w);
    output->begun = true;
}

static int put_entry(void *context, const struct vcm_find_entry *entry, struct vcm_error *err)
{
    struct output *output = context;
    struct vcm_jsonw *w = output->w;

    (void)err;
    if (!output->begun)
        begin(output, entry);
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "page_id", entry->page_id);
    vcm_jsonw_member_string(w, "scope_id", entry->scope_id);
    vcm_jsonw_member_uint(w, "seq", entry->seq);
    vcm_jsonw_member_uint(w, "record", entry->record);
    vcm_jsonw_member_uint(w, "part", entry->part);
    vcm_jsonw_member_uint(w, "parts", entry->parts);
    vcm_jsonw_member_uint(w, "start_line", entry->start_line);
    vcm_jsonw_member_uint(w, "end_line", entry->end_line);
    vcm_jsonw_end_object(w);
    return VCM_OK;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const struct vcm_find_query query = {
        .path = vcm_op_text(call, PATH),
        .scope = vcm_op_text(call, SCOPE),
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
    .summary = "name the pages that hold a file or a line of it",
    .description =
        "Finds a file in the page tables of the mapped scopes and names the page of each of its "
        "parts, or of the part that holds a line. A file that is tracked but has no page is an "
        "error that says why it was left out.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
};
