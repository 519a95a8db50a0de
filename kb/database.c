#include "kb/database_internal.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "kb/database_vfs.h"

#include "base/banned.h"

#define APPLICATION_ID 0x76636d6b /* "vcmk" */
#define SCHEMA_VERSION 2          /* from 2 on every page has a checksum */
#define OPEN_FLAGS     (SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE)

static const char schema[] =
    "CREATE TABLE documents (id INTEGER PRIMARY KEY, source TEXT NOT NULL, path TEXT NOT NULL,"
    " content BLOB NOT NULL, profile TEXT, data_type TEXT NOT NULL, settings TEXT NOT NULL,"
    " bytes INTEGER NOT NULL, chunks INTEGER NOT NULL, tokens INTEGER NOT NULL,"
    " ingested_at INTEGER NOT NULL, from_tree INTEGER NOT NULL, UNIQUE (source, path));"
    "CREATE INDEX documents_content ON documents (content);"
    "CREATE TABLE chunks (id INTEGER PRIMARY KEY, document INTEGER NOT NULL, seq INTEGER NOT NULL,"
    " chunk_id TEXT NOT NULL, page INTEGER NOT NULL, tokens INTEGER NOT NULL,"
    " overlap INTEGER NOT NULL, section TEXT NOT NULL, text TEXT NOT NULL,"
    " UNIQUE (document, seq));"
    "CREATE INDEX chunks_chunk_id ON chunks (chunk_id);"
    "CREATE TABLE extractions (id INTEGER PRIMARY KEY, content BLOB NOT NULL,"
    " version INTEGER NOT NULL, document BLOB NOT NULL, UNIQUE (content, version));"
    "CREATE VIRTUAL TABLE search USING fts5 (section, text, content = 'chunks',"
    " content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2');";

static const char *const kept_sql[VCM_DATABASE_STATEMENTS] = {
    [VCM_DATABASE_INSERT_DOCUMENT] =
        "INSERT INTO documents (source, path, content, profile, data_type, settings,"
        " bytes, chunks, tokens, ingested_at, from_tree)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0, ?8, ?9)",
    [VCM_DATABASE_INSERT_CHUNK] =
        ("INSERT INTO chunks (document, seq, chunk_id, page, tokens, overlap, section,"
         " text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"),
    [VCM_DATABASE_INSERT_SEARCH] = "INSERT INTO search (rowid, section, text) VALUES (?1, ?2, ?3)",
    [VCM_DATABASE_FINISH_DOCUMENT] = "UPDATE documents SET chunks = ?2, tokens = ?3 WHERE id = ?1",
};

static enum vcm_code code_of(int result)
{
    if (result == SQLITE_IOERR_DATA) /* a page with a wrong checksum */
        return VCM_STORE_CORRUPT;
    switch (result & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return VCM_STORE_BUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: /* a table or column differs from ours */
    case SQLITE_FORMAT:
        return VCM_STORE_CORRUPT;
    case SQLITE_FULL:
        return VCM_STORE_FULL;
    case SQLITE_INTERRUPT:
        return VCM_INTERRUPTED;
    case SQLITE_TOOBIG:
        return VCM_UNSUPPORTED;
    case SQLITE_NOMEM:
        return VCM_INTERNAL;
    default:
        return VCM_IO_ERROR;
    }
}

static bool is_denied(struct vcm_database *store)
{
    int code = store->db ? sqlite3_errcode(store->db) & 0xff : SQLITE_OK;
    return code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
}

