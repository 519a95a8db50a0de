/*
 * reader_formats.h - the readers behind reader.h. Private to kb/.
 */
#ifndef VCM_KB_READER_FORMATS_H
#define VCM_KB_READER_FORMATS_H

#include "kb/document.h"

/* Find the headings of document->text. */
int vcm_reader_markdown_headings(struct vcm_document *document, struct vcm_error *err);
int vcm_reader_rst_headings(struct vcm_document *document, struct vcm_error *err);

/* Appends the text of a page of valid UTF-8, and its headings. */
int vcm_reader_html_text(struct vcm_document *document, struct vcm_slice html,
                         struct vcm_error *err);

/* The position behind the line that `at` is in. */
static inline size_t vcm_reader_formats_line_end(struct vcm_slice text, size_t at)
{
    const char *newline = memchr(text.data + at, '\n', text.len - at);
    return newline ? (size_t)(newline - text.data) + 1 : text.len;
}

/* The line without its end and trailing white space. */
static inline struct vcm_slice vcm_reader_formats_line(struct vcm_slice text, size_t at, size_t end)
{
    while (end > at && (text.data[end - 1] == ' ' ||
                        (text.data[end - 1] >= '\t' && text.data[end - 1] <= '\r')))
        end--;
    return vcm_slice_of(text.data + at, end - at);
}

#endif
