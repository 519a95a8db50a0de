#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/path.h"
#include "git/clone.h"
#include "git/clone_place.h"

#include "base/banned.h"

#define CLONE_ENDING ".git"
#define LOCK_ENDING  ".git.lock"
#define OPEN_FILES   16

struct drop {
    struct vcm_git_clone_drops *counts;
    const struct vcm_cancel *cancel;
    int64_t before; /* clones that were used before this may be dropped, in Unix seconds */
    bool (*is_used)(void *context, const char *path);
    void *context;
};

static bool ends_with(const char *text, const char *ending)
{
    size_t len = strlen(text), tail = strlen(ending);

    return len > tail && strcmp(text + len - tail, ending) == 0;
}

/* nftw() has no context; a thread drops clones one after the other. */
static _Thread_local uint64_t bytes_seen;

static int add_bytes(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)path;
    (void)where;
    if (kind == FTW_F)
        bytes_seen += (uint64_t)status->st_size;
    return 0;
}

static uint64_t size_of(const char *path)
{
    bytes_seen = 0;
    nftw(path, add_bytes, OPEN_FILES, FTW_PHYS | FTW_MOUNT);
    return bytes_seen;
}

static bool may_go(const struct drop *drop, const char *path)
{
    int64_t used_at = vcm_git_clone_place_used_at(path);

    return used_at == 0 || (used_at < drop->before && !drop->is_used(drop->context, path));
}

/* The lock is held. A process that is killed here leaves a clone that counts as unfinished. */
static int remove_clone(const struct drop *drop, const char *path, const char *lock_path,
                        struct vcm_error *err)
{
    uint64_t bytes = size_of(path);

    int rc = vcm_git_clone_place_unmake(path, err);
    if (rc == VCM_OK && unlink(lock_path) != 0 && errno != ENOENT)
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot remove '%s'", lock_path);
    if (rc == VCM_OK) {
        drop->counts->dropped++;
        drop->counts->bytes += bytes;
    }
    return rc;
}

static int consider(const struct drop *drop, const char *path, struct vcm_error *err)
{
    struct vcm_buf lock_path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_error busy = {0};
    struct vcm_kv_lock lock;
    struct stat status;
    int rc = VCM_OK;

    if (lstat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return VCM_OK;
    if (!may_go(drop, path)) {
        drop->counts->kept++;
        return VCM_OK;
    }
    vcm_buf_append_format(&lock_path, "%s.lock", path);
    int taken = vcm_kv_lock_take(&lock, vcm_buf_text(&lock_path), 0, drop->cancel, NULL, &busy);
    /* Another process may have fetched into it meanwhile. */
    if (taken == VCM_OK && may_go(drop, path))
        rc = remove_clone(drop, path, vcm_buf_text(&lock_path), err);
    else
        drop->counts->kept++;
    if (taken == VCM_OK)
        vcm_kv_lock_release(&lock);
    vcm_buf_release(&lock_path);
    return rc;
}

/* A fetch that failed left only the lock file. */
static void remove_lock(const char *path)
{
    struct vcm_buf clone = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_error busy = {0};
    struct vcm_kv_lock lock;

    vcm_buf_append(&clone, path, strlen(path) - strlen(".lock"));
    if (access(vcm_buf_text(&clone), F_OK) != 0 &&
        vcm_kv_lock_take(&lock, path, 0, NULL, NULL, &busy) == VCM_OK) {
        if (access(vcm_buf_text(&clone), F_OK) != 0)
            unlink(path);
        vcm_kv_lock_release(&lock);
    }
    vcm_buf_release(&clone);
}

static int consider_entry(const struct drop *drop, const char *directory, const char *name,
                          struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&path, directory, name);
    int rc = vcm_buf_check(&path, "the path of a clone", err);
    if (rc == VCM_OK)
        rc = vcm_cancel_check(drop->cancel, err);
    if (rc == VCM_OK && ends_with(name, CLONE_ENDING))
        rc = consider(drop, vcm_buf_text(&path), err);
    else if (rc == VCM_OK && ends_with(name, LOCK_ENDING))
        remove_lock(vcm_buf_text(&path));
    vcm_buf_release(&path);
    return rc;
}

int vcm_git_clone_drop_unused(struct vcm_git_clone_drops *out, const struct vcm_git_clones *clones,
                              uint64_t unused_s, bool (*is_used)(void *context, const char *path),
                              void *context, struct vcm_error *err)
{
    const struct drop drop = {out, clones->cancel, (int64_t)time(NULL) - (int64_t)unused_s, is_used,
                              context};
    int rc = VCM_OK;

    memset(out, 0, sizeof *out);
    char *real = realpath(clones->directory, NULL);
    if (!real)
        return VCM_OK;
    DIR *directory = opendir(real);
    if (!directory)
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot read the directory '%s'", real);
    for (const struct dirent *entry; rc == VCM_OK && (entry = readdir(directory));)
        rc = consider_entry(&drop, real, entry->d_name, err);
    if (directory)
        closedir(directory);
    free(real);
    return rc;
}

void vcm_git_clone_drop_postpone(const struct vcm_git_clones *clones, const char *path)
{
    char *real = realpath(clones->directory, NULL);
    size_t len = real ? strlen(real) : 0;

    if (len > 0 && strncmp(path, real, len) == 0 && path[len] == '/' &&
        !strchr(path + len + 1, '/') && vcm_git_clone_place_used_at(path) > 0)
        vcm_git_clone_place_touch(path);
    free(real);
}
