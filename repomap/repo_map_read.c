#include "repomap/repo_map_read.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/path.h"
#include "git/blob.h"
#include "git/tree.h"
#include "repomap/repo_map.h"

#include "base/banned.h"

#define FOLDER      ".colony"
#define CHUNK_BYTES (16 * VCM_KIB)

static int refuse(const char *why, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_INVALID_REPO_MAP,
                         "%s %s; it must be a plain file of at most %zu "
                         "bytes",
                         VCM_REPO_MAP_PATH, why, VCM_LIMIT_YAML_BYTES);
}

static int find_in_commit(struct vcm_git_entry *entry, bool *found, struct vcm_git_repo *repo,
                          const struct vcm_git_id *commit, struct vcm_error *err)
{
    struct vcm_error reason = {0};
    bool is_directory = false;

    int rc = vcm_git_tree_entry(entry, repo, commit, VCM_REPO_MAP_PATH, &reason);
    *found = rc == VCM_OK;
    if (rc == VCM_OK)
        return VCM_OK;
    if (rc != VCM_NOT_FOUND) {
        if (err)
            *err = reason;
        return rc;
    }
    rc = vcm_git_tree_has_directory(&is_directory, repo, commit, VCM_REPO_MAP_PATH, err);
    if (rc != VCM_OK)
        return rc;
    if (is_directory)
        return refuse("is a directory", err);
    if (vcm_git_tree_entry(entry, repo, commit, FOLDER, NULL) == VCM_OK &&
        entry->kind == VCM_GIT_SYMLINK)
        return refuse("lies behind a symbolic link", err);
    return VCM_OK;
}

int vcm_repo_map_read_commit(struct vcm_buf *out, bool *found, struct vcm_git_repo *repo,
                             const struct vcm_git_id *commit, struct vcm_error *err)
{
    struct vcm_git_entry entry;
    uint64_t size = 0;

    int rc = find_in_commit(&entry, found, repo, commit, err);
    if (rc != VCM_OK || !*found)
        return rc;
    if (entry.kind == VCM_GIT_SYMLINK)
        return refuse("is a symbolic link", err);
    if (entry.kind == VCM_GIT_SUBMODULE)
        return refuse("is a submodule", err);
    rc = vcm_git_blob_size(&size, repo, &entry.id, err);
    if (rc == VCM_OK && size > VCM_LIMIT_YAML_BYTES)
        return refuse("is too large", err);
    return rc == VCM_OK ? vcm_git_blob_read(out, repo, &entry.id, err) : rc;
}

static int read_file(struct vcm_buf *out, int fd, struct vcm_error *err)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot read %s", VCM_REPO_MAP_PATH);
    if (S_ISDIR(status.st_mode))
        return refuse("is a directory", err);
    if (!S_ISREG(status.st_mode))
        return refuse("is no plain file", err);
    size_t start = out->len;
    for (;;) {
        char chunk[CHUNK_BYTES];
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot read %s", VCM_REPO_MAP_PATH);
        if (got == 0)
            return vcm_buf_check(out, VCM_REPO_MAP_PATH, err);
        if (out->len - start + (size_t)got > VCM_LIMIT_YAML_BYTES)
            return refuse("is too large", err);
        vcm_buf_append(out, chunk, (size_t)got);
    }
}

int vcm_repo_map_read_directory(struct vcm_buf *out, bool *found, const char *root,
                                struct vcm_error *err)
{
    struct vcm_error reason = {0};

    *found = false;
    int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root_fd < 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open '%s'", root);
    /* O_NONBLOCK: opening a FIFO must not block before it is refused. */
    int fd = vcm_path_open_beneath(root_fd, VCM_REPO_MAP_PATH, O_RDONLY | O_NONBLOCK, &reason);
    close(root_fd);
    if (fd < 0) {
        if (reason.code == VCM_NOT_FOUND)
            return VCM_OK;
        if (reason.code == VCM_INVALID_ARGUMENT)
            return refuse("is, or lies behind, a symbolic link", err);
        if (err)
            *err = reason;
        return (int)reason.code;
    }
    *found = true;
    int rc = read_file(out, fd, err);
    close(fd);
    return rc;
}