static int fail(struct vcm_database *store, struct vcm_error *err)
{
    enum vcm_code code = code_of(sqlite3_extended_errcode(store->db));

    if (code == VCM_IO_ERROR && vcm_error_is_full(sqlite3_system_errno(store->db)))
        code = VCM_STORE_FULL;
    if (code == VCM_STORE_BUSY)
        return vcm_error_set(err, code, "another process writes to the knowledge base; try again");
    if (code == VCM_INTERRUPTED)
        return vcm_error_set(err, code, "interrupted; the knowledge base was not changed");
    if (code == VCM_STORE_FULL)
        return vcm_error_set(err, code,
                             "no room for the knowledge base '%s'; free some space, nothing was "
                             "changed",
                             vcm_database_path(store));
    if (code == VCM_STORE_CORRUPT)
        return vcm_error_set(
            err, code, "the knowledge base '%s' is damaged (%s); remove it and ingest again",
            vcm_database_path(store),
            sqlite3_extended_errcode(store->db) == SQLITE_IOERR_DATA ? "a page has a wrong checksum"
                                                                     : sqlite3_errmsg(store->db));
    if (is_denied(store))
        return vcm_error_set(err, code,
                             "cannot write to the knowledge base '%s'; give this user write "
                             "permission there or choose another home",
                             vcm_database_path(store));
    return vcm_error_set(err, code, "knowledge base: %s", sqlite3_errmsg(store->db));
}

int vcm_database_run_sql(struct vcm_database *store, const char *sql, struct vcm_error *err)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? VCM_OK : fail(store, err);
}

int vcm_database_prepare(sqlite3_stmt **out, struct vcm_database *store, const char *sql,
                         struct vcm_error *err)
{
    *out = NULL;
    return sqlite3_prepare_v2(store->db, sql, -1, out, NULL) == SQLITE_OK ? VCM_OK
                                                                          : fail(store, err);
}

/* A statement that is prepared once. */
static int prepare_kept(sqlite3_stmt **out, struct vcm_database *store,
                        enum vcm_database_statement which, struct vcm_error *err)
{
    int rc = VCM_OK;

    if (!store->kept[which])
        rc = vcm_database_prepare(&store->kept[which], store, kept_sql[which], err);
    *out = store->kept[which];
    if (rc == VCM_OK)
        sqlite3_reset(*out);
    return rc;
}

int vcm_database_finish(struct vcm_database *store, sqlite3_stmt *statement, struct vcm_error *err)
{
    int result = sqlite3_step(statement);
    int rc = result == SQLITE_DONE || result == SQLITE_ROW ? VCM_OK : fail(store, err);

    sqlite3_reset(statement);
    return rc;
}

int vcm_database_next_row(bool *more, struct vcm_database *store, sqlite3_stmt *statement,
                          struct vcm_error *err)
{
    int result = sqlite3_step(statement);

    *more = result == SQLITE_ROW;
    return *more || result == SQLITE_DONE ? VCM_OK : fail(store, err);
}

void vcm_database_bind_string(sqlite3_stmt *statement, int index, const char *text)
{
    if (text)
        sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(statement, index);
}

void vcm_database_bind_slice(sqlite3_stmt *statement, int index, struct vcm_slice text)
{
    sqlite3_bind_text64(statement, index, text.len > 0 ? text.data : "", text.len, SQLITE_STATIC,
                        SQLITE_UTF8);
}

void vcm_database_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t len)
{
    sqlite3_bind_blob64(statement, index, bytes, len, SQLITE_STATIC);
}

void vcm_database_bind_filter(sqlite3_stmt *statement, const struct vcm_database_filter *filter)
{
    vcm_database_bind_string(statement, 2, filter->profile);
    vcm_database_bind_string(statement, 3, filter->source);
    sqlite3_bind_int(statement, 4, filter->takes ? 1 : 0);
    sqlite3_bind_int(statement, 5, filter->from_tree ? 1 : 0);
}

