#include "base/kv.h"

#include <assert.h>
#include <errno.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/kv_handle.h"
#include "base/limits.h"

#include "base/banned.h"

#define PAGE_BYTES     ((size_t)4096)
#define CHECKSUM_BYTES ((size_t)8)
#define VALUE_MAX      ((size_t)UINT32_MAX - CHECKSUM_BYTES)
#define NO_TABLE       VCM_KV_HANDLE_NO_TABLE

/* LMDB's own tables. */
#define FREE_PAGES      0
#define TABLE_OF_TABLES 1

struct vcm_kv_cursor {
    struct vcm_kv_txn *txn;
    MDB_cursor *mdb; /* NULL when the file has no such table */
    unsigned table;
};

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

/* For messages: a key that is a name as it is, a digest in hex. */
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

/* The value without the checksum in front of it. */
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

/* The same for a write. The transaction cannot be committed after a failed write. */
static int fail_write(struct vcm_kv_txn *txn, int code, struct vcm_error *err)
{
    if (code != MDB_NOTFOUND && txn->fault == 0)
        txn->fault = code;
    return fail_read(txn, code, err);
}

static int get_stored(MDB_val *stored, struct vcm_kv_txn *txn, unsigned table, struct vcm_slice key,
                      struct vcm_error *err)
{
    assert(table < txn->kv->tables_count);
    if (txn->handles[table] == NO_TABLE)
        return VCM_NOT_FOUND;
    MDB_val wanted = to_mdb(key);
    int code = mdb_get(txn->mdb, txn->handles[table], &wanted, stored);
    return code == 0 ? VCM_OK : fail_read(txn, code, err);
}

int vcm_kv_get(struct vcm_slice *value, struct vcm_kv_txn *txn, unsigned table,
               struct vcm_slice key, struct vcm_error *err)
{
    MDB_val stored;

    *value = vcm_slice_of(NULL, 0);
    int rc = get_stored(&stored, txn, table, key, err);
    return rc == VCM_OK ? unpack(value, txn, table, key, &stored, err) : rc;
}

int vcm_kv_get_unchecked(struct vcm_slice *value, struct vcm_kv_txn *txn, unsigned table,
                         struct vcm_slice key, struct vcm_error *err)
{
    MDB_val stored;

    *value = vcm_slice_of(NULL, 0);
    int rc = get_stored(&stored, txn, table, key, err);
    if (rc != VCM_OK)
        return rc;
    if (stored.mv_size < CHECKSUM_BYTES)
        return damaged_value(txn, table, key, err);
    *value = vcm_slice_of((const char *)stored.mv_data + CHECKSUM_BYTES,
                          stored.mv_size - CHECKSUM_BYTES);
    return VCM_OK;
}

int vcm_kv_put(struct vcm_kv_txn *txn, unsigned table, struct vcm_slice key, struct vcm_slice value,
               struct vcm_error *err)
{
    assert(txn->writes && table < txn->kv->tables_count);
    size_t key_max = (size_t)mdb_env_get_maxkeysize(txn->door->env->mdb);
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

    int code = add_pages(&pages, txn, FREE_PAGES);
    if (code == 0)
        code = add_pages(&pages, txn, TABLE_OF_TABLES);
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
    int rc = vcm_kv_handle_read_begin(&txn, kv, err);
    if (rc != VCM_OK)
        return rc;
    MDB_env *env = txn->door->env->mdb;
    mdb_reader_list(env, count_line, &lines);
    mdb_env_info(env, &mapped);
    mdb_env_get_fd(env, &fd);
    int code = fstat(fd, &file) == 0 ? count_used(&info->used_bytes, txn) : errno;
    info->generation = txn->door->generation;
    vcm_kv_handle_read_end(txn);
    info->map_bytes = mapped.me_mapsize;
    info->file_bytes = (uint64_t)file.st_size;
    info->readers_max = mapped.me_maxreaders;
    info->readers_used = lines > 2 ? lines - 2 : 0; /* without the heading and this process */
    return code == 0 ? VCM_OK : vcm_kv_env_fail(&kv->options, code, err);
}

/* Finds the map's address from a pointer into it, because LMDB does not report it. */
static bool find_map(char **start, size_t *bytes, char *inside)
{
    char line[VCM_LIMIT_PATH_BYTES];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");

    while (maps && !found && fgets(line, sizeof line, maps)) {
        char *rest;
        uintptr_t first = strtoull(line, &rest, 16);
        uintptr_t end = *rest == '-' ? strtoull(rest + 1, NULL, 16) : 0;
        found = first <= (uintptr_t)inside && (uintptr_t)inside < end;
        *start = inside - ((uintptr_t)inside - first);
        *bytes = end - first;
    }
    if (maps)
        fclose(maps);
    return found;
}

/* The same for the map of a transaction's environment, which does not move while the transaction is
 * open. */
static bool locate_map(char **start, size_t *bytes, struct vcm_kv_txn *txn)
{
    struct vcm_kv_env *env = txn->door->env;
    MDB_cursor *cursor;
    MDB_val name, value;
    bool found = false;

    *start = atomic_load(&env->map_start);
    *bytes = atomic_load(&env->map_bytes);
    if (*start)
        return true;
    if (mdb_cursor_open(txn->mdb, TABLE_OF_TABLES, &cursor) != 0)
        return false;
    if (mdb_cursor_get(cursor, &name, &value, MDB_FIRST) == 0)
        found = find_map(start, bytes, name.mv_data);
    mdb_cursor_close(cursor);
    if (found) {
        atomic_store(&env->map_bytes, *bytes);
        atomic_store(&env->map_start, *start);
    }
    return found;
}

void vcm_kv_trim(struct vcm_kv *kv)
{
    struct vcm_kv_txn *txn;
    char *start;
    size_t bytes;

    if (vcm_kv_handle_read_begin(&txn, kv, NULL) != VCM_OK)
        return;
    if (locate_map(&start, &bytes, txn))
        madvise(start, bytes, MADV_DONTNEED);
    vcm_kv_handle_read_end(txn);
}

/* How many bytes of this process's memory are mapped from files, the program included; all of its
 * memory where the system does not say. */
static size_t mapped_bytes(void)
{
    unsigned long size, resident, shared = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    bool told = file && fscanf(file, "%lu %lu %lu", &size, &resident, &shared) == 3;

    if (file)
        fclose(file);
    return told ? shared * PAGE_BYTES : SIZE_MAX;
}

void vcm_kv_trim_above(struct vcm_kv *kv, size_t bytes_max)
{
    if (mapped_bytes() > bytes_max)
        vcm_kv_trim(kv);
}

const char *vcm_kv_library_version(void)
{
    return mdb_version(NULL, NULL, NULL);
}
