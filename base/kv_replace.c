#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/kv_handle.h"

#include "base/banned.h"

#define NEW ".new"

static int fail(const struct vcm_kv_replacement *replacement, int code, struct vcm_error *err)
{
    return vcm_error_sys(err, code == ENOSPC || code == EDQUOT ? VCM_STORE_FULL : VCM_IO_ERROR,
                         code, "cannot replace the damaged store in '%s'", replacement->directory);
}

static int sync_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return errno;
    int code = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    return code;
}

/* Puts the new file under its own name; it is not in use yet. */
static int install(const struct vcm_kv_replacement *replacement,
                   const struct vcm_kv_generation *generation, uint64_t number)
{
    char made[VCM_LIMIT_PATH_BYTES], final[VCM_LIMIT_PATH_BYTES], data[VCM_LIMIT_PATH_BYTES];

    if (!vcm_kv_generation_path(made, generation, number, NEW) ||
        !vcm_kv_generation_path(final, generation, number, ""))
        return ENAMETOOLONG;
    int len = snprintf(data, sizeof data, "%s/data.mdb", made);
    if (len < 0 || (size_t)len >= sizeof data)
        return ENAMETOOLONG;
    int code = sync_file(replacement->fresh);
    if (code == 0 && (mkdir(made, 0755) != 0 || rename(replacement->fresh, data) != 0))
        code = errno;
    if (code == 0)
        code = vcm_kv_generation_sync(made);
    if (code == 0 && rename(made, final) != 0)
        code = errno;
    return code == 0 ? vcm_kv_generation_sync(generation->directory) : code;
}

/* Whatever a damaged store has in place of the file `generation`, there is a number afterwards. */
static int prepare(const struct vcm_kv_generation *generation, struct vcm_error *err)
{
    char path[VCM_LIMIT_PATH_BYTES];

    if (vcm_kv_generation_prepare(generation, NULL) == VCM_OK)
        return VCM_OK;
    int len = snprintf(path, sizeof path, "%s/generation", generation->directory);
    if (len > 0 && (size_t)len < sizeof path && unlink(path) != 0 && errno != ENOENT)
        rmdir(path);
    return vcm_kv_generation_prepare(generation, err);
}

/* The new file is in use: a failure is only logged. */
static void keep_former(const struct vcm_kv_replacement *replacement,
                        const struct vcm_kv_generation *generation, uint64_t number)
{
    char path[VCM_LIMIT_PATH_BYTES], data[VCM_LIMIT_PATH_BYTES];
    int len = vcm_kv_generation_path(path, generation, number, "")
                  ? snprintf(data, sizeof data, "%s/data.mdb", path)
                  : -1;

    if (len < 0 || (size_t)len >= sizeof data ||
        (rename(data, replacement->aside) != 0 && errno != ENOENT))
        vcm_log_write(replacement->log, VCM_LOG_WARNING,
                      "the damaged store could not be kept as '%s'", replacement->aside);
}

/* The caller holds the writers' lock. */
static int replace(const struct vcm_kv_replacement *replacement, struct vcm_error *err)
{
    struct vcm_kv_generation generation;

    vcm_kv_generation_open(&generation, replacement->directory, false);
    int rc = prepare(&generation, err);
    const uint64_t former = vcm_kv_generation_now(&generation);
    const uint64_t next = former < UINT64_MAX ? former + 1 : 1;
    if (rc == VCM_OK)
        rc = replacement->make(replacement->context, next, err);
    if (rc == VCM_OK) {
        vcm_kv_generation_sweep(&generation, former);
        int code = install(replacement, &generation, next);
        rc = code == 0 ? vcm_kv_generation_raise(&generation, next, err)
                       : fail(replacement, code, err);
    }
    if (rc == VCM_OK) {
        keep_former(replacement, &generation, former);
        vcm_kv_generation_sweep(&generation, next);
    }
    vcm_kv_generation_close(&generation);
    return rc;
}

int vcm_kv_replace(const struct vcm_kv_replacement *replacement, unsigned timeout_ms,
                   const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct vcm_kv_lock lock;

    int rc =
        vcm_kv_lock_take(&lock, replacement->lock_path, timeout_ms, cancel, replacement->log, err);
    if (rc != VCM_OK)
        return rc;
    rc = replace(replacement, err);
    vcm_kv_lock_release(&lock);
    return rc;
}
