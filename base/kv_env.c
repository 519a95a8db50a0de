#include "base/kv_env.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kv_door.h"
#include "base/kv_reader.h"
#include "base/limits.h"
#include "base/process.h"

#include "base/banned.h"

#define MAP_FLOOR    (64 * VCM_MIB) /* address space is not halved below this */
#define PAGE_BYTES   ((size_t)4096)
#define TAIL_TRIES   20
#define TAIL_NAP_MS  10
#define HEADER_BYTES (2 * PAGE_BYTES) /* of the data file; written when it is created */
#define READER_BYTES ((size_t)64)     /* of a slot in LMDB's lock file */

static pthread_mutex_t environments_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct vcm_kv_env *environments;

static pthread_once_t forks_once = PTHREAD_ONCE_INIT;

static _Atomic uint64_t maps; /* number of maps that this process has had */

static int full_disk(const struct vcm_kv_options *options, int code, struct vcm_error *err)
{
    return vcm_error_sys(err, VCM_STORE_FULL, code,
                         "no room on the disk of the store in '%s'; free some space or evict "
                         "pages, nothing was changed",
                         options->directory);
}

/* LMDB returns EIO after a short write, which is the first sign that the disk is full or that the
 * file reached the largest size that this process may write. Which file it was LMDB does not say:
 * under a limit every EIO counts as that. */
static bool is_short_write(const struct vcm_kv_options *options)
{
    struct statvfs room;
    struct rlimit file_size;

    if (getrlimit(RLIMIT_FSIZE, &file_size) == 0 && file_size.rlim_cur != RLIM_INFINITY)
        return true;
    return statvfs(options->directory, &room) == 0 && room.f_bavail * room.f_frsize < VCM_MIB;
}

/* Translates a system error that LMDB returned. */
static int fail_system(const struct vcm_kv_options *options, int code, struct vcm_error *err)
{
    if (vcm_error_is_full(code))
        return full_disk(options, code, err);
    if (vcm_error_is_denial(code))
        return vcm_error_sys(err, VCM_IO_ERROR, code,
                             "cannot write to the store in '%s'; give this user write permission "
                             "there or choose another home",
                             options->directory);
    switch (code) {
    case ENOMEM:
        return vcm_error_sys(err, VCM_INTERNAL, code,
                             "cannot map the store in '%s'; is the "
                             "address space limited (ulimit -v)?",
                             options->directory);
    case EAGAIN: /* the byte of its number in the lock file is locked */
        return vcm_error_sys(err, VCM_STORE_BUSY, code,
                             "another process, perhaps in another container, has the same number "
                             "among the readers of the store in '%s'; try again",
                             options->directory);
    case EIO:
        if (is_short_write(options))
            return full_disk(options, ENOSPC, err);
        break;
    default:
        break;
    }
    return vcm_error_sys(err, VCM_IO_ERROR, code, "cannot use the store in '%s'",
                         options->directory);
}

int vcm_kv_env_fail(const struct vcm_kv_options *options, int code, struct vcm_error *err)
{
    switch (code) {
    case MDB_INVALID:
    case MDB_CORRUPTED:
    case MDB_VERSION_MISMATCH:
    case MDB_PAGE_NOTFOUND:
    case MDB_INCOMPATIBLE:
    case MDB_CURSOR_FULL: /* deeper than any tree can become */
        return vcm_error_set(err, VCM_STORE_CORRUPT, "the store in '%s' is damaged: %s",
                             options->directory, mdb_strerror(code));
    case MDB_MAP_FULL:
        return vcm_error_set(err, VCM_STORE_FULL,
                             "the store in '%s' reached its limit of %zu bytes; raise the limit "
                             "or evict pages, nothing was changed",
                             options->directory, options->map_bytes_max);
    case MDB_READERS_FULL:
        return vcm_error_set(err, VCM_STORE_BUSY,
                             "all reader slots of the store in '%s' are taken; try again when "
                             "another reader has finished",
                             options->directory);
    case MDB_TXN_FULL:
        return vcm_error_set(err, VCM_UNSUPPORTED, "too much for one change of the store in '%s'",
                             options->directory);
    case MDB_PANIC:
        return vcm_error_set(err, VCM_IO_ERROR,
                             "an earlier write to the store in '%s' failed; open it again",
                             options->directory);
    default:
        if (code > 0)
            return fail_system(options, code, err);
        return vcm_error_set(err, VCM_INTERNAL, "the store in '%s': %s", options->directory,
                             mdb_strerror(code));
    }
}

/* In the order in which both are taken elsewhere: an environment is released by a door. */
static void begin_fork(void)
{
    vcm_kv_door_begin_fork();
    pthread_mutex_lock(&environments_mutex);
}

static void end_fork(void)
{
    pthread_mutex_unlock(&environments_mutex);
    vcm_kv_door_end_fork(false);
}

