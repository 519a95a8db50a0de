#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { SCOPE, ALL_SCOPES, PATH, STATE, PINNED };

static const struct vcm_op_param params[] = {
    [SCOPE] = {.name = "scope",
               .type = VCM_OP_TEXT,
               .placeholder = "S",
               .summary = "only this scope, or all scopes of this base; a unique prefix is enough"},
    [ALL_SCOPES] = VCM_SHARED_ALL_SCOPES,
    [PATH] = {.name = "path",
              .type = VCM_OP_TEXT,
              .placeholder = "GLOB",
              .summary = "only pages with a file that this gitignore pattern matches"},
    [STATE] = {.name = "state",
               .type = VCM_OP_CHOICE,
               .placeholder = "STATE",
               .choices = vcm_shared_states,
               .summary = "only pages in this state"},
    [PINNED] = {.name = "pinned", .type = VCM_OP_FLAG, .summary = "only pinned pages"},
};

static const struct vcm_result_member page_members[] = {
    {.name = "page_id",
     VCM_RESULT_FIELD(struct vcm_page_entry, page_id),
     .summary = "40 hex digits"},
    {.name = "scope_id",
     VCM_RESULT_FIELD(struct vcm_page_entry, scope_id),
     .summary = "scope that the page is in"},
    {.name = "seq",
     VCM_RESULT_FIELD(struct vcm_page_entry, seq),
     .summary = "position in the scope"},
    {.name = "records",
     VCM_RESULT_FIELD(struct vcm_page_entry, records),
     .summary = "number of records"},
    {.name = "tokens",
     VCM_RESULT_FIELD(struct vcm_page_entry, tokens),
     .summary = "sum over its records"},
    {.name = "bytes",
     VCM_RESULT_FIELD(struct vcm_page_entry, bytes),
     .summary = "size of the page"},
    {.name = "state",
     VCM_RESULT_FIELD(struct vcm_page_entry, state),
     .choices = vcm_shared_states,
     .summary = "state of the page"},
    {.name = "pinned",
     VCM_RESULT_FIELD(struct vcm_page_entry, pinned),
     .summary = "whether the page or a scope that holds it is pinned"},
    {.name = "volatile",
     VCM_RESULT_FIELD(struct vcm_page_entry, is_volatile),
     .summary = "whether its text is in no object of git, so that it cannot be evicted"},
    {.name = "locked_until",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_page_entry, locked_until),
     .summary = "end of the lock in Unix seconds, or null"},
    {.name = "files",
     VCM_RESULT_STRINGS(struct vcm_page_entry, files, file_count),
     .summary = "files of its records"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "pages",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = page_members,
     .summary = "pages by scope and seq, each with its files"},
    {.name = "next_cursor",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .summary = "value for --cursor to continue, or null at the end"},
    VCM_ANSWER_TOTAL,
    VCM_ANSWER_TRUNCATED,
    {0},
};

static const char *const examples[] = {
    "vcm pages --path src/main.c",
    "vcm pages --scope tool-stable --limit 20",
    NULL,
};

static int put_page(void *context, const struct vcm_page_entry *page, struct vcm_error *err)
{
    struct vcm_jsonw *w = context;

    (void)err;
    vcm_result_put(w, page_members, page);
    return VCM_OK;
}

/* Lists as many pages as are wanted: one call of the library has a bound of its own. */
static int list(struct vcm_op_call *call, struct vcm_pages_query *query, char *cursor,
                struct vcm_error *err)
{
    uint64_t left = vcm_answer_rows(call);
    int rc = VCM_OK;

    do {
        char *next = NULL;
        query->cursor = cursor;
        query->limit = left < VCM_LIMIT_LISTING_ROWS ? (uint32_t)left : VCM_LIMIT_LISTING_ROWS;
        rc = vcm_pages(&next, call->vcm, query, put_page, call->out, err);
        left -= query->limit;
        free(cursor);
        cursor = next;
    } while (rc == VCM_OK && cursor && left > 0);
    query->cursor = NULL;
    free(cursor);
    return rc;
}

