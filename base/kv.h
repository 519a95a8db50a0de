/*
 * kv.h - ordered tables of bytes in one memory-mapped file. The owner of LMDB.
 *
 * Knows nothing of pages: page_store.h does. Any number of processes may have one directory open;
 * any number of readers and one writer at a time; readers and writer do not wait for each other.
 * Every value carries a checksum over table, key and value, which vcm_kv_get() and cursors verify;
 * VCM_STORE_CORRUPT names table and key.
 * A value that was read stays valid until its transaction ends, in write transactions until the
 * next change. A transaction belongs to one thread at a time.
 * Writers first take a lock file of our own with a time limit, because LMDB's own writer lock waits
 * for ever; it is released when the process dies.
 * The data file may be replaced by a smaller copy, its next generation: handles of all processes
 * use it from their next transaction on, open transactions stay on the old one.
 */
#ifndef VCM_BASE_KV_H
#define VCM_BASE_KV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/log.h"

struct vcm_kv;
struct vcm_kv_txn;
struct vcm_kv_handle_hold;
struct vcm_kv_cursor;

struct vcm_kv_options {
    const char *directory;     /* must exist */
    const char *lock_path;     /* the writers' lock file; created when missing */
    const char *const *tables; /* names, ends with NULL; a table is its index in this list */
    bool read_only;            /* VCM_NOT_FOUND when there is no store yet */
    bool salvage; /* and read_only: for a process that reads a damaged file and may die of it; takes
                     no lock and no reader's slot, while the caller keeps writers away */
    size_t map_bytes;          /* first size of the map, 0 for the default; it grows by itself */
    size_t map_bytes_max;      /* 0 for VCM_LIMIT_STORE_BYTES; beyond it writes are STORE_FULL */
    unsigned readers_max;      /* 0 for VCM_LIMIT_READERS */
    const struct vcm_log *log; /* gets a line when a writer has to wait; may be NULL */
};

struct vcm_kv_info {
    uint64_t map_bytes;
    uint64_t file_bytes; /* size of the data file */
    uint64_t used_bytes; /* pages in use, without free ones */
    uint64_t generation; /* how often the data file was replaced by a smaller one */
    unsigned readers_max;
    unsigned readers_used; /* without the calling process */
};

int vcm_kv_handle_open(struct vcm_kv **out, const struct vcm_kv_options *options,
                       struct vcm_error *err);
void vcm_kv_handle_close(struct vcm_kv *kv);

/* STORE_BUSY when all reader slots are taken, after those of dead processes were cleared. */
int vcm_kv_handle_read_begin(struct vcm_kv_txn **out, struct vcm_kv *kv, struct vcm_error *err);
void vcm_kv_handle_read_end(struct vcm_kv_txn *txn);

/* Whether nothing but the creation of the tables, and perhaps one change, was ever committed. */
bool vcm_kv_handle_is_new(const struct vcm_kv_txn *txn);

/* Whether nothing was committed since it began, as far as this thread can see. */
bool vcm_kv_handle_is_latest(const struct vcm_kv_txn *txn);

/*
 * Memory that was read in `txn` stays mapped at its address after the transaction ended, until the
 * hold is released, even when the handle is closed before. The caller makes sure that no later
 * change overwrites it. While there are holds the map cannot move: a change that needs to move it
 * fails with STORE_BUSY, which does not happen with a map of the default size.
 */
int vcm_kv_handle_hold(struct vcm_kv_handle_hold **out, struct vcm_kv_txn *txn,
                       struct vcm_error *err);
void vcm_kv_handle_hold_release(struct vcm_kv_handle_hold *hold);

/*
 * The map that a transaction reads from, by a number that no other map of this process has or had;
 * and a hold on that map without a transaction. VCM_RETRY when the handle reads from another map by
 * now: then nothing that was in the old map may be read, and the caller begins a transaction to see
 * the current state.
 */
uint64_t vcm_kv_handle_map_number(const struct vcm_kv_txn *txn);
int vcm_kv_handle_hold_map(struct vcm_kv_handle_hold **out, struct vcm_kv *kv, uint64_t map_number);

/*
 * Runs `change` in a write transaction and commits when it returns VCM_OK, else rolls back and
 * returns its code, private codes, too. When the map is full, the transaction is rolled back, the
 * map grown, and `change` called again: it must not keep state from a call that failed. STORE_BUSY
 * when another writer holds the lock for longer than `timeout_ms`, or when the map has to grow
 * while this process has read transactions open; STORE_FULL when the disk or map_bytes_max is
 * reached.
 */
typedef int (*vcm_kv_change_fn)(void *context, struct vcm_kv_txn *txn, struct vcm_error *err);
int vcm_kv_handle_update(struct vcm_kv *kv, vcm_kv_change_fn change, void *context,
                         unsigned timeout_ms, const struct vcm_cancel *cancel,
                         struct vcm_error *err);

