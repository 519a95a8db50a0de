#include "kb/database_internal.h"

#include <string.h>

#include "kb/database_vfs.h"

#include "base/banned.h"

/* Copies the file to pages with checksums. Others that use it may be in the way: then the next one
 * that writes tries again. */
int vcm_database_check_protect(struct vcm_database *store, struct vcm_error *err)
{
    int reserved = VCM_DATABASE_VFS_RESERVED;

    if (!vcm_database_vfs_is_checked(store->db)) {
        sqlite3_file_control(store->db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
        sqlite3_exec(store->db, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
        int rc = vcm_cancel_check(store->cancel, err);
        if (rc != VCM_OK || !vcm_database_vfs_is_checked(store->db))
            return rc;
    }
    return vcm_database_run_sql(store, "PRAGMA user_version = 2", err);
}

int vcm_database_check_file(const char *path, const struct vcm_cancel *cancel,
                            struct vcm_error *err)
{
    struct vcm_database *store = NULL;
    sqlite3_stmt *statement = NULL;
    bool more = false;

    int rc = vcm_database_open(&store, path, false, cancel, err);
    if (rc == VCM_OK)
        rc = vcm_database_prepare(&statement, store, "PRAGMA integrity_check(1)", err);
    if (rc == VCM_OK)
        rc = vcm_database_next_row(&more, store, statement, err);
    if (rc == VCM_OK && more && strcmp(vcm_database_column_string(statement, 0), "ok") != 0)
        rc = vcm_error_set(err, VCM_STORE_CORRUPT,
                           "the knowledge base '%s' is damaged (%s); remove it and ingest again",
                           path, vcm_database_column_string(statement, 0));
    sqlite3_finalize(statement);
    vcm_database_close(store);
    if (rc == VCM_NOT_FOUND) {
        vcm_error_reset(err);
        rc = VCM_OK;
    }
    return rc;
}
