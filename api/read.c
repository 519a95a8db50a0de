#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/read_items.h"
#include "base/limits.h"
#include "base/text.h"

#include "base/banned.h"

/* The public result with what it points to. */
struct result {
    struct vcm_read_result public;
    struct vcm_read_items items;
    struct vcm_read_item *list;
    char *rendered;
    char cursor[64];
};

/* Where an answer begins or ends: before this byte of this item. */
struct place_in_items {
    size_t item;
    size_t byte;
};

/* What is put together for one answer. */
struct answer {
    struct result *result;
    const struct vcm_read_query *query;
    struct vcm_record
        *records; /* of the items that are shown, the first and last perhaps in part */
    size_t count;
    struct place_in_items begin, end;
};

static uint32_t count_line_ends(const char *text, size_t len)
{
    uint32_t count = 0;

    for (const char *at = text, *end = text + len; (at = memchr(at, '\n', (size_t)(end - at)));)
        count++, at++;
    return count;
}

/* The part of an item from byte `begin` to `end`, with its lines. */
static void cut_record(struct vcm_record *out, const struct vcm_read_span *span, size_t begin,
                       size_t end)
{
    *out = span->record;
    if (begin == 0 && end == span->record.text_len)
        return;
    bool counts = out->start_line > 0 && !out->media_type;
    out->text += begin;
    out->text_len = end - begin;
    out->start_line += counts ? count_line_ends(span->record.text, begin) : 0;
    if (counts && out->text_len > 0)
        out->end_line = out->start_line + count_line_ends(out->text, out->text_len - 1);
}

static void set_records(struct answer *answer, size_t count, size_t end_byte)
{
    const struct vcm_read_items *items = &answer->result->items;

    answer->count = count;
    for (size_t i = 0; i < count; i++) {
        const struct vcm_read_span *span = &items->spans[answer->begin.item + i];
        size_t begin = i == 0 ? answer->begin.byte : 0;
        size_t end = i + 1 == count && end_byte != SIZE_MAX ? end_byte : span->record.text_len;
        cut_record(&answer->records[i], span, begin, end);
    }
}

/* Renders the records, and counts; the text is the caller's. */
static int render(char **text, size_t *bytes, uint64_t *tokens, const struct answer *answer,
                  struct vcm_error *err)
{
    const struct vcm_render_options options = {.format = answer->query->format, .lines = true};
    const struct vcm_page page = {.records = answer->records, .record_count = answer->count};

    int rc = vcm_page_render(text, bytes, &page, &options, err);
    if (rc == VCM_OK)
        *tokens = vcm_tokenizer_count(answer->result->items.tokenizer, vcm_slice_of(*text, *bytes));
    return rc;
}

/* Whether the first `count` items, the last up to `end_byte`, are within the budget. */
static int fits(bool *fit, struct answer *answer, size_t count, size_t end_byte,
                struct vcm_error *err)
{
    uint64_t tokens = 0;
    size_t bytes = 0;
    char *text = NULL;

    set_records(answer, count, end_byte);
    int rc = render(&text, &bytes, &tokens, answer, err);
    *fit = tokens <= answer->query->max_tokens;
    free(text);
    return rc;
}

/* The end of the line that has byte `at`, or the end of the text. */
static size_t line_end(struct vcm_slice text, size_t at)
{
    const char *end = at < text.len ? memchr(text.data + at, '\n', text.len - at) : NULL;

    return end ? (size_t)(end - text.data) + 1 : text.len;
}

