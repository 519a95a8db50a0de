#include "base/kv.h"

#include <assert.h>
#include <errno.h>
#include <lmdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/kv_env.h"
#include "base/kv_lock.h"
#include "base/limits.h"

#include "base/banned.h"

#define MAP_DEFAULT    (64 * VCM_GIB) /* address space, not memory */
#define PAGE_BYTES     ((size_t)4096)
#define CHECKSUM_BYTES ((size_t)8)
#define VALUE_MAX      ((size_t)UINT32_MAX - CHECKSUM_BYTES)
#define NO_TABLE       UINT32_MAX

struct table {
    char *name;
    uint64_t seed;      /* checksum of the name */
    atomic_uint handle; /* NO_TABLE: not in the file yet, reads as empty */
};

struct vcm_kv {
    struct vcm_kv_env *env;
    struct vcm_kv_options options; /* complete, with strings of our own and without tables */
    unsigned tables_count;
    struct table tables[VCM_LIMIT_TABLES];
};

struct vcm_kv_txn {
    struct vcm_kv *kv;
    MDB_txn *mdb;
    bool writes;
    int fault; /* LMDB's code for the first write that failed: such a change cannot be kept */
    unsigned handles[VCM_LIMIT_TABLES];
};

struct vcm_kv_cursor {
    struct vcm_kv_txn *txn;
    MDB_cursor *mdb; /* NULL for a table that is not in the file */
    unsigned table;
};

static _Thread_local const struct vcm_kv_env *changing;

static int txn_begin(struct vcm_kv_txn *txn, struct vcm_kv *kv, bool writes, struct vcm_error *err)
{
    struct vcm_kv_env *env = kv->env;
    bool cleared = false;

    txn->kv = kv;
    txn->writes = writes;
    for (unsigned i = 0; i < kv->tables_count; i++)
        txn->handles[i] = atomic_load(&kv->tables[i].handle);
    for (;;) {
        vcm_kv_env_enter(env);
        int code = env->lost ? MDB_PANIC
                             : mdb_txn_begin(env->mdb, NULL, writes ? 0 : MDB_RDONLY, &txn->mdb);
        if (code == 0)
            return VCM_OK;
        vcm_kv_env_leave(env);
        if (code == MDB_MAP_RESIZED) {
            int rc = vcm_kv_env_resize(env, &kv->options, false, err);
            if (rc != VCM_OK)
                return rc;
        } else if (code == MDB_READERS_FULL && !cleared) {
            int dead;
            mdb_reader_check(env->mdb, &dead);
            cleared = true;
        } else {
            return vcm_kv_env_fail(&kv->options, code, err);
        }
    }
}

/* Ends the transaction, whatever it returns. */
static int txn_commit(struct vcm_kv_txn *txn)
{
    int code = mdb_txn_commit(txn->mdb);
    if (code == 0 && txn->writes)
        vcm_kv_env_complete_file(txn->kv->env);
    vcm_kv_env_leave(txn->kv->env);
    return code;
}

static void txn_abort(struct vcm_kv_txn *txn)
{
    mdb_txn_abort(txn->mdb);
    vcm_kv_env_leave(txn->kv->env);
}

/* One run of a change. `*full` says that the map was too small for it. */
static int run_change(bool *full, struct vcm_kv *kv, vcm_kv_change_fn change, void *context,
                      struct vcm_error *err)
{
    struct vcm_kv_txn txn = {0};

    *full = false;
    int rc = txn_begin(&txn, kv, true, err);
    if (rc != VCM_OK)
        return rc;
    rc = change(context, &txn, err);
    int code = txn.fault;
    if (rc == VCM_OK && code == 0) {
        code = txn_commit(&txn);
    } else {
        txn_abort(&txn);
    }
    *full = code == MDB_MAP_FULL;
    if (rc == VCM_OK && code != 0)
        rc = vcm_kv_env_fail(&kv->options, code, err);
    return rc;
}

/* Runs a change, again with a larger map whenever it did not fit. The errors of a run that did
 * not fit are forgotten with it. */
static int run_until_it_fits(struct vcm_kv *kv, vcm_kv_change_fn change, void *context,
                             const struct vcm_cancel *cancel, struct vcm_error *err)
{
    bool full;
    int rc;

    do {
        vcm_error_reset(err);
        rc = run_change(&full, kv, change, context, err);
        if (full) {
            vcm_error_reset(err);
            rc = vcm_cancel_check(cancel, err);
            if (rc == VCM_OK)
                rc = vcm_kv_env_resize(kv->env, &kv->options, true, err);
        }
    } while (full && rc == VCM_OK);
    return rc;
}

