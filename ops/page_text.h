/*
 * page_text.h - a page as text for a model to read: plain, Markdown or XML.
 *
 * The same page and scope give the same bytes. Every record stands under its path between fences
 * that its content cannot close, so that the content can be taken out again exactly:
 *
 *     text      ======== PATH (lines 1-9, part 1 of 2)       at least 8 "=", more than the content
 *               ======== in HEADING                          has at the beginning of any line
 *               CONTENT
 *               ========
 *     markdown  a heading, then a fenced code block with more backticks than the content has
 *     xml       <record path="...">, <heading>, <text>: escaped; what XML cannot hold is U+FFFD
 *
 * A content that does not end with a line end gets one, and the line above says "no newline at
 * end". A path that would break its line is written as a JSON string.
 * A chunk of a document stands under its section, and under its page where it has one.
 * A binary file's content is its base64 form, or nothing when that does not fit a page.
 * With line numbers each line begins with its number and a tab.
 */
#ifndef VCM_OPS_PAGE_TEXT_H
#define VCM_OPS_PAGE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum vcm_page_text_format {
    VCM_PAGE_TEXT_PLAIN,
    VCM_PAGE_TEXT_MARKDOWN,
    VCM_PAGE_TEXT_XML,
};

struct vcm_page_text_record {
    struct vcm_slice path;
    struct vcm_slice heading; /* empty for none */
    struct vcm_slice text;
    uint64_t start_line, end_line, part, parts;
    bool lossy;
    const char *media_type; /* of a binary file, whose text is base64 or left empty; else NULL */
    uint64_t size;
    struct vcm_slice section; /* of a chunk of a document; stands in the heading's place */
    uint64_t page;            /* of the document; 0 for none */
};

struct vcm_page_text_options {
    enum vcm_page_text_format format;
    bool lines;
    const char *page_id; /* of the page that the records are of */
    const char *scope_id;
    uint64_t seq;
};

void vcm_page_text_begin(struct vcm_buf *out, const struct vcm_page_text_options *options);
void vcm_page_text_put(struct vcm_buf *out, const struct vcm_page_text_record *record,
                       const struct vcm_page_text_options *options);
void vcm_page_text_end(struct vcm_buf *out, const struct vcm_page_text_options *options);

#endif
