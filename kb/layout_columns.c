#include "kb/layout_columns.h"

#include <math.h>
#include <stdlib.h>

#include "kb/layout_words.h"

#include "base/banned.h"

#define GUTTER_STEPS     40
#define COLUMN_LINES_MIN 10    /* in each column; fewer once a page had two columns */
#define PROSE_BYTES      20u   /* average length of a line; less is a table */
#define WIDE_SHARE       0.6f  /* of the column: most lines of prose are at least this wide */
#define BOTH_SHARE       0.12f /* of the page: how far a line over both reaches into each */
#define CENTRE_SHARE     0.04f /* of the page: centred text is this near to the gutter */

enum column { COLUMN_BOTH, COLUMN_LEFT, COLUMN_RIGHT };

/* A line and its position in the order. */
struct place {
    struct vcm_layout_line line;
    enum column column;
    size_t band; /* how many lines over both columns are above it, itself included */
    float top;   /* of the block that it belongs to */
    size_t index;
};

struct page {
    const char *text; /* of the layout */
    struct vcm_layout_line *lines;
    size_t count;
    float left, right; /* of the text */
};

static bool has_place(const struct vcm_layout_line *line)
{
    return line->box.x1 > line->box.x0 && line->box.y1 > line->box.y0;
}

static void measure(struct page *page)
{
    page->left = INFINITY;
    page->right = -INFINITY;
    for (size_t i = 0; i < page->count; i++) {
        if (!has_place(&page->lines[i]))
            continue;
        page->left = fminf(page->left, page->lines[i].box.x0);
        page->right = fmaxf(page->right, page->lines[i].box.x1);
    }
}

static enum column column_of(const struct page *page, const struct vcm_layout_box *box,
                             float gutter)
{
    float width = page->right - page->left;
    float centre = (box->x0 + box->x1) / 2;
    bool crosses = box->x0 < gutter && box->x1 > gutter;

    if (crosses &&
        ((box->x0 < gutter - BOTH_SHARE * width && box->x1 > gutter + BOTH_SHARE * width) ||
         fabsf(centre - gutter) < CENTRE_SHARE * width))
        return COLUMN_BOTH;
    return centre < gutter ? COLUMN_LEFT : COLUMN_RIGHT;
}

/* The middle of the widest strip that the fewest lines cross. */
static float find_gutter(const struct page *page)
{
    size_t crossing[GUTTER_STEPS] = {0};
    float width = page->right - page->left;
    unsigned best = 0, best_len = 0;

    for (unsigned step = 0; step < GUTTER_STEPS; step++) {
        float x = page->left + width * (0.3f + 0.4f * (float)step / GUTTER_STEPS);
        for (size_t i = 0; i < page->count; i++)
            crossing[step] += page->lines[i].box.x0 < x && page->lines[i].box.x1 > x ? 1 : 0;
    }
    for (unsigned step = 0; step < GUTTER_STEPS;) {
        unsigned end = step;
        while (end < GUTTER_STEPS && crossing[end] == crossing[step])
            end++;
        if (best_len == 0 || crossing[step] < crossing[best] ||
            (crossing[step] == crossing[best] && end - step > best_len)) {
            best = step;
            best_len = end - step;
        }
        step = end;
    }
    return page->left +
           width * (0.3f + 0.4f * ((float)best + (float)(best_len - 1) / 2) / GUTTER_STEPS);
}

/* Tables of contents and indexes end with page numbers: what looks like a gutter is the end of the
 * dots. */
static bool has_leaders(const struct page *page)
{
    size_t count = 0;

    for (size_t i = 0; i < page->count; i++)
        count += vcm_layout_words_has_leaders(
                     vcm_slice_of(page->text + page->lines[i].offset, page->lines[i].len))
                     ? 1
                     : 0;
    return count * 10 > page->count;
}

/* Whether the lines on both sides are prose, and few cross the gutter. */
static bool has_columns(const struct page *page, float gutter, size_t lines_min)
{
    size_t lines[3] = {0}, wide[3] = {0}, bytes[3] = {0};
    float widths[3] = {1, gutter - page->left, page->right - gutter};

    for (size_t i = 0; i < page->count; i++) {
        const struct vcm_layout_box *box = &page->lines[i].box;
        if (!has_place(&page->lines[i]))
            return false;
        enum column column = column_of(page, box, gutter);
        lines[column]++;
        bytes[column] += page->lines[i].len;
        wide[column] += box->x1 - box->x0 >= WIDE_SHARE * widths[column] ? 1 : 0;
    }
    if (lines[COLUMN_BOTH] * 4 > lines[COLUMN_LEFT] + lines[COLUMN_RIGHT])
        return false;
    for (enum column side = COLUMN_LEFT; side <= COLUMN_RIGHT; side++)
        if (lines[side] < lines_min || wide[side] * 2 < lines[side] ||
            bytes[side] < lines[side] * PROSE_BYTES)
            return false;
    return true;
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;

    if (x->band != y->band)
        return x->band < y->band ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    if (x->top != y->top)
        return x->top < y->top ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static size_t band_of(const struct page *page, size_t index, float gutter)
{
    const struct vcm_layout_box *box = &page->lines[index].box;
    bool both = column_of(page, box, gutter) == COLUMN_BOTH;
    size_t band = 0;

    for (size_t i = 0; i < page->count; i++) {
        const struct vcm_layout_box *other = &page->lines[i].box;
        if (column_of(page, other, gutter) != COLUMN_BOTH)
            continue;
        /* Pieces of one printed line stay together. */
        band += other->y0 < box->y0 - 1 || (both && other->y0 <= box->y0 + 1) ? 1 : 0;
    }
    return band;
}

/* Lines that follow each other down a column stay together. */
static void order_page(struct page *page, struct place *places, float gutter)
{
    for (size_t i = 0; i < page->count; i++) {
        const struct vcm_layout_line *line = &page->lines[i];
        struct place *place = &places[i], *before = i > 0 ? &places[i - 1] : NULL;
        *place = (struct place){*line, column_of(page, &line->box, gutter),
                                band_of(page, i, gutter), line->box.y0, i};
        if (before && before->band == place->band && before->column == place->column &&
            line->box.y1 > before->line.box.y0)
            place->top = fminf(before->top, place->top);
    }
    qsort(places, page->count, sizeof *places, compare_places);
    for (size_t i = 0; i < page->count; i++)
        page->lines[i] = places[i].line;
}

int vcm_layout_columns_order(struct vcm_layout *layout, struct vcm_error *err)
{
    struct place *places = calloc(layout->line_count + 1, sizeof *places);
    float known = 0; /* the gutter of the last page that had one */

    if (!places)
        return vcm_error_memory(err);
    for (size_t p = 0; p < layout->page_count; p++) {
        size_t first = layout->pages[p].first;
        size_t end = p + 1 < layout->page_count ? layout->pages[p + 1].first : layout->line_count;
        if (end - first < 2) /* a document without lines has no array of them either */
            continue;
        struct page page = {layout->text.data, layout->lines + first, end - first, 0, 0};
        if (has_leaders(&page))
            continue;
        measure(&page);
        float gutter = find_gutter(&page);
        if (has_columns(&page, gutter, COLUMN_LINES_MIN))
            known = gutter;
        else if (known > page.left && known < page.right && has_columns(&page, known, 1))
            gutter = known;
        else
            continue;
        order_page(&page, places, gutter);
    }
    free(places);
    return VCM_OK;
}
