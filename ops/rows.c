#include "ops/rows.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"

#include "base/banned.h"

static int malformed(struct vcm_error *err)
{
    return vcm_error_set(err, VCM_INTERNAL, "an operation wrote a document that is no JSON object");
}

/* The offset behind the string that begins at `at`. */
static size_t string_end(struct vcm_slice text, size_t at)
{
    for (at++; at < text.len && text.data[at] != '"'; at++)
        at += text.data[at] == '\\';
    return at < text.len ? at + 1 : text.len;
}

/* The offset behind the value that begins at `at`. */
static size_t value_end(struct vcm_slice text, size_t at)
{
    size_t depth = 0;

    while (at < text.len) {
        char c = text.data[at];
        if (c == '"') {
            at = string_end(text, at);
        } else if (c == '{' || c == '[') {
            depth++;
            at++;
        } else if (c == '}' || c == ']' || c == ',') {
            if (depth == 0)
                return at;
            depth -= c != ',';
            at++;
        } else {
            at++;
            continue;
        }
        if (depth == 0)
            return at;
    }
    return at;
}

int vcm_rows_each_member(struct vcm_slice document, vcm_rows_member_fn visit, void *context,
                         struct vcm_error *err)
{
    size_t at = 1;

    if (document.len < 2 || document.data[0] != '{')
        return malformed(err);
    while (at < document.len && document.data[at] == '"') {
        size_t name_end = string_end(document, at);
        if (name_end >= document.len || document.data[name_end] != ':')
            return malformed(err);
        size_t end = value_end(document, name_end + 1);
        visit(context, vcm_slice_of(document.data + at + 1, name_end - at - 2),
              vcm_slice_of(document.data + name_end + 1, end - name_end - 1));
        at = end < document.len && document.data[end] == ',' ? end + 1 : end;
    }
    return at < document.len && document.data[at] == '}' ? VCM_OK : malformed(err);
}

struct finding {
    struct vcm_rows *rows;
    struct vcm_slice name;
};

static void find_list(void *context, struct vcm_slice name, struct vcm_slice value)
{
    struct finding *finding = context;
    struct vcm_rows *rows = finding->rows;

    if (!vcm_slice_equal(name, finding->name) || value.len < 2 || value.data[0] != '[')
        return;
    rows->has_list = true;
    rows->list_begin = (size_t)(value.data - rows->document.data);
    rows->list_end = rows->list_begin + value.len;
}

int vcm_rows_find(struct vcm_rows *rows, struct vcm_slice document, const char *list,
                  struct vcm_error *err)
{
    struct finding finding = {rows, vcm_slice_of_string(list)};

    *rows = (struct vcm_rows){.document = document};
    int rc = vcm_rows_each_member(document, find_list, &finding, err);
    size_t at = rows->list_begin + 1, last = rows->list_end - 1;
    while (rc == VCM_OK && rows->has_list) {
        rc = vcm_array_reserve(&rows->starts, &rows->capacity, rows->count + 1,
                               VCM_LIMIT_JSON_NODES, err);
        if (rc != VCM_OK)
            break;
        rows->starts[rows->count] = at;
        if (at >= last)
            break;
        rows->count++;
        at = value_end(vcm_slice_of(document.data, last), at) + 1;
    }
    return rc;
}

void vcm_rows_release(struct vcm_rows *rows)
{
    free(rows->starts);
    *rows = (struct vcm_rows){.has_list = false};
}

struct vcm_slice vcm_rows_between(const struct vcm_rows *rows, size_t first, size_t end)
{
    if (first >= end)
        return vcm_slice_of("", 0);
    return vcm_slice_of(rows->document.data + rows->starts[first],
                        rows->starts[end] - 1 - rows->starts[first]);
}