static void end_fork_in_child(void)
{
    pthread_mutex_unlock(&environments_mutex);
    vcm_kv_door_end_fork(true);
}

/* Keeps a forked child from seeing the lists in the middle of a change. */
static void watch_forks(void)
{
    pthread_atfork(begin_fork, end_fork, end_fork_in_child);
}

bool vcm_kv_env_is_forked(const struct vcm_kv_env *env)
{
    return env->forks != vcm_process_forks();
}

int vcm_kv_env_check_process(const struct vcm_kv_env *env, const struct vcm_kv_options *options,
                             struct vcm_error *err)
{
    if (!vcm_kv_env_is_forked(env))
        return VCM_OK;
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "the store in '%s' was opened before a fork; the child must open it "
                         "itself",
                         options->directory);
}

/* LMDB unmaps before it maps again and cannot go back, so the address space is reserved first as a
 * test. */
static bool address_space_has(size_t bytes)
{
    void *probe = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED)
        return false;
    munmap(probe, bytes);
    return true;
}

/* Maps `want` bytes, or less where address space is short, but not less than `least`. */
static int move_map(struct vcm_kv_env *env, size_t want, size_t least)
{
    size_t size = want;
    while (!address_space_has(size)) {
        if (size - least < PAGE_BYTES)
            return ENOMEM;
        size = least + (size - least) / 2 / PAGE_BYTES * PAGE_BYTES;
    }
    int code = mdb_env_set_mapsize(env->mdb, size);
    atomic_store(&env->map_start, NULL);
    env->map_number = atomic_fetch_add(&maps, 1) + 1;
    if (code != 0)
        env->lost = true;
    return code;
}

int vcm_kv_env_resize(struct vcm_kv_env *env, const struct vcm_kv_options *options, bool grow,
                      struct vcm_error *err)
{
    MDB_envinfo info;
    int code;

    if (!vcm_kv_door_shut_all(env))
        return vcm_error_set(err, VCM_STORE_BUSY,
                             "the map of the store in '%s' has to grow while this process is "
                             "reading or views pages; try again",
                             options->directory);
    mdb_env_info(env->mdb, &info);
    size_t now = info.me_mapsize;
    size_t want = now;
    if (grow) {
        want = now < options->map_bytes_max / 2 ? now * 2 : options->map_bytes_max;
        code = want <= now ? MDB_MAP_FULL : move_map(env, want, now + PAGE_BYTES);
    } else {
        size_t need = (info.me_last_pgno + 1) * PAGE_BYTES;
        while (want < need)
            want *= 2;
        code = want == now ? 0 : move_map(env, want, need);
    }
    vcm_kv_door_open_all(env);
    return code == 0 ? VCM_OK : vcm_kv_env_fail(options, code, err);
}

/* Whether the data file has all pages that its header claims. Reading beyond its end would raise
 * SIGBUS. */
static bool file_is_whole(struct vcm_kv_env *env, off_t *need)
{
    MDB_envinfo info;
    struct stat file;
    int fd;

    mdb_env_info(env->mdb, &info);
    mdb_env_get_fd(env->mdb, &fd);
    *need = (off_t)((info.me_last_pgno + 1) * PAGE_BYTES);
    return fstat(fd, &file) == 0 && file.st_size >= *need;
}

/* LMDB does not write pages that were allocated and freed in one transaction. At the end of the
 * file this leaves it shorter than its header says, as if it were truncated, so it is extended. */
void vcm_kv_env_complete_file(struct vcm_kv_env *env)
{
    off_t need;
    int fd;

    if (file_is_whole(env, &need))
        return;
    mdb_env_get_fd(env->mdb, &fd);
    if (ftruncate(fd, need) == 0)
        fsync(fd);
}

static int damaged(const struct vcm_kv_options *options, const char *what, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_STORE_CORRUPT, "the store in '%s' is damaged: %s",
                         options->directory, what);
}

/* The caller holds the writers' lock, so no writer is between its commit and
 * vcm_kv_env_complete_file(); if a writer died there, the lock reports it. */
static int complete_after_death(struct vcm_kv_env *env, const struct vcm_kv_options *options,
                                const struct vcm_kv_lock *lock, struct vcm_error *err)
{
    off_t need;

    if (lock->previous_died)
        vcm_kv_env_complete_file(env);
    return file_is_whole(env, &need) ? VCM_OK : damaged(options, "its data file is truncated", err);
}

/* A file that is too short is truncated, unless a writer is between its commit and
 * vcm_kv_env_complete_file(), or was killed there. */