int vcm_kv_update_settled(struct vcm_kv *kv, vcm_kv_change_fn change, vcm_kv_settled_fn settled,
                          void *context, unsigned timeout_ms, const struct vcm_cancel *cancel,
                          struct vcm_error *err)
{
    struct vcm_kv_lock lock;
    struct vcm_error cause = {0};

    assert(changing != kv->env);
    if (kv->options.read_only)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "the store in '%s' was opened for reading only",
                             kv->options.directory);
    int rc = vcm_kv_env_check_process(kv->env, &kv->options, err);
    if (rc == VCM_OK)
        rc = vcm_kv_lock_take(&lock, kv->options.lock_path, timeout_ms, cancel, kv->options.log,
                              err);
    if (rc != VCM_OK)
        return rc;

    changing = kv->env;
    rc = run_until_it_fits(kv, change, context, cancel, &cause);
    changing = NULL;
    if (settled)
        settled(context, rc == VCM_OK);
    vcm_kv_lock_release(&lock);
    if (rc != VCM_OK && err && err->code == VCM_OK)
        *err = cause;
    return rc;
}

int vcm_kv_update(struct vcm_kv *kv, vcm_kv_change_fn change, void *context, unsigned timeout_ms,
                  const struct vcm_cancel *cancel, struct vcm_error *err)
{
    return vcm_kv_update_settled(kv, change, NULL, context, timeout_ms, cancel, err);
}

static int open_table(struct vcm_kv_txn *txn, unsigned table, unsigned flags)
{
    MDB_dbi handle;
    int code = mdb_dbi_open(txn->mdb, txn->kv->tables[table].name, flags, &handle);
    if (code == 0) {
        txn->handles[table] = handle;
        atomic_store(&txn->kv->tables[table].handle, handle);
    }
    return code;
}

static int create_tables(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    (void)context;
    for (unsigned i = 0; i < txn->kv->tables_count; i++) {
        int code = open_table(txn, i, MDB_CREATE);
        if (code != 0) {
            txn->fault = code;
            return vcm_kv_env_fail(&txn->kv->options, code, err);
        }
    }
    return VCM_OK;
}

/* Opens the tables that the file has. The caller holds tables_mutex. */
static int find_tables(bool *missing, struct vcm_kv *kv, struct vcm_error *err)
{
    struct vcm_kv_txn txn = {0};

    *missing = false;
    int rc = txn_begin(&txn, kv, false, err);
    if (rc != VCM_OK)
        return rc;
    int code = 0;
    for (unsigned i = 0; i < kv->tables_count && code == 0; i++) {
        code = open_table(&txn, i, 0);
        if (code == MDB_NOTFOUND) {
            *missing = true;
            code = 0;
        }
    }
    if (code == 0)
        code = txn_commit(&txn); /* which keeps the handles */
    else
        txn_abort(&txn);
    return code == 0 ? VCM_OK : vcm_kv_env_fail(&kv->options, code, err);
}

static int open_tables(struct vcm_kv *kv, struct vcm_error *err)
{
    bool missing;

    assert(kv->env);
    pthread_mutex_lock(&kv->env->tables_mutex);
    int rc = find_tables(&missing, kv, err);
    if (rc == VCM_OK && missing && !kv->options.read_only)
        rc = vcm_kv_update(kv, create_tables, NULL, VCM_LIMIT_LOCK_TIMEOUT_MS, NULL, err);
    pthread_mutex_unlock(&kv->env->tables_mutex);
    return rc;
}

/* A reader that opened the store before its first writer was done looks again for the tables. */
static int look_again(struct vcm_kv *kv, struct vcm_error *err)
{
    bool missing = false;
    int rc = VCM_OK;

    for (unsigned i = 0; i < kv->tables_count; i++)
        missing |= atomic_load(&kv->tables[i].handle) == NO_TABLE;
    if (!missing || pthread_mutex_trylock(&kv->env->tables_mutex) != 0)
        return VCM_OK;
    rc = find_tables(&missing, kv, err);
    pthread_mutex_unlock(&kv->env->tables_mutex);
    return rc;
}

static void free_handle(struct vcm_kv *kv)
{
    for (unsigned i = 0; i < kv->tables_count; i++)
        free(kv->tables[i].name);
    free((char *)kv->options.directory);
    free((char *)kv->options.lock_path);
    free(kv);
}

