#include "base/kv_generation.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"

#define NUMBER_BYTES sizeof(uint64_t)
#define NEW_SUFFIX   ".new"

/* The number of a generation's directory, or 0 when the name is none. `*made` is false for a
 * directory whose copy is not complete. */
static uint64_t parse_name(bool *made, const char *name)
{
    char canonical[32];
    char *end;

    errno = 0;
    unsigned long long number = strtoull(name, &end, 10);
    *made = *end == '\0';
    if (errno != 0 || number == 0 || (!*made && strcmp(end, NEW_SUFFIX) != 0))
        return 0;
    snprintf(canonical, sizeof canonical, "%llu", number);
    return strncmp(name, canonical, (size_t)(end - name)) == 0 && canonical[end - name] == '\0'
               ? number
               : 0;
}

typedef void (*visit_fn)(void *context, int directory_fd, const char *name, uint64_t number,
                         bool made);

static void each_generation(const char *directory, visit_fn visit, void *context)
{
    DIR *stream = opendir(directory);
    bool made;

    if (!stream)
        return;
    for (unsigned i = 0; i < VCM_LIMIT_DIRECTORY_ENTRIES; i++) {
        const struct dirent *entry = readdir(stream);
        if (!entry)
            break;
        uint64_t number = parse_name(&made, entry->d_name);
        if (number != 0)
            visit(context, dirfd(stream), entry->d_name, number, made);
    }
    closedir(stream);
}

static void keep_highest(void *context, int directory_fd, const char *name, uint64_t number,
                         bool made)
{
    uint64_t *highest = context;
    char path[64];

    snprintf(path, sizeof path, "%s/data.mdb", name);
    if (made && number > *highest && faccessat(directory_fd, path, F_OK, 0) == 0)
        *highest = number;
}

/* The generation of a store without the file: 0, or, when a user deleted the file, the one whose
 * directory exists. */
static uint64_t guess(const char *directory)
{
    char path[VCM_LIMIT_PATH_BYTES];
    uint64_t highest = 0;

    snprintf(path, sizeof path, "%s/data.mdb", directory);
    if (access(path, F_OK) != 0)
        each_generation(directory, keep_highest, &highest);
    return highest;
}

/* 0 when the file has room for the number, else an errno. `*fresh`: it had no number before. */
static int check_number(bool *fresh, int fd, bool writable)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return errno;
    if (!S_ISREG(status.st_mode))
        return EINVAL;
    *fresh = status.st_size < (off_t)NUMBER_BYTES;
    if (!*fresh)
        return 0;
    if (!writable)
        return ENODATA;
    if (status.st_size > 0 && ftruncate(fd, 0) != 0)
        return errno;
    return posix_fallocate(fd, 0, (off_t)NUMBER_BYTES);
}

/* The caller unmaps it. O_NONBLOCK because the name may be that of a FIFO. */
static int map_number(_Atomic uint64_t **out, const char *directory, bool writable)
{
    char path[VCM_LIMIT_PATH_BYTES];
    int access = writable ? O_RDWR | O_CREAT : O_RDONLY;
    uint64_t zero = 0;
    bool fresh = false;

    *out = NULL;
    snprintf(path, sizeof path, "%s/generation", directory);
    int fd = open(path, access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
    if (fd < 0)
        return errno;
    int code = check_number(&fresh, fd, writable);
    void *memory = MAP_FAILED;
    if (code == 0) {
        memory = mmap(NULL, NUMBER_BYTES, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                      fd, 0);
        code = memory == MAP_FAILED ? errno : 0;
    }
    close(fd);
    if (code != 0)
        return code;
    *out = memory;
    if (fresh)
        atomic_compare_exchange_strong(*out, &zero, guess(directory));
    return 0;
}

/* Several threads may call it at the same time. */
static _Atomic uint64_t *map_once(struct vcm_kv_generation *generation, bool writable)
{
    _Atomic uint64_t *number, *none = NULL;

    if (map_number(&number, generation->directory, writable) != 0)
        return NULL;
    if (atomic_compare_exchange_strong(&generation->number, &none, number))
        return number;
    munmap((void *)number, NUMBER_BYTES);
    return none;
}

void vcm_kv_generation_open(struct vcm_kv_generation *generation, const char *directory,
                            bool writable)
{
    generation->directory = directory;
    atomic_init(&generation->number, NULL);
    if (writable)
        map_once(generation, true);
}

void vcm_kv_generation_close(struct vcm_kv_generation *generation)
{
    _Atomic uint64_t *number = atomic_exchange(&generation->number, NULL);

    if (number)
        munmap((void *)number, NUMBER_BYTES);
}

uint64_t vcm_kv_generation_now(struct vcm_kv_generation *generation)
{
    _Atomic uint64_t *number = atomic_load_explicit(&generation->number, memory_order_acquire);

    if (!number)
        number = map_once(generation, false);
    return number ? atomic_load(number) : guess(generation->directory);
}

bool vcm_kv_generation_path(char out[VCM_LIMIT_PATH_BYTES],
                            const struct vcm_kv_generation *generation, uint64_t number,
                            const char *suffix)
{
    int len = number == 0 ? snprintf(out, VCM_LIMIT_PATH_BYTES, "%s", generation->directory)
                          : snprintf(out, VCM_LIMIT_PATH_BYTES, "%s/%llu%s", generation->directory,
                                     (unsigned long long)number, suffix);

    return len > 0 && (size_t)len < VCM_LIMIT_PATH_BYTES;
}

static int fail(const struct vcm_kv_generation *generation, int code, struct vcm_error *err)
{
    return vcm_error_sys(err, VCM_IO_ERROR, code,
                         "cannot write the file 'generation' of the store in '%s'",
                         generation->directory);
}

int vcm_kv_generation_prepare(const struct vcm_kv_generation *generation, struct vcm_error *err)
{
    _Atomic uint64_t *number;

    int code = map_number(&number, generation->directory, true);
    if (code != 0)
        return fail(generation, code, err);
    munmap((void *)number, NUMBER_BYTES);
    return VCM_OK;
}

int vcm_kv_generation_sync(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return errno;
    int code = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    return code;
}

int vcm_kv_generation_raise(const struct vcm_kv_generation *generation, uint64_t number,
                            struct vcm_error *err)
{
    _Atomic uint64_t *place;

    int code = map_number(&place, generation->directory, true);
    if (code != 0)
        return fail(generation, code, err);
    uint64_t before = atomic_exchange(place, number);
    if (msync((void *)place, NUMBER_BYTES, MS_SYNC) != 0) {
        code = errno;
        atomic_store(place, before);
    }
    munmap((void *)place, NUMBER_BYTES);
    return code == 0 ? VCM_OK : fail(generation, code, err);
}

/* Does not follow a link at that name. */
static void remove_directory(int above_fd, const char *name)
{
    int fd = openat(above_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return;
    unlinkat(fd, "data.mdb", 0);
    unlinkat(fd, "lock.mdb", 0);
    close(fd);
    unlinkat(above_fd, name, AT_REMOVEDIR);
}

static void remove_other(void *context, int directory_fd, const char *name, uint64_t number,
                         bool made)
{
    const uint64_t *current = context;

    if (!made || number != *current)
        remove_directory(directory_fd, name);
}

void vcm_kv_generation_sweep(const struct vcm_kv_generation *generation, uint64_t current)
{
    each_generation(generation->directory, remove_other, &current);
    if (current == 0)
        return;
    int fd = open(generation->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    unlinkat(fd, "data.mdb", 0);
    unlinkat(fd, "lock.mdb", 0);
    close(fd);
}
