#include "kb/database_vfs.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"

#include "base/banned.h"

#define HEADER_BYTES   100
#define PAGE_BYTES_MAX 65536
#define PAGE_BYTES_MIN 512
#define MAGIC          "SQLite format 3" /* with its NUL */

/* The file of the system's VFS lies behind it. */
struct checked_file {
    sqlite3_file base;
    int page_bytes; /* 0: pages have no checksums, as far as is known */
    unsigned char *page;
    uint64_t room[]; /* SQLite aligns to eight bytes */
};

static sqlite3_vfs *system_vfs;
static sqlite3_vfs checked_vfs;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int registered;

static sqlite3_file *system_file(sqlite3_file *file)
{
    return (sqlite3_file *)((struct checked_file *)file)->room;
}

/* The system's VFS tells a full disk alone from other failures, and by the time that SQLite asks
 * for errno it may be that of another call: a quota and a limit on the size of files are told here.
 */
static int tell_full(int result)
{
    bool failed = (result & 0xff) == SQLITE_IOERR;
    return failed && vcm_error_is_full(errno) ? SQLITE_FULL : result;
}

/* Learns from the beginning of the file whether pages have checksums. */
static void note_header(struct checked_file *file, const unsigned char *header)
{
    int bytes = header[16] << 8 | header[17];

    if (memcmp(header, MAGIC, sizeof MAGIC) != 0)
        return;
    if (bytes == 1)
        bytes = PAGE_BYTES_MAX;
    bool valid = bytes >= PAGE_BYTES_MIN && (bytes & (bytes - 1)) == 0;
    file->page_bytes = valid && header[20] == VCM_DATABASE_VFS_RESERVED ? bytes : 0;
}

static void read_header(struct checked_file *file)
{
    unsigned char header[HEADER_BYTES];
    sqlite3_file *below = system_file(&file->base);

    if (below->pMethods->xRead(below, header, sizeof header, 0) == SQLITE_OK)
        note_header(file, header);
}

static void make_sum(unsigned char out[VCM_DATABASE_VFS_RESERVED], const unsigned char *page,
                     int bytes, sqlite3_int64 offset)
{
    uint64_t sum = vcm_hash_checksum(
        vcm_slice_of(page, (size_t)(bytes - VCM_DATABASE_VFS_RESERVED)), (uint64_t)offset);

    for (int i = 0; i < VCM_DATABASE_VFS_RESERVED; i++)
        out[i] = (unsigned char)(sum >> 8 * i);
}

static bool is_right(const unsigned char *page, int bytes, sqlite3_int64 offset)
{
    unsigned char sum[VCM_DATABASE_VFS_RESERVED];

    make_sum(sum, page, bytes, offset);
    return memcmp(sum, page + bytes - VCM_DATABASE_VFS_RESERVED, sizeof sum) == 0;
}

static unsigned char *page_buffer(struct checked_file *file)
{
    if (!file->page)
        file->page = sqlite3_malloc(PAGE_BYTES_MAX);
    return file->page;
}

/* A part of one page: reads and compares all of it. */
static int read_part(struct checked_file *file, unsigned char *out, int amount,
                     sqlite3_int64 offset)
{
    sqlite3_file *below = system_file(&file->base);
    int bytes = file->page_bytes, skipped = (int)(offset % bytes);

    assert(skipped + amount <= bytes);
    if (!page_buffer(file))
        return SQLITE_IOERR_NOMEM;
    int result = below->pMethods->xRead(below, file->page, bytes, offset - skipped);
    if (result == SQLITE_IOERR_SHORT_READ) /* the end of the file: the rest is zeros */
        return below->pMethods->xRead(below, out, amount, offset);
    if (result == SQLITE_OK && !is_right(file->page, bytes, offset - skipped))
        result = SQLITE_IOERR_DATA;
    if (result == SQLITE_OK)
        memcpy(out, file->page + skipped, (size_t)amount);
    return result;
}

/* SQLite reads some fields of the header before it reads the first page: these are not checked. */
static int checked_read(sqlite3_file *base, void *out, int amount, sqlite3_int64 offset)
{
    struct checked_file *file = (struct checked_file *)base;
    sqlite3_file *below = system_file(base);
    int result = SQLITE_OK;

    if (offset + amount <= HEADER_BYTES) {
        result = below->pMethods->xRead(below, out, amount, offset);
        if (result == SQLITE_OK && offset == 0 && amount == HEADER_BYTES)
            note_header(file, out);
        return result;
    }
    if (file->page_bytes == 0)
        read_header(file);
    if (file->page_bytes == 0)
        return below->pMethods->xRead(below, out, amount, offset);
    for (int done = 0; result == SQLITE_OK && done < amount;) {
        int room = file->page_bytes - (int)((offset + done) % file->page_bytes);
        int part = amount - done < room ? amount - done : room;
        result = read_part(file, (unsigned char *)out + done, part, offset + done);
        done += part;
    }
    return result;
}

/* SQLite writes whole pages. */
static int checked_write(sqlite3_file *base, const void *data, int amount, sqlite3_int64 offset)
{
    struct checked_file *file = (struct checked_file *)base;
    sqlite3_file *below = system_file(base);

    if (offset == 0 && amount >= HEADER_BYTES)
        note_header(file, data);
    else if (file->page_bytes == 0)
        read_header(file);
    if (file->page_bytes == 0 || amount != file->page_bytes || offset % amount != 0)
        return tell_full(below->pMethods->xWrite(below, data, amount, offset));
    if (!page_buffer(file))
        return SQLITE_IOERR_NOMEM;
    memcpy(file->page, data, (size_t)amount);
    make_sum(file->page + amount - VCM_DATABASE_VFS_RESERVED, file->page, amount, offset);
    return tell_full(below->pMethods->xWrite(below, file->page, amount, offset));
}

