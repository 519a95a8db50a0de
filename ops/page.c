#include <string.h>

#include "base/limits.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { PAGE, SCOPE, SEQ, FORMAT };

static const char *const formats[] = {"text", "json", NULL};

static const struct vcm_op_param params[] = {
    [PAGE] = {.name = "page",
              .type = VCM_OP_TEXT,
              .positional = true,
              .required = true,
              .placeholder = "PAGE",
              .summary = "id of the page, or its first 6 digits or more"},
    [SCOPE] = {.name = "scope",
               .type = VCM_OP_TEXT,
               .placeholder = "S",
               .default_text = "the first that holds the page",
               .summary = "whose line numbers and blobs to show"},
    [SEQ] = {.name = "seq",
             .type = VCM_OP_NUMBER,
             .placeholder = "N",
             .max = UINT32_MAX,
             .default_text = "the first",
             .summary = "which occurrence in the scope"},
    [FORMAT] = {.name = "format",
                .type = VCM_OP_CHOICE,
                .placeholder = "FORMAT",
                .choices = formats,
                .default_text = "text",
                .summary = "text for reading, json as with --json"},
};

static const struct vcm_op_key result[] = {
    {"page_id", "40 hex digits"},
    {"scopes", "every scope that holds the page"},
    {"scope_id", "the scope whose provenance is shown"},
    {"seq", "where the page stands in that scope"},
    {"occurrences", "how often it stands there"},
    {"tokens", "sum over the records"},
    {"bytes", "of the page itself"},
    {"records", "what the page holds, each with its text and where it came from"},
    {NULL, NULL},
};

static const char *const examples[] = {
    "vcm page 3f9a01c2",
    "vcm page 3f9a01c2 --json | jq -r '.records[].path'",
    NULL,
};

static void put_record(struct vcm_jsonw *w, const struct vcm_record *record)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "record_id", record->record_id);
    vcm_jsonw_member_string(w, "path", record->path);
    vcm_jsonw_member_string(w, "blob", record->blob);
    vcm_jsonw_member_uint(w, "start_line", record->start_line);
    vcm_jsonw_member_uint(w, "end_line", record->end_line);
    vcm_jsonw_member_uint(w, "part", record->part);
    vcm_jsonw_member_uint(w, "parts", record->parts);
    vcm_jsonw_member_null(w, "section");
    vcm_jsonw_member_null(w, "page");
    vcm_jsonw_member_uint(w, "tokens", record->tokens);
    vcm_jsonw_member_bool(w, "lossy", record->lossy);
    vcm_jsonw_member_bool(w, "path_lossy", record->path_lossy);
    vcm_jsonw_member_slice(w, "text", vcm_slice_of(record->text, record->text_len));
    vcm_jsonw_end_object(w);
}

static void put_page(struct vcm_jsonw *w, const struct vcm_page *page)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "page_id", page->page_id);
    vcm_jsonw_key(w, "scopes");
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < page->scope_count; i++)
        vcm_jsonw_string(w, page->scopes[i]);
    vcm_jsonw_end_array(w);
    vcm_jsonw_member_string(w, "scope_id", page->scope_id);
    vcm_jsonw_member_uint(w, "seq", page->seq);
    vcm_jsonw_member_uint(w, "occurrences", page->occurrences);
    vcm_jsonw_member_uint(w, "tokens", page->tokens);
    vcm_jsonw_member_uint(w, "bytes", page->bytes);
    vcm_jsonw_key(w, "records");
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < page->record_count; i++)
        put_record(w, &page->records[i]);
    vcm_jsonw_end_array(w);
    vcm_jsonw_end_object(w);
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const char *format = vcm_op_text(call, FORMAT);
    const struct vcm_page_query query = {
        .page = vcm_op_text(call, PAGE),
        .scope = vcm_op_text(call, SCOPE),
        .seq = vcm_op_flag(call, SEQ) ? (int64_t)vcm_op_number(call, SEQ, 0) : -1,
    };
    struct vcm_page *page = NULL;

    call->json_wanted = format && strcmp(format, "json") == 0;
    int rc = vcm_page_open(&page, call->vcm, &query, err);
    if (rc != VCM_OK)
        return rc;
    put_page(call->out, page);
    vcm_page_release(page);
    return VCM_OK;
}

/* The longest run of '=' at the beginning of a line, so that a fence can be longer. */
static size_t longest_fence(struct vcm_slice text)
{
    size_t longest = 0, run = 0;
    bool counting = true;

    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\n') {
            counting = true;
            run = 0;
        } else if (counting && text.data[i] == '=') {
            run++;
            if (run > longest)
                longest = run;
        } else {
            counting = false;
        }
    }
    return longest;
}

static void print_record(struct vcm_print *out, const struct vcm_json *record)
{
    struct vcm_slice text = vcm_json_get(record, "text")->text;
    size_t fence = longest_fence(text) + 1;
    int64_t parts = vcm_json_get_int(record, "parts", 1);

    for (fence = fence < 8 ? 8 : fence; fence > 0; fence--)
        vcm_buf_append_byte(out->out, '=');
    vcm_print_format(out, VCM_PRINT_BOLD, " %s", vcm_json_get_text(record, "path", ""));
    vcm_print_format(out, VCM_PRINT_PLAIN, " (lines %lld-%lld",
                     (long long)vcm_json_get_int(record, "start_line", 0),
                     (long long)vcm_json_get_int(record, "end_line", 0));
    if (parts > 1)
        vcm_print_format(out, VCM_PRINT_PLAIN, ", part %lld of %lld",
                         (long long)vcm_json_get_int(record, "part", 1), (long long)parts);
    vcm_buf_append_string(out->out, ")\n");
    if (out->terminal)
        vcm_print_text(out, VCM_PRINT_PLAIN, text.data);
    else
        vcm_buf_append_slice(out->out, text);
    if (text.len > 0 && text.data[text.len - 1] != '\n')
        vcm_buf_append_byte(out->out, '\n');
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    (void)call;
    for (const struct vcm_json *r = vcm_json_get(document, "records")->first; r; r = r->next)
        print_record(out, r);
}

const struct vcm_op vcm_op_page = {
    .name = "page",
    .summary = "show a page",
    .description =
        "Prints the records of a page, each under its path. As JSON, every record comes with its "
        "blob, its lines and its exact token count, so that it can be checked against the file.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
};
