/*
 * database_internal.h - the inside of a database, shared by database.c, database_search.c and
 * database_extractions.c, which own SQLite together. Private to them.
 */
#ifndef VCM_KB_DATABASE_INTERNAL_H
#define VCM_KB_DATABASE_INTERNAL_H

#include <sqlite3.h>

#include "base/zstd.h"
#include "kb/database.h"

#define VCM_DATABASE_DOCUMENT_COLUMNS                                                              \
    "d.source, d.path, d.content, d.profile, d.data_type, d.settings, d.bytes, d.chunks, "         \
    "d.tokens, d.ingested_at, d.from_tree"
#define VCM_DATABASE_DOCUMENT_COLUMN_COUNT 11

#define VCM_DATABASE_CHUNK_COLUMNS                                                                 \
    "c.chunk_id, c.seq, c.section, c.page, c.tokens, c.text, " VCM_DATABASE_DOCUMENT_COLUMNS

/* Selects what a filter matches: ?2 profile, ?3 source, ?4 whether paths are tested, ?5 whether
 * only documents of trees match. */
#define VCM_DATABASE_FILTER                                                                        \
    "(?2 IS NULL OR profile = ?2) AND (?3 IS NULL OR source = ?3) AND (?4 = 0 OR takes(path)) "    \
    "AND (?5 = 0 OR from_tree)"

enum vcm_database_statement {
    VCM_DATABASE_INSERT_DOCUMENT,
    VCM_DATABASE_INSERT_CHUNK,
    VCM_DATABASE_INSERT_SEARCH,
    VCM_DATABASE_FINISH_DOCUMENT,
    VCM_DATABASE_STATEMENTS /* number of statements */
};

struct vcm_database {
    sqlite3 *db;
    const struct vcm_cancel *cancel;
    struct vcm_zstd *zstd; /* for stored texts; created when first needed */
    bool writable;
    sqlite3_stmt *kept[VCM_DATABASE_STATEMENTS];
    const struct vcm_database_filter *filter; /* for takes(), while a statement runs */
    int64_t document;                         /* that is being written, 0 for none */
    bool replaces;                            /* it replaces another one, with this content: */
    unsigned char replaced[VCM_HASH_SHA256_BYTES];
    uint64_t chunks, tokens;
};

/* Each translates SQLite's code. */
int vcm_database_run_sql(struct vcm_database *store, const char *sql, struct vcm_error *err);
int vcm_database_prepare(sqlite3_stmt **out, struct vcm_database *store, const char *sql,
                         struct vcm_error *err);

/* Runs a statement that gives no rows, and resets it. */
int vcm_database_finish(struct vcm_database *store, sqlite3_stmt *statement, struct vcm_error *err);

/* The first column of the first row, 0 without one. */
int vcm_database_read_number(int64_t *out, struct vcm_database *store, const char *sql,
                             struct vcm_error *err);

/* Steps to the next row; *more is false after the last. */
int vcm_database_next_row(bool *more, struct vcm_database *store, sqlite3_stmt *statement,
                          struct vcm_error *err);

/* Bound values must stay valid until the statement is reset. A string may be NULL. */
void vcm_database_bind_string(sqlite3_stmt *statement, int index, const char *text);
void vcm_database_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t len);
void vcm_database_bind_slice(sqlite3_stmt *statement, int index, struct vcm_slice text);

/* Binds what VCM_DATABASE_FILTER asks for. */
void vcm_database_bind_filter(sqlite3_stmt *statement, const struct vcm_database_filter *filter);

/* Never NULL; valid until the next step. */
const char *vcm_database_column_string(sqlite3_stmt *statement, int column);

/* Gives checksums to the pages of a file of an earlier version, if nobody is in the way. */
int vcm_database_check_protect(struct vcm_database *store, struct vcm_error *err);

/* Creates what a file of an earlier version lacks. */
int vcm_database_extractions_set_up(struct vcm_database *store, struct vcm_error *err);

/* Removes the texts that no document and no scope refers to: all of them, or that of `content`. */
int vcm_database_extractions_prune(struct vcm_database *store, struct vcm_error *err);
int vcm_database_extractions_prune_one(struct vcm_database *store,
                                       const unsigned char content[VCM_HASH_SHA256_BYTES],
                                       struct vcm_error *err);

/* Ends a transaction that removed documents or references: commits it when `rc` is VCM_OK and the
 * unreferenced texts were deleted, else rolls it back. Returns `rc` or the new failure. */
int vcm_database_extractions_finish_drop(struct vcm_database *store, int rc, struct vcm_error *err);

/* Reads VCM_DATABASE_CHUNK_COLUMNS from column 0 on. */
void vcm_database_read_chunk(struct vcm_database_chunk *out, struct vcm_database_document *document,
                             sqlite3_stmt *row);

#endif
