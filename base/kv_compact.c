#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/kv_handle.h"

#include "base/banned.h"

#define NEW ".new"

/* Copies what is in use. Returns LMDB's code. */
static int copy_to(uint64_t *bytes, const char *directory, struct vcm_kv_env *env)
{
    char path[VCM_LIMIT_PATH_BYTES];
    struct stat file = {0};
    int dead;

    int len = snprintf(path, sizeof path, "%s/data.mdb", directory);
    if (len < 0 || (size_t)len >= sizeof path)
        return ENAMETOOLONG;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno;
    int code = mdb_env_copyfd2(env->mdb, fd, MDB_CP_COMPACT);
    if (code == MDB_READERS_FULL) { /* nothing was written yet */
        vcm_kv_door_drop_idle(env);
        mdb_reader_check(env->mdb, &dead);
        code = mdb_env_copyfd2(env->mdb, fd, MDB_CP_COMPACT);
    }
    if (code == 0 && (fsync(fd) != 0 || fstat(fd, &file) != 0))
        code = errno;
    if (close(fd) != 0 && code == 0)
        code = errno;
    if (code == 0)
        *bytes = (uint64_t)file.st_size;
    return code;
}

/* Writes the next generation completely to disk, under its own name; it is not in use yet. */
static int make_next(uint64_t *bytes, const struct vcm_kv_generation *generation,
                     const struct vcm_kv_door *door)
{
    char made[VCM_LIMIT_PATH_BYTES], final[VCM_LIMIT_PATH_BYTES];

    if (!vcm_kv_generation_path(made, generation, door->generation + 1, NEW) ||
        !vcm_kv_generation_path(final, generation, door->generation + 1, ""))
        return ENAMETOOLONG;
    if (mkdir(made, 0755) != 0)
        return errno;
    int code = copy_to(bytes, made, door->env);
    if (code == 0)
        code = vcm_kv_generation_sync(made);
    if (code == 0 && rename(made, final) != 0)
        code = errno;
    return code == 0 ? vcm_kv_generation_sync(generation->directory) : code;
}

static int old_bytes(uint64_t *bytes, struct vcm_kv_env *env)
{
    struct stat file = {0};
    int fd;

    int code = mdb_env_get_fd(env->mdb, &fd);
    if (code == 0 && fstat(fd, &file) != 0)
        code = errno;
    if (code == 0)
        *bytes = (uint64_t)file.st_size;
    return code;
}

/* The caller holds the writers' lock and is inside the environment. */
static int compact(struct vcm_kv_compacted *out, struct vcm_kv *kv, const struct vcm_kv_door *door,
                   const struct vcm_cancel *cancel, struct vcm_error *err)
{
    vcm_kv_generation_sweep(&kv->generation, door->generation);
    int rc = vcm_kv_generation_prepare(&kv->generation, err);
    if (rc != VCM_OK)
        return rc;
    int code = door->env->lost ? MDB_PANIC : old_bytes(&out->bytes_before, door->env);
    if (code == 0)
        code = make_next(&out->bytes_after, &kv->generation, door);
    rc = code == 0 ? vcm_cancel_check(cancel, err) : vcm_kv_env_fail(&kv->options, code, err);
    uint64_t current = door->generation;
    if (rc == VCM_OK)
        rc = vcm_kv_generation_raise(&kv->generation, current + 1, err);
    if (rc == VCM_OK)
        current++;
    vcm_kv_generation_sweep(&kv->generation, current);
    return rc;
}

int vcm_kv_compact_copy(struct vcm_kv *kv, const char *directory, struct vcm_error *err)
{
    struct vcm_kv_door *door;
    uint64_t bytes;

    int rc = vcm_kv_handle_enter(&door, kv, NULL, err);
    if (rc != VCM_OK)
        return rc;
    int code = copy_to(&bytes, directory, door->env);
    vcm_kv_door_leave(door);
    return code == 0 ? VCM_OK : vcm_kv_env_fail(&kv->options, code, err);
}

int vcm_kv_compact(struct vcm_kv_compacted *out, struct vcm_kv *kv, unsigned timeout_ms,
                   const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct vcm_kv_lock lock;
    struct vcm_kv_door *door;

    *out = (struct vcm_kv_compacted){0};
    int rc = vcm_kv_handle_lock(&lock, kv, timeout_ms, cancel, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_kv_handle_enter(&door, kv, &lock, err);
    if (rc == VCM_OK) {
        rc = compact(out, kv, door, cancel, err);
        vcm_kv_door_leave(door);
    }
    if (rc == VCM_OK) { /* use the new file: the old one is deleted with its last reader */
        rc = vcm_kv_handle_enter(&door, kv, &lock, err);
        if (rc == VCM_OK)
            vcm_kv_door_leave(door);
    }
    vcm_kv_handle_unlock(&lock);
    return rc;
}
