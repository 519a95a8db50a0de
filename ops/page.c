#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { PAGE, SCOPE, SEQ, FORMAT, LINES };

static const char *const formats[] = {"text", "markdown", "xml", "json", NULL};

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
                .summary = "text, markdown or xml for a model to read, json as with --json"},
    [LINES] = {.name = "lines", .type = VCM_OP_FLAG, .summary = "number the lines"},
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
    "vcm page 3f9a01c2 --format markdown --lines",
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
    vcm_jsonw_member_string(w, "section", record->section);
    if (record->page > 0)
        vcm_jsonw_member_uint(w, "page", record->page);
    else
        vcm_jsonw_member_null(w, "page");
    vcm_jsonw_member_uint(w, "tokens", record->tokens);
    vcm_jsonw_member_bool(w, "lossy", record->lossy);
    vcm_jsonw_member_bool(w, "path_lossy", record->path_lossy);
    vcm_jsonw_member_string(w, "media_type", record->media_type);
    if (record->media_type)
        vcm_jsonw_member_uint(w, "size", record->size);
    else
        vcm_jsonw_member_null(w, "size");
    vcm_jsonw_member_string(w, "encoding", record->media_type ? "base64" : NULL);
    vcm_jsonw_member_string(w, "heading", record->heading);
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

/* What a model reads, as the library writes it. */
static int put_text(struct vcm_buf *out, const struct vcm_page *page,
                    const struct vcm_op_call *call, struct vcm_error *err)
{
    const struct vcm_render_options options = {
        .format = vcm_op_text(call, FORMAT),
        .lines = vcm_op_flag(call, LINES),
    };
    char *text = NULL;
    size_t bytes = 0;

    int rc = vcm_page_render(&text, &bytes, page, &options, err);
    if (rc == VCM_OK) {
        vcm_buf_append(out, text, bytes);
        rc = vcm_buf_check(out, "the page's text", err);
    }
    free(text);
    return rc;
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
    if (call->text && !call->json_wanted)
        rc = put_text(call->text, page, call, err);
    else
        put_page(call->out, page);
    vcm_page_release(page);
    return rc;
}

/* A terminal gets no control characters from a file, which may hold NULs too. */
static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    const struct vcm_buf *text = call->text;

    (void)document;
    if (!out->terminal) {
        vcm_buf_append_slice(out->out, vcm_buf_slice(text));
        return;
    }
    for (size_t at = 0; at < text->len; at += strlen(text->data + at) + 1) {
        if (at > 0)
            vcm_print_text(out, VCM_PRINT_PLAIN, "?");
        vcm_print_text(out, VCM_PRINT_PLAIN, text->data + at);
    }
}

const struct vcm_op vcm_op_page = {
    .name = "page",
    .summary = "show a page",
    .description =
        "Prints the records of a page, each under its path and, for a later part of a file, the "
        "nearest earlier line that begins at column 0. The formats text, markdown and xml are for "
        "a model to read: the same page and scope give the same bytes, and no content can close "
        "the fence around it. As JSON, every record comes with its blob, its lines and its exact "
        "token count, so that it can be checked against the file.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
};
