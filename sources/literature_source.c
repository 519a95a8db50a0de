#include "sources/literature_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "git/repo.h"
#include "kb/chunker.h"
#include "kb/extract.h"
#include "kb/reader.h"
#include "kb/database.h"
#include "sources/blob_reader.h"
#include "sources/git_source.h"

#include "base/banned.h"

/* A larger PDF is extracted only when it is its turn, so that few are in memory at a time. */
#define WAITING_PDF_BYTES_MAX (32 * VCM_MIB)

struct literature {
    struct vcm_source source;
    struct vcm_source *files; /* the git source that walks */
    struct vcm_git_repo *repo;
    char *extractions; /* may be NULL */
    char *scope_id;    /* may be NULL */
    uint32_t target_tokens, overlap_tokens;
    const struct vcm_cancel *cancel;
};

struct reader {
    const struct literature *literature;
    struct vcm_blob_reader *blobs;
    struct vcm_database *store; /* keeps extracted texts; NULL without one */
    bool store_writable;
    struct vcm_source_content raw; /* the file's bytes */
};

static int walk_source(struct vcm_source *source, vcm_source_item_fn visit, void *context,
                       const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct literature *literature = (struct literature *)source;

    return literature->files->functions->walk(literature->files, visit, context, cancel, err);
}

static void close_reader(void *opaque)
{
    struct reader *reader = opaque;

    if (!reader)
        return;
    vcm_database_close(reader->store);
    vcm_blob_reader_close(reader->blobs);
    vcm_buf_release(&reader->raw.text);
    free(reader);
}

static int open_reader(void **out, struct vcm_source *source, struct vcm_error *err)
{
    struct literature *literature = (struct literature *)source;

    *out = NULL;
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return vcm_error_memory(err);
    reader->literature = literature;
    vcm_buf_init(&reader->raw.text, VCM_LIMIT_DOCUMENT_BYTES);
    int rc = vcm_blob_reader_open_again(&reader->blobs, literature->repo, err);
    if (rc == VCM_OK)
        *out = reader;
    else
        close_reader(reader);
    return rc;
}

/* A fault of a document fails that document alone; its reader may have set the reason. */
static int fail_document(struct vcm_source_content *content, int rc, struct vcm_error *failure,
                         struct vcm_error *err)
{
    if (rc == VCM_INTERNAL || rc == VCM_INTERRUPTED) {
        if (err)
            *err = *failure;
        return rc;
    }
    content->outcome = VCM_SOURCE_FAILED;
    if (rc == VCM_NOT_FOUND)
        content->reason = VCM_REASON_NO_EXTRACTOR;
    else if (content->reason == VCM_REASON_NONE)
        content->reason = VCM_REASON_UNREADABLE;
    return VCM_OK;
}

/* Opens the database of extracted texts; without it each text is extracted when it is needed. */
static struct vcm_database *store_of(struct reader *reader)
{
    const char *path = reader->literature->extractions;

    if (reader->store || !path)
        return reader->store;
    reader->store_writable =
        vcm_database_open(&reader->store, path, true, reader->literature->cancel, NULL) == VCM_OK;
    if (!reader->store_writable)
        vcm_database_open(&reader->store, path, false, reader->literature->cancel, NULL);
    return reader->store;
}

/* Appends the encoded text of a PDF, kept or newly extracted. */
static int read_pdf(struct vcm_source_content *content, struct reader *reader,
                    const struct vcm_source_item *item, struct vcm_slice bytes,
                    struct vcm_error *err)
{
    struct vcm_buf *out = &content->text;
    unsigned char id[VCM_HASH_SHA256_BYTES];
    struct vcm_database *store = store_of(reader);
    struct vcm_document document;

    vcm_document_init(&document);
    vcm_hash_sha256_of(id, bytes);
    int rc = store ? vcm_database_extractions_get(out, store, id, VCM_EXTRACT_VERSION, NULL)
                   : VCM_NOT_FOUND;
    if (rc == VCM_OK)
        rc = vcm_document_decode(&document, vcm_buf_slice(out), NULL);
    if (rc != VCM_OK) {
        vcm_document_release(&document);
        vcm_document_init(&document);
        vcm_buf_clear(out);
        rc = vcm_extract_run(&document, bytes,
                             &(struct vcm_extract_options){.cancel = reader->literature->cancel},
                             err);
        if (rc == VCM_OK)
            vcm_document_encode(out, &document);
        if (rc == VCM_OK && store && reader->store_writable)
            vcm_database_extractions_put(store, id, VCM_EXTRACT_VERSION, vcm_buf_slice(out), NULL);
    }
    if (rc == VCM_OK && store && reader->store_writable && reader->literature->scope_id)
        vcm_database_extractions_keep(
            store, id, reader->literature->scope_id,
            vcm_slice_of((const char *)item->content_id, item->content_id_len), NULL);
    content->lossy = document.lossy;
    content->reason = document.refused;
    vcm_document_release(&document);
    return rc;
}

static int read_text(struct vcm_source_content *content, enum vcm_reader_type type,
                     struct vcm_slice bytes, struct vcm_error *err)
{
    struct vcm_document document;

    vcm_document_init(&document);
    int rc = vcm_reader_read(&document, type, bytes, err);
    if (rc == VCM_OK)
        vcm_document_encode(&content->text, &document);
    content->lossy = document.lossy;
    content->reason = document.refused;
    vcm_document_release(&document);
    return rc;
}