static int check_file(struct vcm_kv_env *env, const struct vcm_kv_options *options,
                      const struct vcm_kv_lock *held, struct vcm_error *err)
{
    struct vcm_kv_lock lock;
    off_t need;

    if (options->salvage) /* as much as there is */
        return VCM_OK;
    for (int i = 0; i < TAIL_TRIES; i++) {
        if (file_is_whole(env, &need))
            return VCM_OK;
        vcm_clock_sleep_ms(TAIL_NAP_MS);
    }
    if (env->read_only)
        return damaged(options, "its data file is truncated", err);
    if (held)
        return complete_after_death(env, options, held, err);
    int rc = vcm_kv_lock_take(&lock, options->lock_path, VCM_LIMIT_LOCK_TIMEOUT_MS, NULL,
                              options->log, err);
    if (rc != VCM_OK)
        return rc;
    rc = complete_after_death(env, options, &lock, err);
    vcm_kv_lock_release(&lock);
    return rc;
}

/* Opens with as much address space as the system grants. Returns LMDB's code. */
static int open_mapped(MDB_env **out, const char *directory, const struct vcm_kv_options *options,
                       unsigned flags)
{
    size_t size = options->map_bytes;
    for (;;) {
        MDB_env *mdb;
        int code = mdb_env_create(&mdb);
        if (code != 0)
            return code;
        vcm_kv_reader_number(mdb);
        mdb_env_set_maxdbs(mdb, VCM_LIMIT_TABLES);
        mdb_env_set_maxreaders(mdb, options->readers_max);
        mdb_env_set_mapsize(mdb, size);
        code = mdb_env_open(mdb, directory, MDB_NOTLS | flags, 0644);
        if (code == 0) {
            *out = mdb;
            return 0;
        }
        mdb_env_close(mdb);
        bool too_large = code == ENOMEM || code == EINVAL; /* EINVAL under valgrind */
        if (!too_large || size / 2 < MAP_FLOOR)
            return code;
        size /= 2;
    }
}

/* LMDB writes its lock file through a map, where a full disk raises SIGBUS: so the space is
 * allocated first. When that fails, LMDB itself reports what is wrong with the file. This process
 * holds no locks on the file yet, which closing the descriptor would drop. */
static int reserve_lock_file(const char *directory, const struct vcm_kv_options *options)
{
    char path[VCM_LIMIT_PATH_BYTES];
    size_t bytes = PAGE_BYTES + READER_BYTES * options->readers_max;
    int len = snprintf(path, sizeof path, "%s/lock.mdb", directory);
    int fd = len > 0 && (size_t)len < sizeof path
                 ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644)
                 : -1;

    if (fd < 0)
        return 0;
    int code = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes) == 0 ? 0 : errno;
    close(fd);
    return vcm_error_is_full(code) ? code : 0;
}

/* Readers also open for writing where they may, because a writer of this process may share the
 * environment. Without a writable lock file other processes do not see our readers; values are
 * still checked. */
static int open_as_permitted(struct vcm_kv_env *env, const char *directory,
                             const struct vcm_kv_options *options)
{
    if (options->salvage) {
        env->read_only = true;
        return open_mapped(&env->mdb, directory, options, MDB_RDONLY | MDB_NOLOCK);
    }
    int code = reserve_lock_file(directory, options);
    if (code == 0)
        code = open_mapped(&env->mdb, directory, options, 0);
    if (!options->read_only || !vcm_error_is_denial(code))
        return code;
    env->read_only = true;
    code = open_mapped(&env->mdb, directory, options, MDB_RDONLY);
    if (vcm_error_is_denial(code))
        code = open_mapped(&env->mdb, directory, options, MDB_RDONLY | MDB_NOLOCK);
    return code;
}

static void env_free(struct vcm_kv_env *env)
{
    if (env->mdb)
        mdb_env_close(env->mdb);
    vcm_kv_users_leave(&env->user);
    pthread_mutex_destroy(&env->tables_mutex);
    free(env);
}

static struct vcm_kv_env *env_new(void)
{
    struct vcm_kv_env *env = calloc(1, sizeof *env);

    if (!env)
        return NULL;
    pthread_mutex_init(&env->tables_mutex, NULL);
    atomic_init(&env->references, 1);
    env->hold.env = env;
    env->map_number = atomic_fetch_add(&maps, 1) + 1;
    env->forks = vcm_process_forks();
    env->user.fd = -1;
    return env;
}

static int env_open(struct vcm_kv_env **out, const char *directory,
                    const struct vcm_kv_options *options, const struct vcm_kv_lock *held,
                    struct vcm_error *err)
{
    struct vcm_kv_env *env = env_new();
    struct stat file = {0};
    int fd;