const char *vcm_database_column_string(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

static struct vcm_slice column_slice(sqlite3_stmt *statement, int column)
{
    const char *text = vcm_database_column_string(statement, column);
    return vcm_slice_of(text, (size_t)sqlite3_column_bytes(statement, column));
}

/* The SQL function takes(path): the filter's own test. */
static void sql_takes(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct vcm_database *store = sqlite3_user_data(context);
    const void *path = sqlite3_value_text(values[0]);
    size_t len = (size_t)sqlite3_value_bytes(values[0]);

    (void)count;
    sqlite3_result_int(context,
                       path && store->filter && store->filter->takes &&
                           store->filter->takes(store->filter->context, vcm_slice_of(path, len)));
}

static int on_progress(void *context)
{
    const struct vcm_database *store = context;
    return vcm_cancel_check(store->cancel, NULL) != VCM_OK;
}

int vcm_database_read_number(int64_t *out, struct vcm_database *store, const char *sql,
                             struct vcm_error *err)
{
    sqlite3_stmt *statement;
    bool more = false;

    *out = 0;
    int rc = vcm_database_prepare(&statement, store, sql, err);
    if (rc == VCM_OK)
        rc = vcm_database_next_row(&more, store, statement, err);
    if (more)
        *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return rc;
}

/* Creates the tables in a new file. Another process may be doing the same: the second one finds
 * them there. */
static int make_schema(struct vcm_database *store, struct vcm_error *err)
{
    int reserved = VCM_DATABASE_VFS_RESERVED;
    char marks[96];
    int64_t version = 0;

    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
    int rc = vcm_database_run_sql(store,
                                  "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
                                  "BEGIN IMMEDIATE",
                                  err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_database_read_number(&version, store, "PRAGMA user_version", err);
    if (rc == VCM_OK && version == 0) {
        sqlite3_snprintf(sizeof marks, marks,
                         "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
                         SCHEMA_VERSION);
        rc = vcm_database_run_sql(store, schema, err);
        if (rc == VCM_OK)
            rc = vcm_database_run_sql(store, marks, err);
    }
    if (rc == VCM_OK)
        rc = vcm_database_run_sql(store, "COMMIT", err);
    if (rc != VCM_OK)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

/* Whether the file is ours and of a version that we know. */
static int check_schema(struct vcm_database *store, bool writable, struct vcm_error *err)
{
    int64_t application = 0;
    int64_t version = 0;
    int64_t tables = 0;

    int rc = vcm_database_read_number(&application, store, "PRAGMA application_id", err);
    if (rc == VCM_OK)
        rc = vcm_database_read_number(&version, store, "PRAGMA user_version", err);
    if (rc == VCM_OK)
        rc = vcm_database_read_number(&tables, store, "SELECT count(*) FROM sqlite_schema", err);
    if (rc != VCM_OK)
        return rc;
    if (application == 0 && version == 0 && tables == 0)
        return writable ? make_schema(store, err)
                        : vcm_error_set(err, VCM_NOT_FOUND, "the knowledge base is empty");
    if (application != APPLICATION_ID)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "'%s' is not a knowledge base of vcm",
                             sqlite3_db_filename(store->db, "main"));
    if (version > SCHEMA_VERSION)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "the knowledge base '%s' was made by a newer vcm (schema %lld)",
                             vcm_database_path(store), (long long)version);
    if (version >= 2 && !vcm_database_vfs_is_checked(store->db))
        return vcm_error_set(err, VCM_STORE_CORRUPT,
                             "the knowledge base '%s' is damaged (its pages lack checksums); "
                             "remove it and ingest again",
                             vcm_database_path(store));
    return version < 2 && writable ? vcm_database_check_protect(store, err) : VCM_OK;
}

static int set_up(struct vcm_database *store, bool writable, struct vcm_error *err)
{
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, (int)VCM_LIMIT_LOCK_TIMEOUT_MS);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_progress_handler(store->db, 100000, on_progress, store);
    if (sqlite3_create_function_v2(store->db, "takes", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, store,
                                   sql_takes, NULL, NULL, NULL) != SQLITE_OK)
        return fail(store, err);
    int rc = vcm_database_run_sql(store,
                                  "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32768;"
                                  "PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 8000;"
                                  "PRAGMA cell_size_check = ON",
                                  err);
    if (rc == VCM_OK)
        rc = check_schema(store, writable, err);
    if (rc == VCM_OK && writable)
        rc = vcm_database_extractions_set_up(store, err);
    return rc;
}