static int copy_options(struct vcm_kv *kv, const struct vcm_kv_options *options,
                        struct vcm_error *err)
{
    size_t max = options->map_bytes_max ? options->map_bytes_max : VCM_LIMIT_STORE_BYTES;
    size_t first = options->map_bytes ? options->map_bytes : MAP_DEFAULT;

    kv->options = *options;
    kv->options.tables = NULL;
    kv->options.map_bytes_max = max / PAGE_BYTES * PAGE_BYTES;
    kv->options.map_bytes = first < max ? (first + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES
                                        : kv->options.map_bytes_max;
    kv->options.readers_max = options->readers_max ? options->readers_max : VCM_LIMIT_READERS;
    kv->options.directory = strdup(options->directory);
    kv->options.lock_path = strdup(options->lock_path);
    if (!kv->options.directory || !kv->options.lock_path)
        return vcm_error_memory(err);
    for (const char *const *name = options->tables; *name; name++) {
        assert(kv->tables_count < VCM_LIMIT_TABLES);
        struct table *table = &kv->tables[kv->tables_count++];
        table->seed = vcm_hash_checksum(vcm_slice_of_string(*name), 0);
        table->name = strdup(*name);
        atomic_init(&table->handle, NO_TABLE);
        if (!table->name)
            return vcm_error_memory(err);
    }
    return VCM_OK;
}

int vcm_kv_open(struct vcm_kv **out, const struct vcm_kv_options *options, struct vcm_error *err)
{
    *out = NULL;
    struct vcm_kv *kv = calloc(1, sizeof *kv);
    if (!kv)
        return vcm_error_memory(err);
    int rc = copy_options(kv, options, err);
    if (rc == VCM_OK)
        rc = vcm_kv_env_acquire(&kv->env, &kv->options, err);
    if (rc == VCM_OK)
        rc = open_tables(kv, err);
    if (rc != VCM_OK) {
        vcm_kv_close(kv);
        return rc;
    }
    *out = kv;
    return VCM_OK;
}

void vcm_kv_close(struct vcm_kv *kv)
{
    if (!kv)
        return;
    vcm_kv_env_release(kv->env);
    free_handle(kv);
}

int vcm_kv_read_begin(struct vcm_kv_txn **out, struct vcm_kv *kv, struct vcm_error *err)
{
    *out = NULL;
    int rc = vcm_kv_env_check_process(kv->env, &kv->options, err);
    if (rc == VCM_OK)
        rc = look_again(kv, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_kv_txn *txn = calloc(1, sizeof *txn);
    if (!txn)
        return vcm_error_memory(err);
    rc = txn_begin(txn, kv, false, err);
    if (rc != VCM_OK) {
        free(txn);
        return rc;
    }
    *out = txn;
    return VCM_OK;
}

void vcm_kv_read_end(struct vcm_kv_txn *txn)
{
    if (!txn)
        return;
    assert(!txn->writes);
    txn_abort(txn);
    free(txn);
}

static MDB_val to_mdb(struct vcm_slice slice)
{
    MDB_val value = {slice.len, (void *)slice.data};
    return value;
}

static uint64_t checksum(const struct vcm_kv_txn *txn, unsigned table, struct vcm_slice key,
                         struct vcm_slice value)
{
    return vcm_hash_checksum(value, vcm_hash_checksum(key, txn->kv->tables[table].seed));
}

/* Keys are names or digests: the first as they are, the others in hex. */
static void describe_key(char out[129], struct vcm_slice key)
{
    bool printable = key.len < 128;
    for (size_t i = 0; i < key.len && printable; i++)
        printable = key.data[i] >= 0x20 && key.data[i] < 0x7f;
    if (printable)
        snprintf(out, 129, "%.*s", (int)key.len, key.data);
    else
        vcm_hash_to_hex(out, (const unsigned char *)key.data, key.len < 64 ? key.len : 64);
}

static int damaged_value(const struct vcm_kv_txn *txn, unsigned table, struct vcm_slice key,
                         struct vcm_error *err)
{
    char text[129];
    describe_key(text, key);
    return vcm_error_set(err, VCM_STORE_CORRUPT,
                         "the store in '%s' is damaged: wrong checksum in table '%s', key '%s'",
                         txn->kv->options.directory, txn->kv->tables[table].name, text);
}

/* The value proper, after its checksum. */
static int unpack(struct vcm_slice *value, const struct vcm_kv_txn *txn, unsigned table,
                  struct vcm_slice key, const MDB_val *stored, struct vcm_error *err)
{
    const unsigned char *bytes = stored->mv_data;
    uint64_t sum = 0;

    if (stored->mv_size < CHECKSUM_BYTES)
        return damaged_value(txn, table, key, err);
    for (size_t i = CHECKSUM_BYTES; i-- > 0;)
        sum = sum << 8 | bytes[i];
    struct vcm_slice found = vcm_slice_of(bytes + CHECKSUM_BYTES, stored->mv_size - CHECKSUM_BYTES);
    if (checksum(txn, table, key, found) != sum)
        return damaged_value(txn, table, key, err);
    *value = found;
    return VCM_OK;
}

/* Translates the code of a read; VCM_NOT_FOUND leaves `err` alone. */
static int fail_read(const struct vcm_kv_txn *txn, int code, struct vcm_error *err)
{
    if (code == MDB_NOTFOUND)
        return VCM_NOT_FOUND;
    if (code == MDB_BAD_VALSIZE)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "an empty key");
    return vcm_kv_env_fail(&txn->kv->options, code, err);
}

/* The same for a write, after which the change is lost. */
static int fail_write(struct vcm_kv_txn *txn, int code, struct vcm_error *err)
{
    if (code != MDB_NOTFOUND && txn->fault == 0)
        txn->fault = code;
    return fail_read(txn, code, err);
}

int vcm_kv_get(struct vcm_slice *value, struct vcm_kv_txn *txn, unsigned table,
               struct vcm_slice key, struct vcm_error *err)
{
    assert(table < txn->kv->tables_count);
    *value = vcm_slice_of(NULL, 0);
    if (txn->handles[table] == NO_TABLE)
        return VCM_NOT_FOUND;
    MDB_val wanted = to_mdb(key);
    MDB_val stored;
    int code = mdb_get(txn->mdb, txn->handles[table], &wanted, &stored);
    if (code != 0)
        return fail_read(txn, code, err);
    return unpack(value, txn, table, key, &stored, err);
}

int vcm_kv_put(struct vcm_kv_txn *txn, unsigned table, struct vcm_slice key, struct vcm_slice value,
               struct vcm_error *err)
{
    assert(txn->writes && table < txn->kv->tables_count);
    size_t key_max = (size_t)mdb_env_get_maxkeysize(txn->kv->env->mdb);
    if (key.len == 0 || key.len > key_max || value.len > VALUE_MAX)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "a key of %zu bytes with a value of %zu bytes cannot be stored; keys "
                             "have 1 to %zu bytes, values at most %zu",
                             key.len, value.len, key_max, VALUE_MAX);
    uint64_t sum = checksum(txn, table, key, value);
    MDB_val name = to_mdb(key);
    MDB_val place = {value.len + CHECKSUM_BYTES, NULL};
    int code = mdb_put(txn->mdb, txn->handles[table], &name, &place, MDB_RESERVE);
    if (code != 0)
        return fail_write(txn, code, err);
    unsigned char *bytes = place.mv_data;
    for (size_t i = 0; i < CHECKSUM_BYTES; i++)
        bytes[i] = (unsigned char)(sum >> (8 * i));
    if (value.len > 0)
        memcpy(bytes + CHECKSUM_BYTES, value.data, value.len);
    return VCM_OK;
}