static int pass_read(sqlite3_file *file, void *out, int amount, sqlite3_int64 offset)
{
    return system_file(file)->pMethods->xRead(system_file(file), out, amount, offset);
}

static int pass_write(sqlite3_file *file, const void *data, int amount, sqlite3_int64 offset)
{
    return tell_full(system_file(file)->pMethods->xWrite(system_file(file), data, amount, offset));
}

static int checked_close(sqlite3_file *base)
{
    struct checked_file *file = (struct checked_file *)base;
    sqlite3_file *below = system_file(base);

    sqlite3_free(file->page);
    file->page = NULL;
    return below->pMethods->xClose(below);
}

static int pass_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return tell_full(system_file(file)->pMethods->xTruncate(system_file(file), size));
}

static int pass_sync(sqlite3_file *file, int flags)
{
    return system_file(file)->pMethods->xSync(system_file(file), flags);
}

static int pass_file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return system_file(file)->pMethods->xFileSize(system_file(file), size);
}

static int pass_lock(sqlite3_file *file, int level)
{
    return system_file(file)->pMethods->xLock(system_file(file), level);
}

static int pass_unlock(sqlite3_file *file, int level)
{
    return system_file(file)->pMethods->xUnlock(system_file(file), level);
}

static int pass_check_reserved_lock(sqlite3_file *file, int *out)
{
    return system_file(file)->pMethods->xCheckReservedLock(system_file(file), out);
}

static int pass_file_control(sqlite3_file *file, int what, void *argument)
{
    return system_file(file)->pMethods->xFileControl(system_file(file), what, argument);
}

static int pass_sector_size(sqlite3_file *file)
{
    return system_file(file)->pMethods->xSectorSize(system_file(file));
}

static int pass_device_characteristics(sqlite3_file *file)
{
    return system_file(file)->pMethods->xDeviceCharacteristics(system_file(file));
}

static int pass_shm_map(sqlite3_file *file, int page, int bytes, int extend, void volatile **out)
{
    return tell_full(
        system_file(file)->pMethods->xShmMap(system_file(file), page, bytes, extend, out));
}

static int pass_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return system_file(file)->pMethods->xShmLock(system_file(file), offset, count, flags);
}

static void pass_shm_barrier(sqlite3_file *file)
{
    system_file(file)->pMethods->xShmBarrier(system_file(file));
}

static int pass_shm_unmap(sqlite3_file *file, int remove)
{
    return system_file(file)->pMethods->xShmUnmap(system_file(file), remove);
}

/* Version 2: without the third one's memory maps, which would go past the checksums. */
static sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = checked_close,
    .xRead = checked_read,
    .xWrite = checked_write,
    .xTruncate = pass_truncate,
    .xSync = pass_sync,
    .xFileSize = pass_file_size,
    .xLock = pass_lock,
    .xUnlock = pass_unlock,
    .xCheckReservedLock = pass_check_reserved_lock,
    .xFileControl = pass_file_control,
    .xSectorSize = pass_sector_size,
    .xDeviceCharacteristics = pass_device_characteristics,
    .xShmMap = pass_shm_map,
    .xShmLock = pass_shm_lock,
    .xShmBarrier = pass_shm_barrier,
    .xShmUnmap = pass_shm_unmap,
};

/* Of the log, and of journals. */
static sqlite3_io_methods plain_methods = {
    .iVersion = 1,
    .xClose = checked_close,
    .xRead = pass_read,
    .xWrite = pass_write,
    .xTruncate = pass_truncate,
    .xSync = pass_sync,
    .xFileSize = pass_file_size,
    .xLock = pass_lock,
    .xUnlock = pass_unlock,
    .xCheckReservedLock = pass_check_reserved_lock,
    .xFileControl = pass_file_control,
    .xSectorSize = pass_sector_size,
    .xDeviceCharacteristics = pass_device_characteristics,
};

static int checked_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
                        int *flags_out)
{
    struct checked_file *file = (struct checked_file *)base;

    (void)vfs;
    memset(file, 0, sizeof *file);
    int result = system_vfs->xOpen(system_vfs, name, system_file(base), flags, flags_out);
    if (result == SQLITE_OK)
        file->base.pMethods = flags & SQLITE_OPEN_MAIN_DB ? &methods : &plain_methods;
    return result;
}

static void register_once(void)
{
    registered = sqlite3_initialize();
    system_vfs = sqlite3_vfs_find(NULL);
    if (registered != SQLITE_OK || !system_vfs) {
        registered = registered != SQLITE_OK ? registered : SQLITE_ERROR;
        return;
    }
    checked_vfs = *system_vfs;
    checked_vfs.pNext = NULL;
    checked_vfs.zName = VCM_DATABASE_VFS_NAME;
    checked_vfs.szOsFile = (int)sizeof(struct checked_file) + system_vfs->szOsFile;
    checked_vfs.xOpen = checked_open;
    registered = sqlite3_vfs_register(&checked_vfs, 0);
}

int vcm_database_vfs_register(void)
{
    pthread_once(&once, register_once);
    return registered;
}

bool vcm_database_vfs_is_checked(sqlite3 *db)
{
    sqlite3_file *file = NULL;

    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file ||
        file->pMethods != &methods)
        return false;
    /* Another process may have made the file since; what was read then was in its log. */
    read_header((struct checked_file *)file);
    return ((struct checked_file *)file)->page_bytes > 0;
}
