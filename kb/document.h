/*
 * document.h - what a reader extracts from a file: its text, and where headings and pages begin.
 *
 * The text is valid UTF-8. Headings and pages are in the order of their offsets, which grow
 * strictly. A document owns everything in it; one owner, no locking.
 * The encoded form is what vcm-extract writes and what is cached; decoding does not trust it.
 */
#ifndef VCM_KB_DOCUMENT_H
#define VCM_KB_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/outcome.h"

struct vcm_document_heading {
    size_t offset;          /* of the first byte of its line */
    size_t end;             /* behind its last line: the section's body begins here */
    uint32_t level;         /* 1 is the outermost */
    struct vcm_slice title; /* one line, without marks */
};

struct vcm_document_page {
    size_t offset;
    uint32_t number; /* 1-based */
};

struct vcm_document {
    struct vcm_buf text;
    bool lossy;              /* invalid UTF-8 was replaced */
    enum vcm_reason refused; /* why a reader could not read it; VCM_REASON_NONE: it could */
    struct vcm_document_heading *headings;
    size_t heading_count, heading_capacity;
    struct vcm_document_page *pages; /* none unless the format has pages */
    size_t page_count, page_capacity;
    struct vcm_arena arena; /* the titles */
};

void vcm_document_init(struct vcm_document *document);
void vcm_document_release(struct vcm_document *document);

/* Records why the file cannot be read: UNSUPPORTED, with the name of the reason first in the
 * message. */
int vcm_document_refuse(struct vcm_document *document, enum vcm_reason reason,
                        struct vcm_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* vcm_buf_check(); a full buffer is reported as OVER_THE_LIMITS. */
int vcm_document_check(struct vcm_document *document, const struct vcm_buf *buf, const char *what,
                       struct vcm_error *err);

/* Adds a heading after the existing ones. White space in the title is normalised, and a title
 * longer than VCM_LIMIT_HEADING_BYTES is cut. A heading without a title is skipped, and so are
 * those beyond VCM_LIMIT_DOCUMENT_HEADINGS: their text is kept, only the section is missing. */
int vcm_document_add_heading(struct vcm_document *document, uint32_t level, size_t offset,
                             size_t end, struct vcm_slice title, struct vcm_error *err);

/* The text from here on is on this page. A page without text is replaced by the next one. */
int vcm_document_add_page(struct vcm_document *document, size_t offset, uint32_t number,
                          struct vcm_error *err);

/* The page at an offset, 0 when the document has none. */
uint32_t vcm_document_page_at(const struct vcm_document *document, size_t offset);

/* Whether the text has anything but white space. */
bool vcm_document_is_blank(const struct vcm_document *document);

/* Appends the encoded form. */
void vcm_document_encode(struct vcm_buf *out, const struct vcm_document *document);

/* Fills an empty document; UNSUPPORTED when the bytes are not what vcm_document_encode() writes. */
int vcm_document_decode(struct vcm_document *document, struct vcm_slice bytes,
                        struct vcm_error *err);

#endif