/* Moves back to the beginning of a character. */
static size_t character_begin(struct vcm_slice text, size_t at)
{
    while (at > 0 && at < text.len && ((unsigned char)text.data[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* How much of the item behind `count` others fits: whole lines or, as the first item of the answer,
 * at least a part of its first line. */
static int fit_part(size_t *end, struct answer *answer, size_t count, struct vcm_error *err)
{
    size_t at = answer->begin.item + count;
    const struct vcm_record *record = &answer->result->items.spans[at].record;
    struct vcm_slice text = vcm_slice_of(record->text, record->text_len);
    size_t begin = count == 0 ? answer->begin.byte : 0;
    size_t low = begin, high = text.len; /* `low` fits, `high` does not */
    bool fit = false;
    int rc = VCM_OK;

    /* No token has more than 256 bytes. */
    if (high - low > answer->query->max_tokens * 256)
        high = character_begin(text, low + (size_t)answer->query->max_tokens * 256);
    while (rc == VCM_OK && line_end(text, low) < high) {
        size_t middle = line_end(text, low + (high - low) / 2);
        if (middle >= high)
            middle = line_end(text, low);
        rc = fits(&fit, answer, count + 1, middle, err);
        if (fit)
            low = middle;
        else
            high = middle;
    }
    while (rc == VCM_OK && count == 0 && low == begin && high - begin > 1) {
        size_t middle = character_begin(text, begin + (high - begin) / 2);
        rc = middle > begin ? fits(&fit, answer, 1, middle, err) : VCM_OK;
        if (middle == begin || fit) {
            low = middle;
            break;
        }
        high = middle;
    }
    *end = low;
    return rc;
}

/* Finds where the answer ends. Pages have their own budget, and are shown whole. */
static int cut(struct answer *answer, struct vcm_error *err)
{
    const struct vcm_read_items *items = &answer->result->items;
    size_t left = items->span_count - answer->begin.item, count = 0;
    bool fit = true, bounded = false;
    int rc = VCM_OK;

    for (size_t i = answer->begin.item; i < items->span_count; i++)
        bounded = bounded || items->spans[i].file != SIZE_MAX;
    answer->end = (struct place_in_items){items->span_count, 0};
    if (answer->query->max_tokens > 0 && bounded)
        rc = fits(&fit, answer, left, SIZE_MAX, err);
    if (fit || rc != VCM_OK) {
        set_records(answer, left, SIZE_MAX);
        return rc;
    }
    for (bool more = true; rc == VCM_OK && more && count < left; count += more)
        rc = fits(&more, answer, count + 1, SIZE_MAX, err);
    answer->end = (struct place_in_items){answer->begin.item + count, 0};
    if (rc == VCM_OK)
        rc = fit_part(&answer->end.byte, answer, count, err);
    size_t begin = count == 0 ? answer->begin.byte : 0;
    bool has_part = answer->end.byte > begin;
    if (!has_part)
        answer->end.byte = begin;
    set_records(answer, count + has_part, has_part ? answer->end.byte : SIZE_MAX);
    return rc;
}

static int read_cursor(struct place_in_items *out, const struct vcm_read_items *items,
                       const char *cursor, struct vcm_error *err)
{
    const char *colon = cursor ? strchr(cursor, ':') : NULL;
    char number[24] = "";
    uint64_t item = 0, byte = 0;

    *out = (struct place_in_items){0, 0};
    if (!cursor)
        return VCM_OK;
    if (colon && colon - cursor < (ptrdiff_t)sizeof number)
        memcpy(number, cursor, (size_t)(colon - cursor));
    if (!colon || !vcm_text_parse_uint(&item, number) || !vcm_text_parse_uint(&byte, colon + 1) ||
        item >= items->span_count || byte > items->spans[item].record.text_len ||
        character_begin(
            vcm_slice_of(items->spans[item].record.text, items->spans[item].record.text_len),
            (size_t)byte) != byte)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "'%s' is no cursor of an answer to this query", cursor);
    *out = (struct place_in_items){(size_t)item, (size_t)byte};
    return VCM_OK;
}

static uint64_t lines_behind(const struct vcm_read_items *items, struct place_in_items end)
{
    uint64_t lines = 0;

    for (size_t i = end.item; i < items->span_count; i++) {
        const struct vcm_record *record = &items->spans[i].record;
        size_t begin = i == end.item ? end.byte : 0;
        if (record->text_len > begin)
            lines += vcm_place_text_count_lines(
                vcm_slice_of(record->text + begin, record->text_len - begin));
    }
    return lines;
}

/* Makes the public items from the records that are shown. */
static int publish(struct answer *answer, struct vcm_error *err)
{
    struct result *result = answer->result;
    struct vcm_read_result *public = &result->public;

    result->list = calloc(answer->count + 1, sizeof *result->list);
    if (!result->list)
        return vcm_error_memory(err);
    for (size_t i = 0; i < answer->count; i++) {
        struct vcm_read_item *item = &result->list[i];
        const struct vcm_record *record = &answer->records[i];
        *item = result->items.spans[answer->begin.item + i].item;
        item->start_line = record->start_line;
        item->end_line = record->end_line;
        item->text = record->text;
        item->text_len = record->text_len;
        item->tokens = vcm_tokenizer_count(result->items.tokenizer,
                                           vcm_slice_of(record->text, record->text_len));
    }
    public->items = result->list;
    public->item_count = answer->count;
    int rc =
        render(&result->rendered, &public->rendered_bytes, &public->rendered_tokens, answer, err);
    public->rendered = result->rendered;
    public->truncated = answer->end.item < result->items.span_count;
    if (public->truncated) {
        public->lines_left = lines_behind(&result->items, answer->end);
        snprintf(result->cursor, sizeof result->cursor, "%zu:%zu", answer->end.item,
                 answer->end.byte);
        public->next_cursor = result->cursor;
    }
    return rc;
}

static int run(struct result *result, struct vcm *vcm, const struct vcm_read_query *query,
               struct vcm_error *err)
{
    struct answer answer = {.result = result, .query = query};

    int rc = vcm_read_items_open(&result->items, vcm, query, err);
    for (size_t i = 0; rc == VCM_OK && i < query->what_count; i++)
        rc = vcm_read_items_add(&result->items, query->what[i], err);
    if (rc == VCM_OK)
        rc = vcm_read_items_finish(&result->items, err);
    if (rc == VCM_OK)
        rc = read_cursor(&answer.begin, &result->items, query->cursor, err);
    if (rc == VCM_OK) {
        answer.records = calloc(result->items.span_count + 1, sizeof *answer.records);
        rc = answer.records ? cut(&answer, err) : vcm_error_memory(err);
    }
    if (rc == VCM_OK)
        rc = publish(&answer, err);
    free(answer.records);
    return rc;
}

int vcm_read(struct vcm_read_result **out, struct vcm *vcm, const struct vcm_read_query *query,
             struct vcm_error *err)
{
    if (out)
        *out = NULL;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out), VCM_ARGUMENT(query));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"scope", query->place.scope}, {"commit", query->place.commit},
                       {"format", query->format}, {"cursor", query->cursor});
    if (rc == VCM_OK)
        rc = vcm_arguments_list("what", query->what, query->what_count, VCM_ARGUMENT_PATHS, err);
    if (rc == VCM_OK && query->what_count == 0)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "name what to read");
    if (rc != VCM_OK)
        return rc;
    struct result *result = calloc(1, sizeof *result);
    if (!result)
        return vcm_error_memory(err);
    rc = run(result, vcm, query, err);
    if (rc == VCM_OK)
        *out = &result->public;
    else
        vcm_read_free(&result->public);
    return rc;
}

void vcm_read_free(struct vcm_read_result *result)
{
    struct result *whole = (struct result *)result;

    if (!whole)
        return;
    vcm_read_items_release(&whole->items);
    free(whole->list);
    free(whole->rendered);
    free(whole);
}
