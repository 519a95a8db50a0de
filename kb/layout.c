#include "kb/layout.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "kb/layout_columns.h"
#include "kb/layout_words.h"

#include "base/banned.h"

#define GAP_STEPS         60 /* of a twentieth of a line's height */
#define HEADING_RATIO     1.12f
#define HEADING_BYTES     ((size_t)200)
#define HEADING_BYTES_MIN ((size_t)3) /* shorter is a letter of an index */
#define HEADING_LINES     4           /* more of them in a row are text in a large font */
#define CONTINUED_RATIO   1.15f

void vcm_layout_init(struct vcm_layout *layout)
{
    *layout = (struct vcm_layout){0};
    vcm_buf_init(&layout->text, VCM_LIMIT_EXTRACT_TEXT_BYTES);
}

void vcm_layout_release(struct vcm_layout *layout)
{
    vcm_buf_release(&layout->text);
    free(layout->lines);
    free(layout->pages);
    *layout = (struct vcm_layout){0};
}

int vcm_layout_add_page(struct vcm_layout *layout, float height, struct vcm_error *err)
{
    int rc = vcm_array_reserve(&layout->pages, &layout->page_capacity, layout->page_count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    layout->pages[layout->page_count++] =
        (struct vcm_layout_page){layout->line_count, height > 0 ? height : 1};
    return VCM_OK;
}

/* Whether the box is a piece of the same printed line, a little to the right of the one before. */
static bool goes_on(const struct vcm_layout_line *before, const struct vcm_layout_box *box)
{
    float height = fminf(before->box.y1 - before->box.y0, box->y1 - box->y0);
    float overlap = fminf(before->box.y1, box->y1) - fmaxf(before->box.y0, box->y0);
    float gap = box->x0 - before->box.x1;

    return overlap > 0.7f * height && gap > -1.0f && gap < 4.0f * box->size;
}

static void widen(struct vcm_layout_line *line, const struct vcm_layout_box *box, size_t len)
{
    /* The longer piece determines the line's size and font. */
    if (len > line->len / 2) {
        line->box.size = box->size;
        line->box.bold = box->bold;
    } else {
        line->box.bold = line->box.bold && box->bold;
    }
    line->box.x1 = box->x1;
    line->box.y0 = fminf(line->box.y0, box->y0);
    line->box.y1 = fmaxf(line->box.y1, box->y1);
}

int vcm_layout_add_line(struct vcm_layout *layout, struct vcm_slice text,
                        const struct vcm_layout_box *box, struct vcm_error *err)
{
    size_t before = layout->text.len;

    if (before > 0)
        vcm_buf_append_byte(&layout->text, '\n');
    size_t begin = layout->text.len;
    vcm_layout_words_clean(&layout->text, text);
    size_t len = layout->text.len - begin;
    int rc = vcm_buf_check(&layout->text, "the text", err);
    if (rc != VCM_OK)
        return rc;
    if (len == 0) {
        vcm_buf_truncate(&layout->text, before);
        return VCM_OK;
    }
    rc = vcm_array_reserve(&layout->lines, &layout->line_capacity, layout->line_count + 1,
                           VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    layout->lines[layout->line_count++] = (struct vcm_layout_line){
        .box = *box, .offset = begin, .len = len, .page = (uint32_t)layout->page_count};
    return VCM_OK;
}

/* Joins consecutive pieces of one printed line. */
static void join_pieces(struct vcm_layout *layout)
{
    size_t count = 0;

    for (size_t p = 0, i = 0; p < layout->page_count; p++) {
        size_t end = p + 1 < layout->page_count ? layout->pages[p + 1].first : layout->line_count;
        layout->pages[p].first = count;
        for (; i < end; i++) {
            const struct vcm_layout_line line = layout->lines[i];
            struct vcm_layout_line *last =
                count > layout->pages[p].first ? &layout->lines[count - 1] : NULL;
            if (last && goes_on(last, &line.box) && last->offset + last->len + 1 == line.offset) {
                layout->text.data[line.offset - 1] = ' ';
                last->len += 1 + line.len;
                widen(last, &line.box, line.len);
            } else {
                layout->lines[count++] = line;
            }
        }
    }
    layout->line_count = count;
}

static struct vcm_slice line_text(const struct vcm_layout *layout,
                                  const struct vcm_layout_line *line)
{
    return vcm_slice_of(layout->text.data + line->offset, line->len);
}

/* The font size of most of the text. */
static float body_size(const struct vcm_layout *layout)
{
    size_t weights[256] = {0};
    size_t best = 0;

    for (size_t i = 0; i < layout->line_count; i++) {
        float size = layout->lines[i].box.size * 2;
        size_t slot = size >= 0 && size < 255 ? (size_t)(size + 0.5f) : 255;
        if (!layout->lines[i].running)
            weights[slot] += layout->lines[i].len;
    }
    for (size_t i = 1; i < 256; i++) {
        if (weights[i] > weights[best])
            best = i;
    }
    return (float)best / 2;
}

static float height_of(const struct vcm_layout_line *line)
{
    return fmaxf(line->box.y1 - line->box.y0, 1.0f);
}

/* The gap between two lines, as a share of their height. */
static float gap_of(const struct vcm_layout_line *before, const struct vcm_layout_line *line)
{
    return (line->box.y0 - before->box.y1) / fminf(height_of(before), height_of(line));
}

/* The share above which a gap separates paragraphs: somewhat more than the usual gap. */
static float paragraph_gap(const struct vcm_layout *layout)
{
    size_t counts[GAP_STEPS] = {0};
    size_t total = 0;
    size_t seen = 0;
    size_t step = 0;

    for (size_t i = 1; i < layout->line_count; i++) {
        float gap = gap_of(&layout->lines[i - 1], &layout->lines[i]) * 20;
        if (layout->lines[i].page != layout->lines[i - 1].page || !(gap > -10) || gap >= GAP_STEPS)
            continue;
        counts[gap > 0 ? (size_t)gap : 0]++;
        total++;
    }
    while (step < GAP_STEPS && (seen += counts[step]) * 2 < total)
        step++;
    return fmaxf((float)step / 20 + 0.25f, 0.45f);
}

static bool is_heading(const struct vcm_layout *layout, const struct vcm_layout_line *line,
                       float body)
{
    struct vcm_slice text = line_text(layout, line);

    if (line->running || line->len > HEADING_BYTES || !vcm_layout_words_has_letter(text) ||
        vcm_layout_words_has_leaders(text))
        return false;
    if (line->box.size >= body * HEADING_RATIO && line->len >= HEADING_BYTES_MIN)
        return true;
    return line->box.bold && line->box.size >= body * 0.98f &&
           (vcm_layout_words_number_depth(text) > 0 || vcm_layout_words_is_usual_heading(text));
}

static bool same_heading(const struct vcm_layout *layout, const struct vcm_layout_line *before,
                         const struct vcm_layout_line *line)
{
    return line->page == before->page && fabsf(line->box.size - before->box.size) < 0.3f &&
           line->box.bold == before->box.bold && gap_of(before, line) < 1.0f &&
           line->box.y0 > before->box.y0 &&
           vcm_layout_words_number_depth(line_text(layout, line)) == 0;
}

/* Marks headings; lines of one heading are joined to its first. */
static void mark_headings(struct vcm_layout *layout, float body)
{
    for (size_t i = 0; i < layout->line_count;) {
        struct vcm_layout_line *line = &layout->lines[i];
        size_t count = 1;
        if (!is_heading(layout, line, body)) {
            i++;
            continue;
        }
        while (i + count < layout->line_count && is_heading(layout, &line[count], body) &&
               same_heading(layout, &line[count - 1], &line[count]))
            count++;
        for (size_t k = 0; count <= HEADING_LINES && k < count; k++) {
            line[k].level = 1;
            line[k].joined = k > 0;
        }
        i += count;
    }
}

static int slot_of(float size)
{
    return size > 0 && size < 127 ? (int)(size * 2 + 0.5f) : size > 0 ? 255 : 0;
}

/* Larger fonts are outer levels; numbers say how deep a heading is below those with one number. */
static void rank_headings(struct vcm_layout *layout)
{
    bool used[256] = {false};
    uint32_t ranks[256];
    uint32_t rank = 0;
    uint32_t numbered = 0;

    for (size_t i = 0; i < layout->line_count; i++) {
        if (layout->lines[i].level > 0)
            used[slot_of(layout->lines[i].box.size)] = true;
    }
    for (int slot = 255; slot >= 0; slot--) {
        rank += used[slot] && rank < 6 ? 1 : 0;
        ranks[slot] = rank;
    }
    for (size_t i = 0; i < layout->line_count; i++) {
        struct vcm_layout_line *line = &layout->lines[i];
        uint32_t own = ranks[slot_of(line->box.size)];
        if (line->level > 0 && vcm_layout_words_number_depth(line_text(layout, line)) == 1 &&
            (numbered == 0 || own < numbered))
            numbered = own;
    }
    for (size_t i = 0; i < layout->line_count; i++) {
        struct vcm_layout_line *line = &layout->lines[i];
        if (line->level == 0)
            continue;
        uint32_t depth = vcm_layout_words_number_depth(line_text(layout, line));
        line->level =
            depth > 0 && numbered > 0 ? numbered + depth - 1 : ranks[slot_of(line->box.size)];
    }
}

enum junction { JUNCTION_LINE, JUNCTION_PARAGRAPH };

static enum junction junction_of(const struct vcm_layout *layout,
                                 const struct vcm_layout_line *before,
                                 const struct vcm_layout_line *line, float gap)
{
    bool stopped = vcm_layout_words_ends_sentence(line_text(layout, before));
    bool lower = vcm_layout_words_begins_lower(line_text(layout, line));

    if (line->joined)
        return JUNCTION_LINE;
    if (before->level > 0 || line->level > 0)
        return JUNCTION_PARAGRAPH;
    /* At a new column or page: the sentence may continue or not. */
    if (line->page != before->page || line->box.y0 < before->box.y0 - height_of(line) / 2)
        return !stopped && lower ? JUNCTION_LINE : JUNCTION_PARAGRAPH;
    if (gap_of(before, line) > gap)
        return JUNCTION_PARAGRAPH;
    if (line->box.size > before->box.size * CONTINUED_RATIO ||
        before->box.size > line->box.size * CONTINUED_RATIO)
        return JUNCTION_PARAGRAPH;
    if (stopped && line->box.x0 - before->box.x0 > 0.8f * line->box.size)
        return JUNCTION_PARAGRAPH;
    return JUNCTION_LINE;
}

/* The document that is being built. */
struct writer {
    struct vcm_document *document;
    const struct vcm_layout *layout;
    struct vcm_layout_words words;
    float gap;
    size_t heading; /* offset of the open one */
    const struct vcm_layout_line *heading_line;
};

static int close_heading(struct writer *w, struct vcm_error *err)
{
    const struct vcm_layout_line *line = w->heading_line;
    struct vcm_buf *text = &w->document->text;
    struct vcm_buf title = VCM_BUF_INIT(VCM_LIMIT_EXTRACT_TEXT_BYTES);

    if (!line)
        return VCM_OK;
    vcm_buf_append(&title, text->data + w->heading, text->len - w->heading);
    uint32_t level =
        line->level < VCM_LIMIT_HEADING_LEVELS ? line->level : VCM_LIMIT_HEADING_LEVELS;
    int rc = vcm_buf_check(&title, "a title", err);
    if (rc == VCM_OK)
        rc = vcm_document_add_heading(w->document, level, w->heading, text->len,
                                      vcm_buf_slice(&title), err);
    w->heading_line = NULL;
    vcm_buf_release(&title);
    return rc;
}

/* Appends a line to the one before. A divided word is joined, and the line break comes after it
 * instead. */
static int write_line(struct writer *w, const struct vcm_layout_line *before,
                      const struct vcm_layout_line *line, struct vcm_error *err)
{
    struct vcm_buf *text = &w->document->text;
    struct vcm_slice words = line_text(w->layout, line);
    int rc = VCM_OK;

    enum junction junction = before ? junction_of(w->layout, before, line, w->gap) : JUNCTION_LINE;
    size_t divided =
        before && junction == JUNCTION_LINE ? vcm_layout_words_mend(text, &w->words, words) : 0;
    if (before && divided == 0)
        vcm_buf_append_string(text, junction == JUNCTION_LINE ? "\n" : "\n\n");
    if (!line->joined)
        rc = close_heading(w, err);
    if (rc == VCM_OK && (!before || before->page != line->page))
        rc = vcm_document_add_page(w->document, text->len, line->page, err);
    if (line->level > 0 && !line->joined) {
        w->heading = text->len;
        w->heading_line = line;
    }
    if (divided > 0) {
        vcm_buf_append(text, words.data, divided);
        while (divided < words.len && words.data[divided] == ' ')
            divided++;
        if (divided < words.len)
            vcm_buf_append_byte(text, '\n');
    }
    vcm_buf_append(text, words.data + divided, words.len - divided);
    return rc;
}

static int write_lines(struct writer *w, struct vcm_error *err)
{
    const struct vcm_layout_line *before = NULL;
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < w->layout->line_count; i++) {
        const struct vcm_layout_line *line = &w->layout->lines[i];
        if (line->running)
            continue;
        rc = write_line(w, before, line, err);
        before = line;
    }
    if (before)
        vcm_buf_append_byte(&w->document->text, '\n');
    if (rc == VCM_OK)
        rc = close_heading(w, err);
    return rc;
}

int vcm_layout_finish(struct vcm_document *document, struct vcm_layout *layout,
                      struct vcm_error *err)
{
    struct writer w = {.document = document, .layout = layout};

    int rc = vcm_layout_columns_order(layout, err);
    join_pieces(layout);
    if (rc == VCM_OK)
        rc = vcm_layout_words_mark_running(layout, err);
    if (rc == VCM_OK) {
        mark_headings(layout, body_size(layout));
        rank_headings(layout);
        w.gap = paragraph_gap(layout);
        rc = vcm_layout_words_open(&w.words, vcm_buf_slice(&layout->text), err);
    }
    if (rc == VCM_OK)
        rc = write_lines(&w, err);
    if (rc == VCM_OK)
        rc = vcm_buf_check(&document->text, "the text", err);
    vcm_layout_words_close(&w.words);
    return rc;
}