/* The library's cursor for the first page of the answer, or NULL. */
static int library_cursor(char **out, struct vcm_op_call *call, struct vcm_error *err)
{
    const char *scope = vcm_answer_key(call, 0);
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);

    *out = NULL;
    if (!scope)
        return VCM_OK;
    vcm_buf_append_format(&text, "%s/%s", scope, vcm_answer_key(call, 1));
    int rc = vcm_buf_check(&text, "a cursor", err);
    *out = vcm_buf_detach(&text);
    return rc;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_pages_query query = {
        .scope = vcm_op_text(call, SCOPE),
        .path = vcm_op_text(call, PATH),
        .state = vcm_op_text(call, STATE),
        .pinned = vcm_op_flag(call, PINNED),
        .repo = vcm_op_flag(call, ALL_SCOPES) ? NULL : ".",
    };
    struct vcm_jsonw *w = call->out;
    char *cursor = NULL;
    uint64_t total = 0;

    vcm_jsonw_begin_object(w);
    vcm_jsonw_key(w, "pages");
    vcm_jsonw_begin_array(w);
    int rc = library_cursor(&cursor, call, err);
    if (rc == VCM_OK)
        rc = list(call, &query, cursor, err);
    vcm_jsonw_end_array(w);
    vcm_jsonw_member_null(w, "next_cursor");
    if (rc == VCM_OK && vcm_answer_rows(call) < UINT64_MAX) {
        rc = vcm_pages_count(&total, call->vcm, &query, err);
        vcm_jsonw_member_uint(w, "total", total);
    }
    vcm_jsonw_end_object(w);
    return rc;
}

/* "a.c, b.c and 3 more" */
static void describe_files(char *out, size_t size, const struct vcm_json *files)
{
    size_t used = 0;
    unsigned shown = 0;

    out[0] = '\0';
    for (const struct vcm_json *f = files->first; f && shown < 3; f = f->next, shown++) {
        int len = snprintf(out + used, size - used, "%s%s", shown > 0 ? ", " : "", f->text.data);
        if (len < 0 || (size_t)len >= size - used)
            return;
        used += (size_t)len;
    }
    if (files->count > shown)
        snprintf(out + used, size - used, " and %u more", files->count - shown);
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    static const char *const headings[] = {"PAGE",   "SCOPE", "SEQ",   "RECORDS",
                                           "TOKENS", "BYTES", "STATE", "FILES"};
    static const bool right[] = {false, false, true, true, true, true, false, false};
    const struct vcm_json *pages = vcm_json_get(document, "pages");
    struct vcm_print_table table;
    char text[512];

    if (!pages->first) {
        if (!call->quiet && vcm_op_is_set(call, PATH))
            vcm_print_format(out, VCM_PRINT_PLAIN, "no pages: '%s' matches no file of them\n",
                             vcm_op_text(call, PATH));
        else if (!call->quiet)
            vcm_print_text(out, VCM_PRINT_PLAIN, "no pages\n");
        return;
    }
    vcm_print_table_begin(&table, out, headings, right, VCM_OP_COUNT(headings));
    for (const struct vcm_json *p = pages->first; p; p = p->next) {
        snprintf(text, sizeof text, "%.12s", vcm_json_get_text(p, "page_id", ""));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, text);
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(p, "scope_id", ""));
        vcm_shared_count_cell(&table, p, "seq");
        vcm_shared_count_cell(&table, p, "records");
        vcm_shared_count_cell(&table, p, "tokens");
        vcm_shared_count_cell(&table, p, "bytes");
        snprintf(text, sizeof text, "%s%s", vcm_json_get_text(p, "state", ""),
                 vcm_json_get_bool(p, "pinned", false) ? ", pinned" : "");
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, text);
        describe_files(text, sizeof text, vcm_json_get(p, "files"));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, text);
    }
    vcm_print_table_end(&table);
}

const struct vcm_op vcm_op_pages = {
    .name = "pages",
    .summary = "list pages and their files",
    .description =
        "Lists the page tables of the mapped scopes in order. A page that occurs "
        "several times, in one scope or in several, is listed each time. Without --scope, in a "
        "repository that is mapped, these are the scopes of that repository.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .list = {"pages", {"scope_id", "seq"}},
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_CONTEXT,
            .title = "List pages",
            .summary = "Lists pages of a scope in order, with their files, tokens and state, "
                       "without their text. Narrow it with path.",
        },
};
