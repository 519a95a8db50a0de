#include "api/heading.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"

#include "base/banned.h"

static bool begins_block(struct vcm_slice line)
{
    char c = line.len > 0 ? line.data[0] : '\0';

    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* Appends the line without trailing white space, cut to the maximum length of a heading. */
static void put_line(struct vcm_buf *out, struct vcm_slice line)
{
    if (line.len > VCM_LIMIT_CONTEXT_LINE_BYTES) {
        line.len = VCM_LIMIT_CONTEXT_LINE_BYTES;
        line.len = vcm_utf8_valid_prefix(line);
    }
    while (line.len > 0 && strchr(" \t\r\f\v", line.data[line.len - 1]))
        line.len--;
    vcm_buf_clear(out);
    vcm_buf_append_slice(out, line);
}

static struct vcm_slice take_line(struct vcm_slice *text)
{
    const char *end = memchr(text->data, '\n', text->len);
    struct vcm_slice line = vcm_slice_of(text->data, end ? (size_t)(end - text->data) : text->len);
    size_t used = end ? line.len + 1 : line.len;

    *text = vcm_slice_of(text->data + used, text->len - used);
    return line;
}

bool vcm_heading_step(struct vcm_heading_search *search, struct vcm_slice text, uint32_t start_line,
                      uint32_t end_line, uint32_t part)
{
    if (search->has_pending && end_line < search->pending_line) {
        put_line(&search->found, vcm_buf_slice(&search->pending));
        return true;
    }
    search->has_pending = false;
    bool found = false;
    struct vcm_slice rest = text;
    for (uint32_t number = start_line; rest.len > 0 && number < search->before; number++) {
        struct vcm_slice line = take_line(&rest);
        if (!begins_block(line))
            continue;
        /* Whether the part begins in the middle of a line is known only from the part before it. */
        if (number == start_line && part > 1) {
            search->has_pending = true;
            search->pending_line = number;
            put_line(&search->pending, line);
        } else {
            put_line(&search->found, line);
            found = true;
        }
    }
    return found || part == 1;
}

/* An earlier page, whose records are read from its end. */
struct earlier {
    struct vcm_arena arena; /* of the current record */
    struct vcm_page_record *records;
    struct vcm_page_cache_frame frame;
    uint32_t count;
};

static int open_row(struct earlier *earlier, const struct vcm_heading_place *place, uint32_t seq,
                    struct vcm_error *err)
{
    struct vcm_page_row row;

    free(earlier->records);
    vcm_page_cache_release(&earlier->frame);
    earlier->records = NULL;
    earlier->count = 0;
    int rc = vcm_page_table_row(&row, place->txn, place->mapping, seq, err);
    if (rc == VCM_OK)
        rc = vcm_page_get_records(&earlier->records, &earlier->count, row.records, err);
    if (rc == VCM_OK)
        rc = vcm_page_cache_peek(&earlier->frame, place->cache, place->txn, &row.id, err);
    return rc;
}

static int text_of(struct vcm_slice *text, struct earlier *earlier, uint32_t index,
                   struct vcm_error *err)
{
    struct vcm_slice value = {0}, frame = earlier->frame.bytes;
    struct vcm_json *root = NULL;
    bool there = true;

    for (uint32_t i = 0; there && i <= index; i++)
        there = vcm_page_next_value(&value, &frame);
    vcm_arena_release(&earlier->arena);
    vcm_arena_init(&earlier->arena, 8 * VCM_LIMIT_FRAME_BYTES);
    int rc = there ? vcm_json_parse(&root, &earlier->arena, value, err) : VCM_OK;
    const struct vcm_json *member = rc == VCM_OK ? vcm_json_get(root, "text") : NULL;
    if (rc == VCM_OK && (!member || member->kind != VCM_JSON_STRING))
        return vcm_error_set(err, VCM_STORE_CORRUPT, "a record of an earlier page is malformed");
    if (rc == VCM_OK)
        *text = member->text;
    return rc;
}

/* Searches the pages before this one; `part` is the next part to read. */
static int search_pages(struct vcm_heading_search *search, const struct vcm_heading_place *place,
                        struct vcm_slice path, uint32_t part, struct vcm_error *err)
{
    struct earlier earlier = {0};
    struct vcm_slice text = {0};
    struct vcm_error cause = {0};
    bool over = false;
    int rc = VCM_OK;

    for (uint32_t seq = place->seq; rc == VCM_OK && !over && part > 0 && seq > 0;) {
        rc = open_row(&earlier, place, --seq, &cause);
        for (uint32_t i = earlier.count; rc == VCM_OK && !over && part > 0 && i-- > 0; part--) {
            const struct vcm_page_record *record = &earlier.records[i];
            if (record->part != part || !vcm_slice_equal(record->path, path)) {
                over = true; /* a table out of order gives no heading */
                break;
            }
            rc = text_of(&text, &earlier, i, &cause);
            if (rc == VCM_OK)
                over = vcm_heading_step(search, text, record->start_line, record->end_line, part);
        }
    }
    free(earlier.records);
    vcm_page_cache_release(&earlier.frame);
    vcm_arena_release(&earlier.arena);
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc != VCM_OK && err)
        *err = cause;
    return rc;
}

static int find_heading(struct vcm_heading_search *search, const struct vcm_record *records,
                        size_t index, const struct vcm_heading_place *place, struct vcm_error *err)
{
    const struct vcm_record *record = &records[index];
    bool over = false;
    size_t at = index;

    while (!over && at > 0 && strcmp(records[at - 1].path, record->path) == 0 &&
           records[at - 1].part + (index - (at - 1)) == record->part) {
        const struct vcm_record *earlier = &records[--at];
        over = vcm_heading_step(search, vcm_slice_of(earlier->text, earlier->text_len),
                                earlier->start_line, earlier->end_line, earlier->part);
    }
    if (over || at > 0)
        return VCM_OK;
    return search_pages(search, place, vcm_slice_of_string(record->path),
                        record->part - (uint32_t)index - 1, err);
}

int vcm_heading_fill(struct vcm_record *records, size_t count, struct vcm_arena *arena,
                     const struct vcm_heading_place *place, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        if (records[i].part <= 1 || records[i].section)
            continue;
        struct vcm_heading_search search = {.before = records[i].start_line};
        vcm_buf_init(&search.pending, 2 * VCM_LIMIT_CONTEXT_LINE_BYTES);
        vcm_buf_init(&search.found, 2 * VCM_LIMIT_CONTEXT_LINE_BYTES);
        rc = find_heading(&search, records, i, place, err);
        if (rc == VCM_OK)
            rc = vcm_buf_check(&search.found, "a heading", err);
        if (rc == VCM_OK && search.found.len > 0 &&
            !(records[i].heading = vcm_arena_copy(arena, vcm_buf_slice(&search.found))))
            rc = vcm_error_memory(err);
        vcm_buf_release(&search.pending);
        vcm_buf_release(&search.found);
    }
    return rc;
}
