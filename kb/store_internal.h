/*
 * store_internal.h - the inside of a store, shared by store.c, store_search.c and
 * store_extractions.c, which own SQLite together. Private to them.
 */
#ifndef VCM_KB_STORE_INTERNAL_H
#define VCM_KB_STORE_INTERNAL_H

#include <sqlite3.h>

#include "base/zstd.h"
#include "kb/store.h"

#define VCM_STORE_DOCUMENT_COLUMNS                                                                 \
    "d.source, d.path, d.content, d.profile, d.data_type, d.settings, d.bytes, d.chunks, "         \
    "d.tokens, d.ingested_at, d.from_tree"
#define VCM_STORE_DOCUMENT_COLUMN_COUNT 11

#define VCM_STORE_CHUNK_COLUMNS                                                                    \
    "c.chunk_id, c.seq, c.section, c.page, c.tokens, c.text, " VCM_STORE_DOCUMENT_COLUMNS

/* What a filter takes: ?2 profile, ?3 source, ?4 whether paths are asked for, ?5
 * whether only those of trees are meant. */
#define VCM_STORE_FILTER                                                                           \
    "(?2 IS NULL OR profile = ?2) AND (?3 IS NULL OR source = ?3) AND (?4 = 0 OR takes(path)) "    \
    "AND (?5 = 0 OR from_tree)"

enum vcm_store_statement {
    VCM_STORE_INSERT_DOCUMENT,
    VCM_STORE_INSERT_CHUNK,
    VCM_STORE_INSERT_SEARCH,
    VCM_STORE_FINISH_DOCUMENT,
    VCM_STORE_STATEMENTS /* how many are kept */
};

struct vcm_store {
    sqlite3 *db;
    const struct vcm_cancel *cancel;
    struct vcm_zstd *zstd; /* for kept texts; made when first needed */
    bool writable;
    sqlite3_stmt *kept[VCM_STORE_STATEMENTS];
    const struct vcm_store_filter *filter; /* for takes(), while a statement runs */
    int64_t document;                      /* that is being written, 0 for none */
    bool replaces;                         /* another one, with this content: */
    unsigned char replaced[VCM_HASH_SHA256_BYTES];
    uint64_t chunks, tokens;
};

/* Each translates SQLite's code. */
int vcm_store_run_sql(struct vcm_store *store, const char *sql, struct vcm_error *err);
int vcm_store_prepare(sqlite3_stmt **out, struct vcm_store *store, const char *sql,
                      struct vcm_error *err);

/* Runs a statement that gives no rows, and resets it. */
int vcm_store_finish(struct vcm_store *store, sqlite3_stmt *statement, struct vcm_error *err);

/* The first column of the first row, 0 without one. */
int vcm_store_read_number(int64_t *out, struct vcm_store *store, const char *sql,
                          struct vcm_error *err);

/* Takes the next row; *more is false behind the last. */
int vcm_store_next_row(bool *more, struct vcm_store *store, sqlite3_stmt *statement,
                       struct vcm_error *err);

/* What is bound must stay until the statement is reset. A string may be NULL. */
void vcm_store_bind_string(sqlite3_stmt *statement, int index, const char *text);
void vcm_store_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t len);
void vcm_store_bind_slice(sqlite3_stmt *statement, int index, struct vcm_slice text);

/* Binds what VCM_STORE_FILTER asks for. */
void vcm_store_bind_filter(sqlite3_stmt *statement, const struct vcm_store_filter *filter);

/* Never NULL; lives until the next step. */
const char *vcm_store_column_string(sqlite3_stmt *statement, int column);

/* Makes what the file of an earlier version lacks. */
int vcm_store_set_up_extractions(struct vcm_store *store, struct vcm_error *err);

/* Removes the texts that no document and no scope refers to: all of them, or that of `content`. */
int vcm_store_prune_extractions(struct vcm_store *store, struct vcm_error *err);
int vcm_store_prune_extraction(struct vcm_store *store,
                               const unsigned char content[VCM_HASH_SHA256_BYTES],
                               struct vcm_error *err);

/* Ends the transaction that gave up documents or claims: commits it when `rc` is VCM_OK and what
 * nobody needs any more is gone, else rolls it back. Returns `rc` or what failed then. */
int vcm_store_finish_drop(struct vcm_store *store, int rc, struct vcm_error *err);

/* Reads VCM_STORE_CHUNK_COLUMNS from column 0 on. */
void vcm_store_read_chunk(struct vcm_store_chunk *out, struct vcm_store_document *document,
                          sqlite3_stmt *row);

#endif
