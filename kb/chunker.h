/*
 * chunker.h - cuts a document into chunks for pages and for the knowledge base alike.
 *
 * Cuts follow headings, then paragraphs, then sentences; a sentence that is longer than a chunk is
 * cut behind words, and a longer word between characters. No chunk's serialised record exceeds the
 * target or the budget. Within a section a chunk begins with the last whole sentences of the one
 * before that fit the overlap; the chunks without these are the document's text exactly.
 * A heading without a text of its own belongs to the section below it. Where a section's path would
 * leave no room for text, its outermost headings are left out.
 * The same document, path and options give the same chunks and ids everywhere.
 */
#ifndef VCM_KB_CHUNKER_H
#define VCM_KB_CHUNKER_H

#include <stdint.h>

#include "kb/document.h"
#include "tokens/tokenizer.h"

#define VCM_CHUNKER_ID_BYTES 20

struct vcm_chunker_options {
    const struct vcm_tokenizer *tokenizer;
    uint32_t target_tokens;  /* most tokens of a record */
    uint32_t overlap_tokens; /* most tokens of the text that is repeated */
    uint32_t token_budget;   /* of a page; wins when it is below the target */
};

struct vcm_chunker_chunk {
    struct vcm_slice text;                  /* overlap included; points into the document */
    size_t offset;                          /* of the text in the document */
    size_t overlap;                         /* leading bytes that the chunk before has too */
    struct vcm_slice section;               /* headings joined by " > ", "" for none */
    uint32_t page;                          /* of the first character; 0 when there are no pages */
    uint32_t tokens;                        /* of the value */
    struct vcm_slice value;                 /* the serialised record */
    unsigned char id[VCM_CHUNKER_ID_BYTES]; /* from the SHA-256 of the value */
};

/* The chunk's pointers are valid during the call. Anything but VCM_OK ends the cutting. */
typedef int (*vcm_chunker_fn)(void *context, const struct vcm_chunker_chunk *chunk,
                              struct vcm_error *err);

/* Calls `emit` for each chunk in order; not at all for an empty text. `path` is valid UTF-8.
 * UNSUPPORTED when the path and one character alone exceed the target, or when there would be more
 * chunks than VCM_LIMIT_DOCUMENT_CHUNKS; then the chunks emitted before must be discarded. */
int vcm_chunker_run(const struct vcm_document *document, struct vcm_slice path,
                    const struct vcm_chunker_options *options, vcm_chunker_fn emit, void *context,
                    struct vcm_error *err);

/* Appends {"path":…,"section":…,"page":…,"text":…}, without "page" when that is 0. */
void vcm_chunker_serialise(struct vcm_buf *out, struct vcm_slice path, struct vcm_slice section,
                           uint32_t page, struct vcm_slice text);

#endif