int vcm_kv_delete(struct vcm_kv_txn *txn, unsigned table, struct vcm_slice key,
                  struct vcm_error *err)
{
    assert(txn->writes && table < txn->kv->tables_count);
    MDB_val name = to_mdb(key);
    int code = mdb_del(txn->mdb, txn->handles[table], &name, NULL);
    return code == 0 ? VCM_OK : fail_write(txn, code, err);
}

int vcm_kv_count(uint64_t *count, struct vcm_kv_txn *txn, unsigned table, struct vcm_error *err)
{
    MDB_stat stat;

    assert(table < txn->kv->tables_count);
    *count = 0;
    if (txn->handles[table] == NO_TABLE)
        return VCM_OK;
    int code = mdb_stat(txn->mdb, txn->handles[table], &stat);
    if (code != 0)
        return fail_read(txn, code, err);
    *count = stat.ms_entries;
    return VCM_OK;
}

int vcm_kv_cursor_open(struct vcm_kv_cursor **out, struct vcm_kv_txn *txn, unsigned table,
                       struct vcm_error *err)
{
    assert(table < txn->kv->tables_count);
    *out = NULL;
    struct vcm_kv_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return vcm_error_memory(err);
    cursor->txn = txn;
    cursor->table = table;
    if (txn->handles[table] != NO_TABLE) {
        int code = mdb_cursor_open(txn->mdb, txn->handles[table], &cursor->mdb);
        if (code != 0) {
            free(cursor);
            return fail_read(txn, code, err);
        }
    }
    *out = cursor;
    return VCM_OK;
}

