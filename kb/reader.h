/*
 * reader.h - the kind of a document, and its text.
 *
 * Reads Markdown, reStructuredText, HTML and plain text in process, in time and memory that grow
 * with the file alone. PDF is not read here: extract.h has a program of its own for it.
 * The text of Markdown, reStructuredText and plain text is the file's own, without a byte-order
 * mark, with U+FFFD for invalid bytes and NULs; that of HTML is what a reader of the page sees.
 */
#ifndef VCM_KB_READER_H
#define VCM_KB_READER_H

#include "kb/document.h"

enum vcm_reader_type {
    VCM_READER_TEXT,
    VCM_READER_MARKDOWN,
    VCM_READER_RST,
    VCM_READER_HTML,
    VCM_READER_PDF,
    VCM_READER_OTHER, /* text if its bytes are */
};

/* By the extension of a path, in any case. */
enum vcm_reader_type vcm_reader_type_of(struct vcm_slice path);

/* "markdown": the data type of a document without a profile. VCM_READER_OTHER is "text". */
const char *vcm_reader_type_name(enum vcm_reader_type type);

/* Fills an empty document. UNSUPPORTED, with the reason in the document and first in the message:
 * UNSUPPORTED_TYPE when the bytes are no text, EMPTY when there is no text, OVER_THE_LIMITS. Must
 * not be called for PDF. */
int vcm_reader_read(struct vcm_document *document, enum vcm_reader_type type,
                    struct vcm_slice bytes, struct vcm_error *err);

#endif
