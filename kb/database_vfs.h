/*
 * database_vfs.h - a checksum in every page of a database file, below SQLite.
 *
 * SQLite trusts the bytes of its file: a flipped bit in a text or in the full-text index changes
 * what a search finds, and nobody is told. This VFS is the one of the system, but for pages of the
 * main file: it writes a checksum over number and content into the eight bytes that SQLite leaves
 * free at the end of each, and compares it when the page is read; SQLITE_IOERR_DATA when it
 * differs. A file without the eight free bytes is read and written as it is.
 * The log of WAL mode has SQLite's own checksums, and its pages get ours when they are copied into
 * the file: the last thing that a writer does, because another program that has the file open would
 * copy them without. What another program writes into the file reads as damage.
 */
#ifndef VCM_KB_DATABASE_VFS_H
#define VCM_KB_DATABASE_VFS_H

#include <stdbool.h>

#include <sqlite3.h>

#define VCM_DATABASE_VFS_NAME     "vcm-checked"
#define VCM_DATABASE_VFS_RESERVED 8 /* bytes that are free in each page */

/* Makes the VFS known to SQLite, once. A code of SQLite. */
int vcm_database_vfs_register(void);

/* Whether the pages of an open database have checksums. */
bool vcm_database_vfs_is_checked(sqlite3 *db);

#endif
