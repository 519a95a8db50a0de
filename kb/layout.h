/*
 * layout.h - makes a document from the lines of a paginated file: running heads and feet are
 * removed, words that were divided at line ends are joined, paragraphs and headings are recognised
 * from gaps, sizes and numbers.
 *
 * Lines come in reading order, page by page. Knows geometry and text, but nothing of PDF; used by
 * vcm-extract alone. One owner, no locking.
 */
#ifndef VCM_KB_LAYOUT_H
#define VCM_KB_LAYOUT_H

#include "kb/document.h"

/* A line and its position on the page; y grows downwards. */
struct vcm_layout_box {
    float x0, y0, x1, y1;
    float size; /* of the font, of most of its characters */
    bool bold;  /* most of its characters are */
};

struct vcm_layout_line {
    struct vcm_layout_box box;
    size_t offset, len; /* in the layout's text */
    uint32_t page;      /* 1-based */
    uint32_t level;     /* of a heading, else 0 */
    bool running;       /* a running head or foot */
    bool joined;        /* belongs to the heading of the line before */
};

struct vcm_layout_page {
    size_t first; /* line */
    float height;
};

struct vcm_layout {
    struct vcm_buf text; /* of all lines, with a line break between them */
    struct vcm_layout_line *lines;
    size_t line_count, line_capacity;
    struct vcm_layout_page *pages;
    size_t page_count, page_capacity;
};

void vcm_layout_init(struct vcm_layout *layout);
void vcm_layout_release(struct vcm_layout *layout);

/* Begins the next page. */
int vcm_layout_add_page(struct vcm_layout *layout, float height, struct vcm_error *err);

/* Adds a line; ligatures are resolved, control characters and invalid bytes replaced. Blank lines
 * are left out. UNSUPPORTED when there is too much text. */
int vcm_layout_add_line(struct vcm_layout *layout, struct vcm_slice text,
                        const struct vcm_layout_box *box, struct vcm_error *err);

/* Fills an empty document. */
int vcm_layout_finish(struct vcm_document *document, struct vcm_layout *layout,
                      struct vcm_error *err);

#endif