    if (!env)
        return vcm_error_memory(err);
    if (!options->salvage) /* its death is expected */
        vcm_kv_users_enter(&env->user, options->directory);
    int code = open_as_permitted(env, directory, options);
    if (code == 0)
        code = mdb_env_get_fd(env->mdb, &fd);
    if (code == 0 && fstat(fd, &file) != 0)
        code = errno;
    int rc = code == 0 ? check_file(env, options, held, err) : vcm_kv_env_fail(options, code, err);
    if (rc != VCM_OK) {
        env_free(env);
        return rc;
    }
    env->device = file.st_dev;
    env->inode = file.st_ino;
    env->next = environments;
    environments = env;
    *out = env;
    return VCM_OK;
}

static int env_share(struct vcm_kv_env *env, const struct vcm_kv_options *options,
                     struct vcm_error *err)
{
    if (env->read_only && !options->read_only)
        return vcm_kv_env_fail(options, EACCES, err);
    vcm_kv_env_retain(env);
    return VCM_OK;
}

/* A disk that ran full while the header was written leaves a file that LMDB refuses; LMDB
 * initialises an empty file. No other process can have made a store of the partial header
 * meanwhile. */
static void forget_stillborn(const char *path)
{
    struct stat file;

    if (stat(path, &file) == 0 && S_ISREG(file.st_mode) && file.st_size < (off_t)HEADER_BYTES &&
        truncate(path, 0) != 0)
        unlink(path);
}

/* Checks the data file without opening it, because it may be a FIFO. `*exists` is false for a
 * missing or empty file, which LMDB initialises when it opens it for writing. */
static int find_file(bool *exists, struct stat *file, char path[VCM_LIMIT_PATH_BYTES],
                     const char *directory, const struct vcm_kv_options *options,
                     struct vcm_error *err)
{
    int len = snprintf(path, VCM_LIMIT_PATH_BYTES, "%s/data.mdb", directory);

    *exists = false;
    if (len < 0 || (size_t)len >= VCM_LIMIT_PATH_BYTES)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the path '%s' is too long",
                             options->directory);
    if (stat(path, file) != 0) {
        if (errno == ENOENT)
            return VCM_OK;
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open the store in '%s'",
                             options->directory);
    }
    if (!S_ISREG(file->st_mode))
        return damaged(options, "its data.mdb is no regular file", err);
    *exists = file->st_size > 0;
    return VCM_OK;
}

static int acquire(struct vcm_kv_env **out, const char *directory, bool create,
                   const struct vcm_kv_options *options, const struct vcm_kv_lock *held,
                   struct vcm_error *err)
{
    char path[VCM_LIMIT_PATH_BYTES];
    struct stat file;
    bool exists;

    int rc = find_file(&exists, &file, path, directory, options, err);
    if (rc != VCM_OK)
        return rc;
    if (!exists && (!create || access(directory, F_OK) != 0))
        return VCM_NOT_FOUND;
    /* An environment that the parent opened belongs to the parent and stays in the child's list
     * unused. */
    for (struct vcm_kv_env *env = environments; exists && env; env = env->next) {
        if (env->device == file.st_dev && env->inode == file.st_ino && !vcm_kv_env_is_forked(env)) {
            *out = env;
            return env_share(env, options, err);
        }
    }
    rc = env_open(out, directory, options, held, err);
    if (rc != VCM_OK && !exists)
        forget_stillborn(path);
    return rc;
}

int vcm_kv_env_acquire(struct vcm_kv_env **out, const char *directory, bool create,
                       const struct vcm_kv_options *options, const struct vcm_kv_lock *held,
                       struct vcm_error *err)
{
    struct vcm_kv_env *env = NULL;

    pthread_once(&forks_once, watch_forks);
    pthread_mutex_lock(&environments_mutex);
    int rc = acquire(&env, directory, create, options, held, err);
    pthread_mutex_unlock(&environments_mutex);
    *out = rc == VCM_OK ? env : NULL;
    return rc;
}

void vcm_kv_env_retain(struct vcm_kv_env *env)
{
    unsigned references = atomic_fetch_add(&env->references, 1);

    assert(references > 0 && "the caller has a reference or is inside");
    (void)references;
}

/* The last reference is dropped under the mutex, so that no other thread finds an environment in
 * the list that is being closed. */
void vcm_kv_env_release(struct vcm_kv_env *env)
{
    /* In a forked child, closing would free the parent's reader slots. */
    if (!env || vcm_kv_env_is_forked(env))
        return;
    unsigned references = atomic_load(&env->references);
    while (references > 1)
        if (atomic_compare_exchange_weak(&env->references, &references, references - 1))
            return;
    pthread_mutex_lock(&environments_mutex);
    if (atomic_fetch_sub(&env->references, 1) == 1) {
        assert(!env->doors && atomic_load(&env->holds) == 0);
        struct vcm_kv_env **link = &environments;
        while (*link != env)
            link = &(*link)->next;
        *link = env->next;
        env_free(env);
    }
    pthread_mutex_unlock(&environments_mutex);
}