void vcm_kv_cursor_close(struct vcm_kv_cursor *cursor)
{
    if (!cursor)
        return;
    if (cursor->mdb)
        mdb_cursor_close(cursor->mdb);
    free(cursor);
}

static int cursor_move(struct vcm_slice *found, struct vcm_slice *value,
                       struct vcm_kv_cursor *cursor, struct vcm_slice key, MDB_cursor_op op,
                       struct vcm_error *err)
{
    MDB_val name = to_mdb(key);
    MDB_val stored;

    *found = *value = vcm_slice_of(NULL, 0);
    int code = cursor->mdb ? mdb_cursor_get(cursor->mdb, &name, &stored, op) : MDB_NOTFOUND;
    if (code != 0)
        return fail_read(cursor->txn, code, err);
    *found = vcm_slice_of(name.mv_data, name.mv_size);
    return unpack(value, cursor->txn, cursor->table, *found, &stored, err);
}

int vcm_kv_cursor_seek(struct vcm_slice *found, struct vcm_slice *value,
                       struct vcm_kv_cursor *cursor, struct vcm_slice key, struct vcm_error *err)
{
    return cursor_move(found, value, cursor, key, key.len == 0 ? MDB_FIRST : MDB_SET_RANGE, err);
}

int vcm_kv_cursor_next(struct vcm_slice *found, struct vcm_slice *value,
                       struct vcm_kv_cursor *cursor, struct vcm_error *err)
{
    return cursor_move(found, value, cursor, vcm_slice_of(NULL, 0), MDB_NEXT, err);
}

int vcm_kv_cursor_delete(struct vcm_kv_cursor *cursor, struct vcm_error *err)
{
    assert(cursor->txn->writes && cursor->mdb);
    int code = mdb_cursor_del(cursor->mdb, 0);
    return code == 0 ? VCM_OK : fail_write(cursor->txn, code, err);
}

static int count_line(const char *line, void *context)
{
    (void)line;
    ++*(unsigned *)context;
    return 0;
}

static int add_pages(uint64_t *pages, struct vcm_kv_txn *txn, MDB_dbi handle)
{
    MDB_stat stat;
    int code = mdb_stat(txn->mdb, handle, &stat);
    if (code == 0)
        *pages += stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
    return code;
}

/* The pages of our tables, of LMDB's own two (of free pages and of tables), and two headers. */
static int count_used(uint64_t *bytes, struct vcm_kv_txn *txn)
{
    uint64_t pages = 2;

    int code = add_pages(&pages, txn, 0);
    if (code == 0)
        code = add_pages(&pages, txn, 1);
    for (unsigned i = 0; i < txn->kv->tables_count && code == 0; i++)
        if (txn->handles[i] != NO_TABLE)
            code = add_pages(&pages, txn, txn->handles[i]);
    *bytes = pages * PAGE_BYTES;
    return code;
}

int vcm_kv_info(struct vcm_kv_info *info, struct vcm_kv *kv, struct vcm_error *err)
{
    struct vcm_kv_txn *txn;
    MDB_envinfo mapped;
    struct stat file = {0};
    unsigned lines = 0;
    int fd;

    memset(info, 0, sizeof *info);
    mdb_reader_list(kv->env->mdb, count_line, &lines);
    int rc = vcm_kv_read_begin(&txn, kv, err);
    if (rc != VCM_OK)
        return rc;
    mdb_env_info(kv->env->mdb, &mapped);
    mdb_env_get_fd(kv->env->mdb, &fd);
    int code = fstat(fd, &file) == 0 ? count_used(&info->used_bytes, txn) : errno;
    vcm_kv_read_end(txn);
    info->map_bytes = mapped.me_mapsize;
    info->file_bytes = (uint64_t)file.st_size;
    info->readers_max = mapped.me_maxreaders;
    info->readers_used = lines > 0 ? lines - 1 : 0; /* the first line is a heading, or "none" */
    return code == 0 ? VCM_OK : vcm_kv_env_fail(&kv->options, code, err);
}

const char *vcm_kv_library_version(void)
{
    return mdb_version(NULL, NULL, NULL);
}
