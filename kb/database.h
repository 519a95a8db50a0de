/*
 * database.h - the knowledge base on disk: documents, their chunks, and the index over them. The
 * owner of SQLite.
 *
 * A document is named by its source and path; replacing one is a transaction, so that a reader sees
 * the old chunks or the new ones. Several processes may use one file: readers never wait for the
 * writer; a writer waits at most VCM_LIMIT_LOCK_TIMEOUT_MS for another, then fails with STORE_BUSY.
 * STORE_CORRUPT when the file is damaged or not ours, UNSUPPORTED when a newer vcm made it.
 * A handle is used by one thread at a time.
 */
#ifndef VCM_KB_DATABASE_H
#define VCM_KB_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/hash.h"
#include "kb/chunker.h"

#define VCM_DATABASE_FILE "kb.sqlite" /* in the home */

struct vcm_database;

struct vcm_database_document {
    const char *source;                           /* base scope of a repository, NULL for none */
    const char *path;                             /* from its root; absolute without a source */
    unsigned char content[VCM_HASH_SHA256_BYTES]; /* of its bytes */
    const char *profile;                          /* NULL for none */
    const char *data_type;                        /* the profile, else the format */
    const char *settings;                         /* how it was read and cut */
    uint64_t bytes;
    uint64_t chunks, tokens; /* filled in by the database */
    uint64_t ingested_at;    /* Unix seconds */
    bool from_tree;          /* of a commit's tree; false: a file that the user ingested */
};

struct vcm_database_chunk {
    char chunk_id[2 * VCM_CHUNKER_ID_BYTES + 1];
    const struct vcm_database_document *document;
    uint64_t seq; /* from 0 */
    const char *section;
    uint32_t page; /* 0 for none */
    uint32_t tokens;
    struct vcm_slice text;
    double score;        /* of a hit: higher is better */
    const char *snippet; /* of a hit: the words around what matches */
};

/* With `writable` a missing file is created; otherwise it is NOT_FOUND. A file in a folder that
 * cannot be written is read as it is, unless the process that wrote it last was killed: IO_ERROR.
 */
int vcm_database_open(struct vcm_database **out, const char *path, bool writable,
                      const struct vcm_cancel *cancel, struct vcm_error *err);
void vcm_database_close(struct vcm_database *store);

/* Reads all of a file, if there is one. STORE_CORRUPT when it is damaged. */
int vcm_database_check_file(const char *path, const struct vcm_cancel *cancel,
                            struct vcm_error *err);

/* The path of the file; valid as long as the handle. */
const char *vcm_database_path(const struct vcm_database *store);

/* Whether the document is present with the same content, profile and settings. */
int vcm_database_has(bool *out, struct vcm_database *store,
                     const struct vcm_database_document *document, struct vcm_error *err);

/* Replaces a document: begin, its chunks in order, then commit, or rollback after any failure. */
int vcm_database_begin(struct vcm_database *store, const struct vcm_database_document *document,
                       struct vcm_error *err);
int vcm_database_add_chunk(struct vcm_database *store, const struct vcm_chunker_chunk *chunk,
                           struct vcm_error *err);
int vcm_database_commit(struct vcm_database *store, struct vcm_error *err);
void vcm_database_rollback(struct vcm_database *store);

/* Selects documents. A member that is not set matches all. */
struct vcm_database_filter {
    const char *source;
    const char *profile;
    bool from_tree; /* only documents from trees */
    bool (*takes)(void *context, struct vcm_slice path);
    void *context;
};

/* The pointers are valid during the call. Anything but VCM_OK ends the listing. */
typedef int (*vcm_database_document_fn)(void *context, const struct vcm_database_document *document,
                                        struct vcm_error *err);
typedef int (*vcm_database_chunk_fn)(void *context, const struct vcm_database_chunk *chunk,
                                     struct vcm_error *err);

/* Ordered by source, none first, then by path. */
int vcm_database_list(struct vcm_database *store, const struct vcm_database_filter *filter,
                      vcm_database_document_fn visit, void *context, struct vcm_error *err);

/* Removes documents in one transaction and visits those that were removed. */
int vcm_database_remove(struct vcm_database *store, const struct vcm_database_filter *filter,
                        vcm_database_document_fn visit, void *context, struct vcm_error *err);

/* The chunk with this id or unique prefix of at least VCM_LIMIT_PREFIX_MIN digits; when several
 * have this id (equal text under one path of several sources), the first. NOT_FOUND, AMBIGUOUS. */
int vcm_database_show(struct vcm_database *store, const char *prefix, vcm_database_chunk_fn visit,
                      void *context, struct vcm_error *err);

struct vcm_database_search {
    struct vcm_slice query; /* any bytes (query.h) */
    struct vcm_database_filter filter;
    uint32_t limit;      /* most hits; 0 for VCM_LIMIT_HITS */
    uint64_t max_tokens; /* of all hits together; 0 for any. Hits that do not fit are skipped */
};

/* Visits the best chunks first: those with all terms of the query or, when there are none, with
 * any. A chunk that matches only in the text that it shares with a better neighbour is omitted.
 * *total counts the matching chunks. When very many chunks match, only a part of them is ranked:
 * those with the terms in their section, and an even sample of the others. */
int vcm_database_search_find(uint64_t *total, struct vcm_database *store,
                             const struct vcm_database_search *search, vcm_database_chunk_fn visit,
                             void *context, struct vcm_error *err);

struct vcm_database_stat {
    uint32_t schema_version;
    uint64_t documents, sources, chunks, tokens, bytes, file_bytes;
};

int vcm_database_stat(struct vcm_database_stat *out, struct vcm_database *store,
                      struct vcm_error *err);

/* The extracted form of a document (document.h), stored compressed under its content hash and the
 * extractor's version. NOT_FOUND when it is not stored, STORE_CORRUPT when it is damaged. A form
 * that an earlier version stored uncompressed is read too, and compressed by a reader that may
 * write. Storing one replaces those of earlier extractors. */
int vcm_database_extractions_get(struct vcm_buf *out, struct vcm_database *store,
                                 const unsigned char content[VCM_HASH_SHA256_BYTES],
                                 uint32_t version, struct vcm_error *err);
int vcm_database_extractions_put(struct vcm_database *store,
                                 const unsigned char content[VCM_HASH_SHA256_BYTES],
                                 uint32_t version, struct vcm_slice encoded, struct vcm_error *err);

/* A scope of pages refers to an extraction, under the name that its page table has for the content,
 * until it is settled without that name or forgotten. An extraction without any document or scope
 * that refers to it is deleted at once. */
int vcm_database_extractions_keep(struct vcm_database *store,
                                  const unsigned char content[VCM_HASH_SHA256_BYTES],
                                  const char *scope, struct vcm_slice name, struct vcm_error *err);

/* Removes the references of the scope under names for which `uses` returns false. References
 * without a name, of an earlier version, stay until the scope is forgotten. */
int vcm_database_extractions_settle_scope(struct vcm_database *store, const char *scope,
                                          bool (*uses)(void *context, struct vcm_slice name),
                                          void *context, struct vcm_error *err);
int vcm_database_extractions_forget_scope(struct vcm_database *store, const char *scope,
                                          struct vcm_error *err);

/* Appends the scopes that refer to extractions, each ended by a NUL. */
int vcm_database_extractions_list_scopes(struct vcm_buf *out, struct vcm_database *store,
                                         struct vcm_error *err);

#endif