static int open_file(struct vcm_database *store, const char *name, int flags, struct vcm_error *err)
{
    int result = vcm_database_vfs_register();
    if (result == SQLITE_OK)
        result = sqlite3_open_v2(name, &store->db, flags, VCM_DATABASE_VFS_NAME);

    if (!store->db)
        return vcm_error_memory(err);
    if (result != SQLITE_OK)
        return vcm_error_set(err, code_of(result), "cannot open the knowledge base '%s': %s", name,
                             sqlite3_errmsg(store->db));
    return set_up(store, store->writable, err);
}

/* Whether the file is all there is: changes that are not in it yet are in a log beside it. */
static bool has_log(const char *path)
{
    struct vcm_buf log = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct stat file;

    vcm_buf_append_format(&log, "%s-wal", path);
    bool has = vcm_buf_check(&log, "a path", NULL) != VCM_OK ||
               (stat(vcm_buf_text(&log), &file) == 0 && file.st_size > 0);
    vcm_buf_release(&log);
    return has;
}

/* SQLite makes a file for locks beside the database, also to read it. Where it may not, and no
 * process that may has the database open, the file is read without locks. */
static int open_immutable(struct vcm_database *store, const char *path, struct vcm_error *err)
{
    static const char hex[] = "0123456789abcdef";
    struct vcm_buf uri = VCM_BUF_INIT(4 * VCM_LIMIT_PATH_BYTES);

    vcm_buf_append_string(&uri, "file:");
    for (const unsigned char *c = (const unsigned char *)path; *c != '\0'; c++) {
        if (isalnum(*c) || strchr("/._-", *c)) {
            vcm_buf_append_byte(&uri, (char)*c);
        } else {
            vcm_buf_append_byte(&uri, '%');
            vcm_buf_append_byte(&uri, hex[*c >> 4]);
            vcm_buf_append_byte(&uri, hex[*c & 15]);
        }
    }
    vcm_buf_append_string(&uri, "?immutable=1");
    int rc = vcm_buf_check(&uri, "the path of the knowledge base", err);
    if (rc == VCM_OK)
        rc = open_file(store, vcm_buf_text(&uri),
                       OPEN_FLAGS | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
    vcm_buf_release(&uri);
    return rc;
}

int vcm_database_open(struct vcm_database **out, const char *path, bool writable,
                      const struct vcm_cancel *cancel, struct vcm_error *err)
{
    int flags = OPEN_FLAGS | SQLITE_OPEN_READWRITE | (writable ? SQLITE_OPEN_CREATE : 0);
    struct vcm_error found = {0};
    struct vcm_database *store;

    *out = NULL;
    if (!writable && access(path, F_OK) != 0)
        return vcm_error_set(err, VCM_NOT_FOUND, "there is no knowledge base at '%s'", path);
    store = calloc(1, sizeof *store);
    if (!store)
        return vcm_error_memory(err);
    store->cancel = cancel;
    store->writable = writable;
    int rc = open_file(store, path, flags, &found);
    if (rc != VCM_OK && !writable && is_denied(store) && !has_log(path)) {
        sqlite3_close(store->db);
        store->db = NULL;
        vcm_error_reset(&found);
        rc = open_immutable(store, path, &found);
    }
    if (rc == VCM_OK)
        *out = store;
    else
        vcm_database_close(store);
    if (rc != VCM_OK && err)
        *err = found;
    return rc;
}

void vcm_database_close(struct vcm_database *store)
{
    if (!store)
        return;
    vcm_database_rollback(store);
    for (int i = 0; i < VCM_DATABASE_STATEMENTS; i++)
        sqlite3_finalize(store->kept[i]);
    if (store->db && store->writable) /* see database_vfs.h */
        sqlite3_wal_checkpoint_v2(store->db, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    sqlite3_close(store->db);
    vcm_zstd_close(store->zstd);
    free(store);
}

const char *vcm_database_path(const struct vcm_database *store)
{
    return sqlite3_db_filename(store->db, "main");
}

static const char *source_of(const struct vcm_database_document *document)
{
    return document->source ? document->source : "";
}

/* Binds ?1 source, ?2 path, ?3 content and ?4 profile. */
static void bind_document(sqlite3_stmt *statement, const struct vcm_database_document *document)
{
    vcm_database_bind_string(statement, 1, source_of(document));
    vcm_database_bind_string(statement, 2, document->path);
    vcm_database_bind_blob(statement, 3, document->content, sizeof document->content);
    vcm_database_bind_string(statement, 4, document->profile);
}

int vcm_database_has(bool *out, struct vcm_database *store,
                     const struct vcm_database_document *document, struct vcm_error *err)
{
    sqlite3_stmt *statement;

    *out = false;
    int rc = vcm_database_prepare(
        &statement, store,
        "SELECT 1 FROM documents WHERE source = ?1 AND path = ?2 AND content = ?3"
        " AND profile IS ?4 AND settings = ?5",
        err);
    if (rc != VCM_OK)
        return rc;
    bind_document(statement, document);
    vcm_database_bind_string(statement, 5, document->settings);
    rc = vcm_database_next_row(out, store, statement, err);
    sqlite3_finalize(statement);
    return rc;
}

/* Removes a document's chunks from the index and the tables. The index needs the text of an entry
 * to delete it. */
static int delete_document(struct vcm_database *store, int64_t id, struct vcm_error *err)
{
    static const char *const steps[] = {
        ("INSERT INTO search (search, rowid, section, text)"
         " SELECT 'delete', id, section, text FROM chunks WHERE document = ?1"),
        "DELETE FROM chunks WHERE document = ?1",
        "DELETE FROM documents WHERE id = ?1",
    };
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < sizeof steps / sizeof steps[0]; i++) {
        sqlite3_stmt *statement;
        rc = vcm_database_prepare(&statement, store, steps[i], err);
        if (rc == VCM_OK) {
            sqlite3_bind_int64(statement, 1, id);
            rc = vcm_database_finish(store, statement, err);
        }
        sqlite3_finalize(statement);
    }
    return rc;
}

/* The document with this source and path, 0 when there is none; its content hash goes to
 * `replaced`. */
static int find_replaced(int64_t *out, struct vcm_database *store,
                         const struct vcm_database_document *document, struct vcm_error *err)
{
    sqlite3_stmt *statement;
    bool more = false;

    *out = 0;
    int rc = vcm_database_prepare(
        &statement, store, "SELECT id, content FROM documents WHERE source = ?1 AND path = ?2",
        err);
    if (rc == VCM_OK) {
        vcm_database_bind_string(statement, 1, source_of(document));
        vcm_database_bind_string(statement, 2, document->path);
        rc = vcm_database_next_row(&more, store, statement, err);
        if (more)
            *out = sqlite3_column_int64(statement, 0);
        store->replaces = more && sqlite3_column_bytes(statement, 1) == sizeof store->replaced;
        if (store->replaces)
            memcpy(store->replaced, sqlite3_column_blob(statement, 1), sizeof store->replaced);
    }
    sqlite3_finalize(statement);
    return rc;
}

static int insert_document(struct vcm_database *store, const struct vcm_database_document *document,
                           struct vcm_error *err)
{
    sqlite3_stmt *insert;
    int rc = prepare_kept(&insert, store, VCM_DATABASE_INSERT_DOCUMENT, err);

    if (rc != VCM_OK)
        return rc;
    bind_document(insert, document);
    vcm_database_bind_string(insert, 5, document->data_type);
    vcm_database_bind_string(insert, 6, document->settings);
    sqlite3_bind_int64(insert, 7, (sqlite3_int64)document->bytes);
    sqlite3_bind_int64(insert, 8, (sqlite3_int64)document->ingested_at);
    sqlite3_bind_int(insert, 9, document->from_tree ? 1 : 0);
    rc = vcm_database_finish(store, insert, err);
    store->document = sqlite3_last_insert_rowid(store->db);
    return rc;
}

int vcm_database_begin(struct vcm_database *store, const struct vcm_database_document *document,
                       struct vcm_error *err)
{
    int64_t old = 0;

    assert(store->document == 0);
    int rc = vcm_database_run_sql(store, "BEGIN IMMEDIATE", err);
    if (rc != VCM_OK)
        return rc;
    store->chunks = 0;
    store->tokens = 0;
    rc = find_replaced(&old, store, document, err);
    if (rc == VCM_OK && old != 0)
        rc = delete_document(store, old, err);
    if (rc == VCM_OK)
        rc = insert_document(store, document, err);
    return rc;
}

int vcm_database_add_chunk(struct vcm_database *store, const struct vcm_chunker_chunk *chunk,
                           struct vcm_error *err)
{
    char id[2 * VCM_CHUNKER_ID_BYTES + 1];
    sqlite3_stmt *insert;
    sqlite3_stmt *index;

    assert(store->document != 0 && "between begin and commit");
    int rc = prepare_kept(&insert, store, VCM_DATABASE_INSERT_CHUNK, err);
    if (rc == VCM_OK)
        rc = prepare_kept(&index, store, VCM_DATABASE_INSERT_SEARCH, err);
    if (rc != VCM_OK)
        return rc;
    vcm_hash_to_hex(id, chunk->id, sizeof chunk->id);
    sqlite3_bind_int64(insert, 1, store->document);
    sqlite3_bind_int64(insert, 2, (sqlite3_int64)store->chunks);
    vcm_database_bind_string(insert, 3, id);
    sqlite3_bind_int64(insert, 4, chunk->page);
    sqlite3_bind_int64(insert, 5, chunk->tokens);
    sqlite3_bind_int64(insert, 6, (sqlite3_int64)chunk->overlap);
    vcm_database_bind_slice(insert, 7, chunk->section);
    vcm_database_bind_slice(insert, 8, chunk->text);
    rc = vcm_database_finish(store, insert, err);
    if (rc == VCM_OK) {
        sqlite3_bind_int64(index, 1, sqlite3_last_insert_rowid(store->db));
        vcm_database_bind_slice(index, 2, chunk->section);
        vcm_database_bind_slice(index, 3, chunk->text);
        rc = vcm_database_finish(store, index, err);
    }
    store->chunks++;
    store->tokens += chunk->tokens;
    return rc;
}

int vcm_database_commit(struct vcm_database *store, struct vcm_error *err)
{
    sqlite3_stmt *update;
    int rc = prepare_kept(&update, store, VCM_DATABASE_FINISH_DOCUMENT, err);

    assert(store->document != 0 && "a document was begun");
    if (rc == VCM_OK) {
        sqlite3_bind_int64(update, 1, store->document);
        sqlite3_bind_int64(update, 2, (sqlite3_int64)store->chunks);
        sqlite3_bind_int64(update, 3, (sqlite3_int64)store->tokens);
        rc = vcm_database_finish(store, update, err);
    }
    if (rc == VCM_OK && store->replaces)
        rc = vcm_database_extractions_prune_one(store, store->replaced, err);
    if (rc == VCM_OK)
        rc = vcm_database_run_sql(store, "COMMIT", err);
    if (rc == VCM_OK)
        store->document = 0;
    return rc;
}

void vcm_database_rollback(struct vcm_database *store)
{
    for (int i = 0; i < VCM_DATABASE_STATEMENTS; i++) {
        if (store->kept[i])
            sqlite3_reset(store->kept[i]);
    }
    if (store->db && !sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    store->document = 0;
}

/* Reads VCM_DATABASE_DOCUMENT_COLUMNS from column `first` on; strings live until the next step. */
static void read_document(struct vcm_database_document *out, sqlite3_stmt *row, int first)
{
    const char *source = vcm_database_column_string(row, first);
    struct vcm_slice content = vcm_slice_of(sqlite3_column_blob(row, first + 2),
                                            (size_t)sqlite3_column_bytes(row, first + 2));

    *out = (struct vcm_database_document){
        .source = source[0] != '\0' ? source : NULL,
        .path = vcm_database_column_string(row, first + 1),
        .profile = sqlite3_column_type(row, first + 3) == SQLITE_NULL
                       ? NULL
                       : vcm_database_column_string(row, first + 3),
        .data_type = vcm_database_column_string(row, first + 4),
        .settings = vcm_database_column_string(row, first + 5),
        .bytes = (uint64_t)sqlite3_column_int64(row, first + 6),
        .chunks = (uint64_t)sqlite3_column_int64(row, first + 7),
        .tokens = (uint64_t)sqlite3_column_int64(row, first + 8),
        .ingested_at = (uint64_t)sqlite3_column_int64(row, first + 9),
        .from_tree = sqlite3_column_int(row, first + 10) != 0,
    };
    if (content.len == sizeof out->content)
        memcpy(out->content, content.data, content.len);
}

/* Visits the documents that match the filter; with `remove`, also removes them. */
static int walk_documents(struct vcm_database *store, const struct vcm_database_filter *filter,
                          bool remove, vcm_database_document_fn visit, void *context,
                          struct vcm_error *err)
{
    sqlite3_stmt *statement;
    bool more = true;

    int rc =
        vcm_database_prepare(&statement, store,
                             "SELECT " VCM_DATABASE_DOCUMENT_COLUMNS ", d.id FROM documents d"
                             " WHERE ?1 IS NULL AND " VCM_DATABASE_FILTER " ORDER BY source, path",
                             err);
    if (rc != VCM_OK)
        return rc;
    vcm_database_bind_filter(statement, filter);
    store->filter = filter;
    while (rc == VCM_OK && more) {
        struct vcm_database_document document;
        rc = vcm_database_next_row(&more, store, statement, err);
        if (rc != VCM_OK || !more)
            break;
        read_document(&document, statement, 0);
        rc = visit ? visit(context, &document, err) : VCM_OK;
        if (rc == VCM_OK && remove)
            rc = delete_document(
                store, sqlite3_column_int64(statement, VCM_DATABASE_DOCUMENT_COLUMN_COUNT), err);
    }
    store->filter = NULL;
    sqlite3_finalize(statement);
    return rc;
}

int vcm_database_list(struct vcm_database *store, const struct vcm_database_filter *filter,
                      vcm_database_document_fn visit, void *context, struct vcm_error *err)
{
    return walk_documents(store, filter, false, visit, context, err);
}

int vcm_database_remove(struct vcm_database *store, const struct vcm_database_filter *filter,
                        vcm_database_document_fn visit, void *context, struct vcm_error *err)
{
    if (sqlite3_db_readonly(store->db, "main") == 1) /* fails if there is something to remove */
        return walk_documents(store, filter, true, visit, context, err);
    int rc = vcm_database_run_sql(store, "BEGIN IMMEDIATE", err);
    if (rc == VCM_OK)
        rc = walk_documents(store, filter, true, visit, context, err);
    return vcm_database_extractions_finish_drop(store, rc, err);
}

void vcm_database_read_chunk(struct vcm_database_chunk *out, struct vcm_database_document *document,
                             sqlite3_stmt *row)
{
    read_document(document, row, 6);
    *out = (struct vcm_database_chunk){
        .document = document,
        .seq = (uint64_t)sqlite3_column_int64(row, 1),
        .section = vcm_database_column_string(row, 2),
        .page = (uint32_t)sqlite3_column_int64(row, 3),
        .tokens = (uint32_t)sqlite3_column_int64(row, 4),
        .text = column_slice(row, 5),
    };
    sqlite3_snprintf(sizeof out->chunk_id, out->chunk_id, "%s", vcm_database_column_string(row, 0));
}

/* Resolves a prefix to one id; INVALID_ARGUMENT, NOT_FOUND, AMBIGUOUS. */
static int check_prefix(struct vcm_database *store, const char *prefix, sqlite3_stmt *statement,
                        struct vcm_error *err)
{
    char ids[8][2 * VCM_CHUNKER_ID_BYTES + 1];
    const char *candidates[8];
    unsigned count = 0;
    bool more = true;
    int rc = VCM_OK;

    while (rc == VCM_OK && more && count < 8) {
        rc = vcm_database_next_row(&more, store, statement, err);
        if (rc == VCM_OK && more) {
            sqlite3_snprintf(sizeof ids[count], ids[count], "%s",
                             vcm_database_column_string(statement, 0));
            candidates[count] = ids[count];
            count++;
        }
    }
    if (rc != VCM_OK || count == 1)
        return rc;
    if (count == 0)
        return vcm_error_set(err, VCM_NOT_FOUND, "no chunk '%s' in the knowledge base", prefix);
    rc = vcm_error_set(err, VCM_AMBIGUOUS, "'%s' is the prefix of several chunks; give more digits",
                       prefix);
    vcm_error_detail_list(err, "candidates", candidates, count);
    return rc;
}

static bool is_hex(const char *text)
{
    return text[strspn(text, "0123456789abcdef")] == '\0';
}

int vcm_database_show(struct vcm_database *store, const char *prefix, vcm_database_chunk_fn visit,
                      void *context, struct vcm_error *err)
{
    sqlite3_stmt *statement;
    bool more = false;

    if (strlen(prefix) < VCM_LIMIT_PREFIX_MIN ||
        strlen(prefix) > 2 * (size_t)VCM_CHUNKER_ID_BYTES || !is_hex(prefix))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "'%s' is no chunk: give %zu to 40 hexadecimal digits", prefix,
                             VCM_LIMIT_PREFIX_MIN);
    int rc = vcm_database_prepare(&statement, store,
                                  "SELECT DISTINCT chunk_id FROM chunks WHERE chunk_id >= ?1"
                                  " AND chunk_id < ?1 || 'g' ORDER BY chunk_id",
                                  err);
    if (rc == VCM_OK) {
        vcm_database_bind_string(statement, 1, prefix);
        rc = check_prefix(store, prefix, statement, err);
    }
    sqlite3_finalize(statement);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_database_prepare(&statement, store,
                              "SELECT " VCM_DATABASE_CHUNK_COLUMNS
                              " FROM chunks c JOIN documents d ON d.id = c.document"
                              " WHERE c.chunk_id >= ?1 AND c.chunk_id < ?1 || 'g'"
                              " ORDER BY d.source, d.path, c.seq LIMIT 1",
                              err);
    if (rc == VCM_OK) {
        vcm_database_bind_string(statement, 1, prefix);
        rc = vcm_database_next_row(&more, store, statement, err);
    }
    if (rc == VCM_OK && more) {
        struct vcm_database_document document;
        struct vcm_database_chunk chunk;
        vcm_database_read_chunk(&chunk, &document, statement);
        rc = visit(context, &chunk, err);
    }
    sqlite3_finalize(statement);
    return rc;
}

int vcm_database_stat(struct vcm_database_stat *out, struct vcm_database *store,
                      struct vcm_error *err)
{
    static const char *const sums[] = {
        "SELECT count(*) FROM documents",
        "SELECT count(DISTINCT source) FROM documents WHERE source <> ''",
        "SELECT coalesce(sum(chunks), 0) FROM documents",
        "SELECT coalesce(sum(tokens), 0) FROM documents",
        "SELECT coalesce(sum(bytes), 0) FROM documents",
        "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
    };
    int64_t values[6] = {0};
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < 6; i++)
        rc = vcm_database_read_number(&values[i], store, sums[i], err);
    *out = (struct vcm_database_stat){SCHEMA_VERSION,      (uint64_t)values[0], (uint64_t)values[1],
                                      (uint64_t)values[2], (uint64_t)values[3], (uint64_t)values[4],
                                      (uint64_t)values[5]};
    return rc;
}
