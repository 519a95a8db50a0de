#include "base/limits.h"
#include "kb/database_internal.h"

#include "base/banned.h"

/* Prose compresses to a third; higher levels gain a few percent at several times the cost. */
#define COMPRESSION_LEVEL 3

/* Which scopes of pages refer to a text, and under which name. Added later: a file of the same
 * schema version may lack it. */
static const char uses_schema[] =
    "CREATE TABLE IF NOT EXISTS extraction_uses (scope TEXT NOT NULL, name BLOB NOT NULL,"
    " content BLOB NOT NULL, PRIMARY KEY (scope, name, content)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS extraction_uses_content ON extraction_uses (content)";

/* Earlier versions had no names. When two processes convert the table, the second finds the old one
 * empty. */
static const char migrate_sql[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS extraction_scopes (scope TEXT NOT NULL, content BLOB NOT NULL,"
    " PRIMARY KEY (scope, content)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO extraction_uses SELECT scope, x'', content FROM extraction_scopes;"
    "DROP TABLE extraction_scopes;"
    "COMMIT";

#define IS_UNUSED                                                                                  \
    "content NOT IN (SELECT content FROM documents)"                                               \
    " AND content NOT IN (SELECT content FROM extraction_uses)"

int vcm_database_extractions_set_up(struct vcm_database *store, struct vcm_error *err)
{
    int64_t old = 0;

    int rc = vcm_database_run_sql(store, uses_schema, err);
    if (rc == VCM_OK)
        rc = vcm_database_read_number(
            &old, store, "SELECT count(*) FROM sqlite_schema WHERE name = 'extraction_scopes'",
            err);
    if (rc == VCM_OK && old > 0) {
        rc = vcm_database_run_sql(store, migrate_sql, err);
        vcm_database_rollback(store);
    }
    return rc;
}

int vcm_database_extractions_prune(struct vcm_database *store, struct vcm_error *err)
{
    return vcm_database_run_sql(store, "DELETE FROM extractions WHERE " IS_UNUSED, err);
}

int vcm_database_extractions_prune_one(struct vcm_database *store,
                                       const unsigned char content[VCM_HASH_SHA256_BYTES],
                                       struct vcm_error *err)
{
    sqlite3_stmt *statement;
    int rc =
        vcm_database_prepare(&statement, store,
                             "DELETE FROM extractions WHERE content = ?1"
                             " AND NOT EXISTS (SELECT 1 FROM documents WHERE content = ?1)"
                             " AND NOT EXISTS (SELECT 1 FROM extraction_uses WHERE content = ?1)",
                             err);

    if (rc == VCM_OK) {
        vcm_database_bind_blob(statement, 1, content, VCM_HASH_SHA256_BYTES);
        rc = vcm_database_finish(store, statement, err);
    }
    sqlite3_finalize(statement);
    return rc;
}

static int open_zstd(struct vcm_database *store, struct vcm_error *err)
{
    return store->zstd ? VCM_OK : vcm_zstd_open(&store->zstd, err);
}

/* Appends the stored form to `out`; *plain: it was not compressed. */
static int unpack(struct vcm_buf *out, bool *plain, struct vcm_database *store,
                  struct vcm_slice kept, struct vcm_error *err)
{
    *plain = !vcm_zstd_is_packed(kept);
    if (*plain) {
        vcm_buf_append_slice(out, kept);
        return vcm_buf_check(out, "the extracted document", err);
    }
    int rc = open_zstd(store, err);
    return rc == VCM_OK ? vcm_zstd_unpack(out, store->zstd, kept, "a kept text", err) : rc;
}

int vcm_database_extractions_get(struct vcm_buf *out, struct vcm_database *store,
                                 const unsigned char content[VCM_HASH_SHA256_BYTES],
                                 uint32_t version, struct vcm_error *err)
{
    sqlite3_stmt *statement;
    size_t start = out->len;
    bool plain = false;
    bool more = false;

    int rc = vcm_database_prepare(
        &statement, store, "SELECT document FROM extractions WHERE content = ?1 AND version = ?2",
        err);
    if (rc == VCM_OK) {
        vcm_database_bind_blob(statement, 1, content, VCM_HASH_SHA256_BYTES);
        sqlite3_bind_int64(statement, 2, version);
        rc = vcm_database_next_row(&more, store, statement, err);
    }
    if (rc == VCM_OK && more) {
        struct vcm_slice kept = vcm_slice_of(sqlite3_column_blob(statement, 0),
                                             (size_t)sqlite3_column_bytes(statement, 0));
        rc = unpack(out, &plain, store, kept, err);
    } else if (rc == VCM_OK) {
        rc = vcm_error_set(err, VCM_NOT_FOUND, "the document was not extracted yet");
    }
    sqlite3_finalize(statement);
    /* A failure to replace it by the compressed form costs only space. */
    if (rc == VCM_OK && plain && store->writable)
        vcm_database_extractions_put(store, content, version,
                                     vcm_slice_of(out->data + start, out->len - start), NULL);
    return rc;
}

static int write_extraction(struct vcm_database *store, const unsigned char *content,
                            uint32_t version, struct vcm_slice packed, struct vcm_error *err)
{
    static const char *const steps[] = {
        ("INSERT OR REPLACE INTO extractions (content, version, document)"
         " VALUES (?1, ?2, ?3)"),
        "DELETE FROM extractions WHERE content = ?1 AND version < ?2",
    };
    int rc = VCM_OK;

    for (int i = 0; rc == VCM_OK && i < 2; i++) {
        sqlite3_stmt *statement;
        rc = vcm_database_prepare(&statement, store, steps[i], err);
        if (rc == VCM_OK) {
            vcm_database_bind_blob(statement, 1, content, VCM_HASH_SHA256_BYTES);
            sqlite3_bind_int64(statement, 2, version);
            if (i == 0)
                vcm_database_bind_blob(statement, 3, packed.data, packed.len);
            rc = vcm_database_finish(store, statement, err);
        }
        sqlite3_finalize(statement);
    }
    return rc;
}

int vcm_database_extractions_put(struct vcm_database *store,
                                 const unsigned char content[VCM_HASH_SHA256_BYTES],
                                 uint32_t version, struct vcm_slice encoded, struct vcm_error *err)
{
    struct vcm_buf packed = VCM_BUF_INIT(VCM_LIMIT_EXTRACT_OUTPUT_BYTES + VCM_MIB);
    int rc = open_zstd(store, err);

    if (rc == VCM_OK)
        rc = vcm_zstd_pack(&packed, store->zstd, encoded, COMPRESSION_LEVEL, "an extracted text",
                           err);
    if (rc == VCM_OK)
        rc = write_extraction(store, content, version, vcm_buf_slice(&packed), err);
    vcm_buf_release(&packed);
    return rc;
}

int vcm_database_extractions_keep(struct vcm_database *store,
                                  const unsigned char content[VCM_HASH_SHA256_BYTES],
                                  const char *scope, struct vcm_slice name, struct vcm_error *err)
{
    sqlite3_stmt *statement;
    int rc = vcm_database_prepare(
        &statement, store,
        "INSERT OR IGNORE INTO extraction_uses (scope, name, content) VALUES (?1, ?2, ?3)", err);

    if (rc == VCM_OK) {
        vcm_database_bind_string(statement, 1, scope);
        vcm_database_bind_blob(statement, 2, name.len > 0 ? name.data : "", name.len);
        vcm_database_bind_blob(statement, 3, content, VCM_HASH_SHA256_BYTES);
        rc = vcm_database_finish(store, statement, err);
    }
    sqlite3_finalize(statement);
    return rc;
}

/* Removes a scope's reference under `name`, or all its references without one. */
static int drop_use(struct vcm_database *store, const char *scope, const struct vcm_slice *name,
                    struct vcm_error *err)
{
    sqlite3_stmt *statement;
    int rc = vcm_database_prepare(
        &statement, store,
        "DELETE FROM extraction_uses WHERE scope = ?1 AND (?2 IS NULL OR name = ?2)", err);

    if (rc == VCM_OK) {
        vcm_database_bind_string(statement, 1, scope);
        if (name)
            vcm_database_bind_blob(statement, 2, name->data, name->len);
        rc = vcm_database_finish(store, statement, err);
    }
    sqlite3_finalize(statement);
    return rc;
}

/* The names of the scope for which `uses` returns false, each with its length in front. */
static int find_unused(struct vcm_buf *out, struct vcm_database *store, const char *scope,
                       bool (*uses)(void *context, struct vcm_slice name), void *context,
                       struct vcm_error *err)
{
    sqlite3_stmt *statement;
    bool more = true;

    int rc = vcm_database_prepare(
        &statement, store,
        "SELECT DISTINCT name FROM extraction_uses WHERE scope = ?1 AND length(name) > 0", err);
    if (rc == VCM_OK)
        vcm_database_bind_string(statement, 1, scope);
    while (rc == VCM_OK && more) {
        rc = vcm_database_next_row(&more, store, statement, err);
        if (rc != VCM_OK || !more)
            break;
        struct vcm_slice name = vcm_slice_of(sqlite3_column_blob(statement, 0),
                                             (size_t)sqlite3_column_bytes(statement, 0));
        if (name.len <= UINT8_MAX && !uses(context, name)) {
            vcm_buf_append_byte(out, (char)name.len);
            vcm_buf_append_slice(out, name);
        }
    }
    sqlite3_finalize(statement);
    return rc == VCM_OK ? vcm_buf_check(out, "the names of texts", err) : rc;
}

int vcm_database_extractions_finish_drop(struct vcm_database *store, int rc, struct vcm_error *err)
{
    if (rc == VCM_OK)
        rc = vcm_database_extractions_prune(store, err);
    if (rc == VCM_OK)
        rc = vcm_database_run_sql(store, "COMMIT; PRAGMA incremental_vacuum", err);
    vcm_database_rollback(store);
    return rc;
}

int vcm_database_extractions_settle_scope(struct vcm_database *store, const char *scope,
                                          bool (*uses)(void *context, struct vcm_slice name),
                                          void *context, struct vcm_error *err)
{
    struct vcm_buf unused = VCM_BUF_INIT(64 * VCM_MIB);
    int rc = find_unused(&unused, store, scope, uses, context, err);

    if (rc == VCM_OK && unused.len > 0) {
        rc = vcm_database_run_sql(store, "BEGIN IMMEDIATE", err);
        for (size_t at = 0; rc == VCM_OK && at < unused.len;) {
            struct vcm_slice name =
                vcm_slice_of(unused.data + at + 1, (unsigned char)unused.data[at]);
            rc = drop_use(store, scope, &name, err);
            at += 1 + name.len;
        }
        rc = vcm_database_extractions_finish_drop(store, rc, err);
    }
    vcm_buf_release(&unused);
    return rc;
}

int vcm_database_extractions_forget_scope(struct vcm_database *store, const char *scope,
                                          struct vcm_error *err)
{
    int rc = vcm_database_run_sql(store, "BEGIN IMMEDIATE", err);

    if (rc == VCM_OK)
        rc = drop_use(store, scope, NULL, err);
    return vcm_database_extractions_finish_drop(store, rc, err);
}

int vcm_database_extractions_list_scopes(struct vcm_buf *out, struct vcm_database *store,
                                         struct vcm_error *err)
{
    sqlite3_stmt *statement;
    bool more = true;

    int rc = vcm_database_prepare(&statement, store,
                                  "SELECT DISTINCT scope FROM extraction_uses ORDER BY scope", err);
    while (rc == VCM_OK && more) {
        rc = vcm_database_next_row(&more, store, statement, err);
        if (rc == VCM_OK && more) {
            vcm_buf_append_string(out, vcm_database_column_string(statement, 0));
            vcm_buf_append_byte(out, '\0');
        }
    }
    sqlite3_finalize(statement);
    return rc == VCM_OK ? vcm_buf_check(out, "the list of scopes", err) : rc;
}