static int read_item(struct vcm_source_content *content, void *opaque,
                     const struct vcm_source_item *item, struct vcm_error *err)
{
    struct reader *reader = opaque;
    struct vcm_source_content *raw = &reader->raw;
    enum vcm_reader_type type = vcm_reader_type_of(item->path);
    bool is_pdf = type == VCM_READER_PDF;
    struct vcm_error failure = {0};

    vcm_buf_clear(&raw->text);
    raw->outcome = VCM_SOURCE_PAGED;
    raw->reason = VCM_REASON_NONE;
    raw->postponed = false;
    raw->bytes_max = is_pdf && content->bytes_max > 0 ? WAITING_PDF_BYTES_MAX : content->bytes_max;
    int rc = vcm_blob_reader_read(raw, reader->blobs, item, VCM_LIMIT_DOCUMENT_BYTES, err);
    if (rc != VCM_OK)
        return rc;
    content->outcome = raw->outcome;
    content->reason = raw->reason;
    content->postponed = raw->postponed;
    if (raw->outcome != VCM_SOURCE_PAGED || raw->postponed)
        return VCM_OK;
    rc = is_pdf ? read_pdf(content, reader, item, vcm_buf_slice(&raw->text), &failure)
                : read_text(content, type, vcm_buf_slice(&raw->text), &failure);
    vcm_buf_release(&raw->text);
    if (rc != VCM_OK)
        return fail_document(content, rc, &failure, err);
    return vcm_buf_check(&content->text, "a document's text", err);
}

/* A document that is being cut into records. */
struct cutting {
    struct vcm_slice path;
    vcm_split_part_fn emit;
    void *context;
    struct vcm_slice text;
    bool has_lines; /* the text is the file's own */
    size_t at;      /* the offset where line `line` begins */
    uint32_t line;
    uint32_t part;
};

static uint32_t count_lines(struct vcm_slice text)
{
    uint32_t count = 0;

    for (const char *at = text.data, *end = text.data + text.len; at < end; count++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at)
            break;
        at++;
    }
    return count;
}

static int emit_chunk(void *context, const struct vcm_chunker_chunk *chunk, struct vcm_error *err)
{
    struct cutting *cutting = context;
    struct vcm_page_record record = {
        .path = cutting->path,
        .tokens = chunk->tokens,
        .bytes = (uint32_t)chunk->value.len,
        .part = ++cutting->part,
        .prose = true,
        .section = chunk->section,
        .page = chunk->page,
    };

    if (cutting->has_lines) {
        bool ends_line = chunk->text.len > 0 && chunk->text.data[chunk->text.len - 1] == '\n';
        cutting->line += count_lines(
            vcm_slice_of(cutting->text.data + cutting->at, chunk->offset - cutting->at));
        cutting->at = chunk->offset;
        record.start_line = cutting->line;
        record.end_line = cutting->line + count_lines(chunk->text) - (ends_line ? 1 : 0);
    }
    return cutting->emit(cutting->context, chunk->value, &record, err);
}

static int cut_document(const struct vcm_source_content *content, void *opaque,
                        struct vcm_slice path, const struct vcm_split_options *options,
                        vcm_split_part_fn emit, void *context, struct vcm_error *err)
{
    const struct literature *literature = ((struct reader *)opaque)->literature;
    const struct vcm_chunker_options how = {options->tokenizer, literature->target_tokens,
                                            literature->overlap_tokens, options->token_budget};
    enum vcm_reader_type type = vcm_reader_type_of(path);
    struct vcm_document document;

    vcm_document_init(&document);
    int rc = vcm_document_decode(&document, vcm_buf_slice(&content->text), err);
    struct cutting cutting = {
        .path = path,
        .emit = emit,
        .context = context,
        .text = vcm_buf_slice(&document.text),
        .has_lines = type != VCM_READER_PDF && type != VCM_READER_HTML,
        .line = 1,
    };
    if (rc == VCM_OK)
        rc = vcm_chunker_run(&document, path, &how, emit_chunk, &cutting, err);
    vcm_document_release(&document);
    return rc;
}

static bool is_volatile(const struct vcm_source *source, const unsigned char *content_id,
                        size_t len)
{
    const struct vcm_source *files = ((const struct literature *)source)->files;

    return files->functions->is_volatile(files, content_id, len);
}

static void close_source(struct vcm_source *source)
{
    struct literature *literature = (struct literature *)source;

    vcm_source_close(literature->files);
    vcm_git_repo_close(literature->repo);
    free(literature->extractions);
    free(literature->scope_id);
    free(literature);
}

static const struct vcm_source_functions functions = {
    .walk = walk_source,
    .reader_open = open_reader,
    .reader_close = close_reader,
    .read = read_item,
    .cut = cut_document,
    .is_volatile = is_volatile,
    .close = close_source,
};

static int open_source(struct vcm_source **out, const struct vcm_source_request *request,
                       struct vcm_error *err)
{
    struct literature *literature = calloc(1, sizeof *literature);
    int rc = VCM_OK;

    *out = NULL;
    if (!literature)
        return vcm_error_memory(err);
    literature->source.functions = &functions;
    literature->target_tokens = request->chunk_target_tokens;
    literature->overlap_tokens = request->chunk_overlap_tokens;
    literature->cancel = request->cancel;
    if (request->extractions)
        literature->extractions = strdup(request->extractions);
    if (request->scope_id)
        literature->scope_id = strdup(request->scope_id);
    if ((request->extractions && !literature->extractions) ||
        (request->scope_id && !literature->scope_id))
        rc = vcm_error_memory(err);
    if (rc == VCM_OK)
        rc = request->snapshot ? vcm_git_repo_open_again(&literature->repo, request->snapshot, err)
                               : vcm_git_repo_open(&literature->repo, request->repository, err);
    if (rc == VCM_OK)
        rc = vcm_git_source_type.open(&literature->files, request, err);
    if (rc == VCM_OK)
        *out = &literature->source;
    else
        close_source(&literature->source);
    return rc;
}

const struct vcm_source_type vcm_literature_source_type = {.name = "literature",
                                                           .open = open_source};
