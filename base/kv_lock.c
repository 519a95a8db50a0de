#include "base/kv_lock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"

#include "base/banned.h"

#define TELL_MIN_MS 100u /* a shorter wait is not logged */
#define NAP_MIN_MS  1u
#define NAP_MAX_MS  50u

static int set_lock(int fd, short type)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &range);
}

/* The process id in the file, or 0. */
static long read_holder(int fd)
{
    char text[24] = "";
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    if (got <= 0)
        return 0;
    long pid = strtol(text, NULL, 10);
    return pid > 0 ? pid : 0;
}

static void describe_holder(char *out, size_t size, int fd)
{
    long pid = read_holder(fd);
    if (pid == 0)
        snprintf(out, size, "another process");
    else if (pid == (long)getpid())
        snprintf(out, size, "another thread of process %ld", pid);
    else
        snprintf(out, size, "process %ld", pid);
}

/* Whether `path` still names the file that we locked: the directory may have been replaced. */
static bool still_there(int fd, const char *path)
{
    struct stat ours, named;
    return fstat(fd, &ours) == 0 && stat(path, &named) == 0 && ours.st_dev == named.st_dev &&
           ours.st_ino == named.st_ino;
}

/* Best effort: only the lock excludes other writers, the name is for messages. */
static void write_holder(struct vcm_kv_lock *lock)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%ld\n", (long)getpid());

    lock->previous_died = read_holder(lock->fd) != 0;
    if (ftruncate(lock->fd, 0) != 0 || pwrite(lock->fd, text, (size_t)len, 0) != (ssize_t)len)
        return;
}

static int open_file(int *fd, const char *path, struct vcm_error *err)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (*fd >= 0)
        return VCM_OK;
    return vcm_error_sys(err, VCM_IO_ERROR, errno,
                         "cannot open the lock file '%s' for writing; give this user write "
                         "permission there or choose another home",
                         path);
}

static int busy(int fd, const char *path, struct vcm_error *err)
{
    char holder[64];
    describe_holder(holder, sizeof holder, fd);
    return vcm_error_set(err, VCM_STORE_BUSY,
                         "the store is being written to: '%s' is held by %s; try again when it "
                         "has finished",
                         path, holder);
}

/* VCM_OK with `*locked` false when another holder has it. */
static int try_lock(bool *locked, int *fd, const char *path, struct vcm_error *err)
{
    *locked = false;
    if (set_lock(*fd, F_WRLCK) != 0) {
        if (errno == EAGAIN || errno == EACCES || errno == EINTR)
            return VCM_OK;
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot lock '%s'", path);
    }
    if (still_there(*fd, path)) {
        *locked = true;
        return VCM_OK;
    }
    close(*fd);
    return open_file(fd, path, err);
}

static void tell_wait(int fd, const struct vcm_log *log)
{
    char holder[64];
    describe_holder(holder, sizeof holder, fd);
    vcm_log_write(log, VCM_LOG_INFO, "waiting for %s, which is writing to the store", holder);
}

int vcm_kv_lock_take(struct vcm_kv_lock *lock, const char *path, unsigned timeout_ms,
                     const struct vcm_cancel *cancel, const struct vcm_log *log,
                     struct vcm_error *err)
{
    uint64_t deadline = vcm_clock_ms() + timeout_ms;
    unsigned pause = 0;
    bool locked;
    int fd;

    int rc = open_file(&fd, path, err);
    while (rc == VCM_OK) {
        rc = try_lock(&locked, &fd, path, err);
        if (rc == VCM_OK && locked) {
            lock->fd = fd;
            write_holder(lock);
            return VCM_OK;
        }
        if (rc == VCM_OK)
            rc = vcm_cancel_check(cancel, err);
        uint64_t now = vcm_clock_ms();
        if (rc == VCM_OK && now >= deadline)
            rc = busy(fd, path, err);
        if (rc == VCM_OK) {
            if (pause == 0 && timeout_ms >= TELL_MIN_MS)
                tell_wait(fd, log);
            pause = pause == 0 ? NAP_MIN_MS : pause * 2 > NAP_MAX_MS ? NAP_MAX_MS : pause * 2;
            vcm_clock_sleep_ms(deadline - now < pause ? deadline - now : pause);
        }
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Unlocks before closing: a child that another thread is forking has a copy of the descriptor, and
 * with it the lock, until it calls exec. */
void vcm_kv_lock_release(struct vcm_kv_lock *lock)
{
    assert(lock->fd >= 0 && "the lock is held");
    int emptied = ftruncate(lock->fd, 0);
    (void)emptied;
    set_lock(lock->fd, F_UNLCK);
    close(lock->fd);
    lock->fd = -1;
}