/* The same; `settled` is called once after the commit or the final rollback, with the writers' lock
 * still held, to update what is kept beside the store. */
typedef void (*vcm_kv_settled_fn)(void *context, bool committed);
int vcm_kv_handle_update_settled(struct vcm_kv *kv, vcm_kv_change_fn change,
                                 vcm_kv_settled_fn settled, void *context, unsigned timeout_ms,
                                 const struct vcm_cancel *cancel, struct vcm_error *err);

/* VCM_NOT_FOUND without touching `err` when there is no such key. */
int vcm_kv_get(struct vcm_slice *value, struct vcm_kv_txn *txn, unsigned table,
               struct vcm_slice key, struct vcm_error *err);
/* The same without verifying the checksum: for callers that verified it before, or that know the
 * content's hash. */
int vcm_kv_get_unchecked(struct vcm_slice *value, struct vcm_kv_txn *txn, unsigned table,
                         struct vcm_slice key, struct vcm_error *err);
int vcm_kv_put(struct vcm_kv_txn *txn, unsigned table, struct vcm_slice key, struct vcm_slice value,
               struct vcm_error *err);
/* VCM_NOT_FOUND without touching `err` when there was nothing to delete. */
int vcm_kv_delete(struct vcm_kv_txn *txn, unsigned table, struct vcm_slice key,
                  struct vcm_error *err);
int vcm_kv_count(uint64_t *count, struct vcm_kv_txn *txn, unsigned table, struct vcm_error *err);

int vcm_kv_cursor_open(struct vcm_kv_cursor **out, struct vcm_kv_txn *txn, unsigned table,
                       struct vcm_error *err);
void vcm_kv_cursor_close(struct vcm_kv_cursor *cursor);
/* To the first key that is not below `key`. VCM_NOT_FOUND, `err` untouched, at the end. */
int vcm_kv_cursor_seek(struct vcm_slice *found, struct vcm_slice *value,
                       struct vcm_kv_cursor *cursor, struct vcm_slice key, struct vcm_error *err);
int vcm_kv_cursor_next(struct vcm_slice *found, struct vcm_slice *value,
                       struct vcm_kv_cursor *cursor, struct vcm_error *err);
/* Deletes the entry at the cursor; vcm_kv_cursor_next() then moves to the next one. */
int vcm_kv_cursor_delete(struct vcm_kv_cursor *cursor, struct vcm_error *err);

/*
 * Gives the space of deleted values back to the file system: copies what is in use to a new data
 * file, which replaces the old one. Readers continue meanwhile. Nothing is lost when it fails or is
 * killed; the next writer removes what it left. LMDB's copying cannot be cancelled: after a
 * cancellation the finished copy is deleted, unless it is already in use. STORE_BUSY as for
 * vcm_kv_handle_update(); STORE_FULL when the disk has no room for the copy beside the old file.
 */
struct vcm_kv_compacted {
    uint64_t bytes_before;
    uint64_t bytes_after;
};
int vcm_kv_compact(struct vcm_kv_compacted *out, struct vcm_kv *kv, unsigned timeout_ms,
                   const struct vcm_cancel *cancel, struct vcm_error *err);

/* Copies what is in use into `directory`, which holds no store yet; the copy is a store of its own.
 */
int vcm_kv_compact_copy(struct vcm_kv *kv, const char *directory, struct vcm_error *err);

/*
 * Replaces the data file of a store by a new one, its next generation, without opening it: it may
 * be damaged. Handles of all processes use the new file from their next transaction on. Holds the
 * writers' lock, and calls `make` under it to write the new file to the path `fresh`; the result of
 * `make` that is not VCM_OK ends the replacement with nothing changed. The former file becomes
 * `aside`, unless the process is killed then.
 */
struct vcm_kv_replacement {
    const char *directory; /* of the store */
    const char *lock_path;
    const char *fresh; /* on the same file system as the store */
    const char *aside; /* the same; what is there is replaced */
    int (*make)(void *context, uint64_t generation, struct vcm_error *err);
    void *context;
    const struct vcm_log *log;
};
int vcm_kv_replace(const struct vcm_kv_replacement *replacement, unsigned timeout_ms,
                   const struct vcm_cancel *cancel, struct vcm_error *err);

/* Whether the handle's last transaction was in the data file that is in use now. */
bool vcm_kv_handle_is_current(struct vcm_kv *kv);

/* Removes the map's pages from this process's memory; reading maps them again from the page
 * cache. */
void vcm_kv_trim(struct vcm_kv *kv);
/* The same if more than `bytes` of the process's memory are mapped from files. For loops: removing
 * pages interrupts every thread of the process, checking does not. */
void vcm_kv_trim_above(struct vcm_kv *kv, size_t bytes_max);

int vcm_kv_info(struct vcm_kv_info *info, struct vcm_kv *kv, struct vcm_error *err);

/* "LMDB 0.9.24: ..." */
const char *vcm_kv_library_version(void);

#endif
