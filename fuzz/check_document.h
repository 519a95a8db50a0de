/*
 * check_document.h - what holds for a document from any reader, and for the chunks made of it.
 */
#ifndef VCM_FUZZ_CHECK_DOCUMENT_H
#define VCM_FUZZ_CHECK_DOCUMENT_H

#include "base/limits.h"
#include "base/utf8.h"
#include "fuzz/check.h"
#include "kb/chunker.h"
#include "kb/reader.h"

#define CHECK_TARGET 48

struct check_chunks {
    const struct vcm_document *document;
    size_t at;
};

static int check_chunk(void *context, const struct vcm_chunker_chunk *chunk, struct vcm_error *err)
{
    struct check_chunks *seen = context;

    (void)err;
    FUZZ_CHECK(chunk->tokens <= CHECK_TARGET);
    FUZZ_CHECK(chunk->offset + chunk->overlap == seen->at);
    FUZZ_CHECK(chunk->text.len > chunk->overlap && vcm_utf8_valid(chunk->text));
    seen->at = chunk->offset + chunk->text.len;
    return VCM_OK;
}

static void check_document(const struct vcm_document *document)
{
    struct check_chunks seen = {document, 0};
    struct vcm_chunker_options options = {NULL, CHECK_TARGET, 12, 4096};
    static struct vcm_tokenizer *tokenizer; /* for all inputs: opening one takes long */
    size_t end = 0;

    FUZZ_CHECK(vcm_utf8_valid(vcm_buf_slice(&document->text)));
    for (size_t i = 0; i < document->heading_count; i++) {
        const struct vcm_document_heading *heading = &document->headings[i];
        FUZZ_CHECK(heading->offset >= end && heading->end > heading->offset);
        FUZZ_CHECK(heading->level > 0 && heading->title.len > 0);
        FUZZ_CHECK(heading->title.len <= VCM_LIMIT_HEADING_BYTES + 1);
        FUZZ_CHECK(vcm_utf8_valid(heading->title));
        end = heading->end;
    }
    FUZZ_CHECK(end <= document->text.len);
    if (document->text.len > 64 * VCM_KIB)
        return;
    if (!tokenizer)
        FUZZ_CHECK(vcm_tokenizer_open(&tokenizer, "o200k_base", NULL) == VCM_OK);
    options.tokenizer = tokenizer;
    FUZZ_CHECK(vcm_chunker_run(document, vcm_slice_of_string("a"), &options, check_chunk, &seen,
                               NULL) == VCM_OK);
    FUZZ_CHECK(seen.at == document->text.len);
}

static inline void check_reader(enum vcm_reader_type type, struct vcm_slice bytes)
{
    struct vcm_error err = {0};
    struct vcm_document document;

    vcm_document_init(&document);
    int rc = vcm_reader_read(&document, type, bytes, &err);
    FUZZ_CHECK(rc == VCM_OK || (rc == VCM_UNSUPPORTED && err.message[0] != '\0'));
    if (rc == VCM_OK)
        check_document(&document);
    vcm_document_release(&document);
}

#endif
