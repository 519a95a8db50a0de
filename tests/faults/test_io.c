/*
 * The n-th call of the system by our own code or LMDB fails. Linked with --wrap and a static LMDB;
 * libgit2 and the tests' own programs are not touched. Which calls: CMakeLists.txt.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <cmocka.h>

#include "base/error.h"
#include "tests/faults/scenario.h"

#include "base/banned.h"

static const int codes[] = {EIO, ENOSPC};

/* Shared with children: what is checked in a process of its own fails there. */
static struct {
    atomic_bool armed, came;
    atomic_ulong calls;
    unsigned long failing;
    int code;
} * shared;

void *__real_mmap(void *memory, size_t len, int protection, int flags, int fd, off_t at);

__attribute__((constructor)) static void make_shared(void)
{
    shared = __real_mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                         -1, 0);
    if (shared == MAP_FAILED)
        abort();
}

static bool fails(void)
{
    if (!atomic_load(&shared->armed) || atomic_fetch_add(&shared->calls, 1) + 1 != shared->failing)
        return false;
    atomic_store(&shared->came, true);
    errno = shared->code;
    return true;
}

/* A call that gives -1 or the like, under both of its names where it takes an offset. */
#define WRAP_AS(type, failed, name, parameters, arguments)                                         \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails() ? (failed) : __real_##name arguments;                                       \
    }

#define WRAP(type, name, parameters, arguments) WRAP_AS(type, -1, name, parameters, arguments)

WRAP(ssize_t, write, (int fd, const void *data, size_t len), (fd, data, len))
WRAP(ssize_t, writev, (int fd, const struct iovec *pieces, int count), (fd, pieces, count))
WRAP(ssize_t, pwrite, (int fd, const void *data, size_t len, off_t at), (fd, data, len, at))
WRAP(ssize_t, pwrite64, (int fd, const void *data, size_t len, off_t at), (fd, data, len, at))
WRAP(ssize_t, read, (int fd, void *data, size_t len), (fd, data, len))
WRAP(ssize_t, pread, (int fd, void *data, size_t len, off_t at), (fd, data, len, at))
WRAP(ssize_t, pread64, (int fd, void *data, size_t len, off_t at), (fd, data, len, at))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, fdatasync, (int fd), (fd))
WRAP(int, msync, (void *memory, size_t len, int flags), (memory, len, flags))
WRAP(int, ftruncate, (int fd, off_t len), (fd, len))
WRAP(int, ftruncate64, (int fd, off_t len), (fd, len))
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, rename, (const char *a, const char *b), (a, b))
WRAP(int, renameat, (int from, const char *a, int to, const char *b), (from, a, to, b))
WRAP_AS(void *, MAP_FAILED, mmap,
        (void *memory, size_t len, int protection, int flags, int fd, off_t at),
        (memory, len, protection, flags, fd, at))
WRAP_AS(void *, MAP_FAILED, mmap64,
        (void *memory, size_t len, int protection, int flags, int fd, off_t at),
        (memory, len, protection, flags, fd, at))

static mode_t mode_argument(int flags, va_list args)
{
    return flags & O_CREAT ? (mode_t)va_arg(args, unsigned) : 0;
}

#define WRAP_OPEN(name)                                                                            \
    int __real_##name(const char *path, int flags, ...);                                           \
    int __wrap_##name(const char *path, int flags, ...);                                           \
    int __wrap_##name(const char *path, int flags, ...)                                            \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = mode_argument(flags, args);                                                  \
        va_end(args);                                                                              \
        return fails() ? -1 : __real_##name(path, flags, mode);                                    \
    }

WRAP_OPEN(open)
WRAP_OPEN(open64)

int __real_openat64(int directory, const char *path, int flags, ...);
int __wrap_openat64(int directory, const char *path, int flags, ...);
int __wrap_openat64(int directory, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_argument(flags, args);
    va_end(args);
    return fails() ? -1 : __real_openat64(directory, path, flags, mode);
}

/* It gives its error instead of setting errno. */
int __real_posix_fallocate64(int fd, off_t at, off_t len);
int __wrap_posix_fallocate64(int fd, off_t at, off_t len);
int __wrap_posix_fallocate64(int fd, off_t at, off_t len)
{
    return fails() ? shared->code : __real_posix_fallocate64(fd, at, len);
}

static void arm(unsigned long n, unsigned variant)
{
    atomic_store(&shared->calls, 0);
    atomic_store(&shared->came, false);
    shared->failing = n;
    shared->code = codes[variant];
    atomic_store(&shared->armed, true);
}

static bool disarm(void)
{
    atomic_store(&shared->armed, false);
    return atomic_load(&shared->came);
}

/* STORE_BUSY: without the file in which views are seen nobody can be sent away. */
static bool is_expected(int code)
{
    return code == VCM_IO_ERROR || code == VCM_STORE_FULL || code == VCM_STORE_BUSY;
}

static const struct scenario_fault fault = {
    .arm = arm,
    .disarm = disarm,
    .variants = sizeof codes / sizeof codes[0],
    .stride = 11,
    .is_expected = is_expected,
};

static void a_first_map_survives_any_failed_call(void **state)
{
    (void)state;
    scenario_first_map(&fault);
}

static void a_second_map_survives_any_failed_call(void **state)
{
    (void)state;
    scenario_second_map(&fault);
}

static void every_operation_survives_any_failed_call(void **state)
{
    (void)state;
    scenario_operations(&fault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_map_survives_any_failed_call),
        cmocka_unit_test(a_second_map_survives_any_failed_call),
        cmocka_unit_test(every_operation_survives_any_failed_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
