#include "lfs/object.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/path.h"
#include "git/layout.h"

#include "base/banned.h"

#define OBJECT_PATH_MAX (VCM_LIMIT_PATH_BYTES + 128)

struct vcm_lfs_objects {
    struct vcm_buf directory; /* that holds "aa/bb/<oid>" */
};

/* A relative lfs.storage is one below the git directory. */
static int find_directory(struct vcm_buf *out, struct vcm_git_repo *repo, struct vcm_error *err)
{
    struct vcm_buf common = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf storage = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf lfs = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    int rc = vcm_git_layout_common_directory(&common, repo, err);
    if (rc == VCM_OK)
        rc = vcm_git_layout_setting(&storage, repo, "lfs.storage", err);
    if (rc == VCM_OK) {
        if (storage.len > 0 && storage.data[0] == '/')
            vcm_buf_append_slice(&lfs, vcm_buf_slice(&storage));
        else
            vcm_path_join(&lfs, vcm_buf_text(&common),
                          storage.len > 0 ? vcm_buf_text(&storage) : "lfs");
        vcm_path_join(out, vcm_buf_text(&lfs), "objects");
        rc = vcm_buf_check(out, "the path of the LFS objects", err);
    }
    vcm_buf_release(&common);
    vcm_buf_release(&storage);
    vcm_buf_release(&lfs);
    return rc;
}

int vcm_lfs_objects_open(struct vcm_lfs_objects **out, struct vcm_git_repo *repo,
                         struct vcm_error *err)
{
    *out = NULL;
    struct vcm_lfs_objects *objects = calloc(1, sizeof *objects);
    if (!objects)
        return vcm_error_memory(err);
    vcm_buf_init(&objects->directory, VCM_LIMIT_PATH_BYTES);
    int rc = find_directory(&objects->directory, repo, err);
    if (rc == VCM_OK)
        *out = objects;
    else
        vcm_lfs_objects_close(objects);
    return rc;
}

void vcm_lfs_objects_close(struct vcm_lfs_objects *objects)
{
    if (!objects)
        return;
    vcm_buf_release(&objects->directory);
    free(objects);
}

static int path_of(struct vcm_buf *out, const struct vcm_lfs_objects *objects,
                   const struct vcm_lfs_pointer *pointer, struct vcm_error *err)
{
    char oid[2 * VCM_HASH_SHA256_BYTES + 1];

    vcm_hash_to_hex(oid, pointer->oid, sizeof pointer->oid);
    vcm_buf_append_format(out, "%s/%.2s/%.2s/%s", vcm_buf_text(&objects->directory), oid, oid + 2,
                          oid);
    return vcm_buf_check(out, "the path of an LFS object", err);
}

/* Git-lfs keeps no file for an empty content. */
static bool is_empty(const struct vcm_lfs_pointer *pointer)
{
    unsigned char empty[VCM_HASH_SHA256_BYTES];

    vcm_hash_sha256_of(empty, vcm_slice_of("", 0));
    return pointer->size == 0 && memcmp(empty, pointer->oid, sizeof empty) == 0;
}

int vcm_lfs_object_exists(bool *exists, const struct vcm_lfs_objects *objects,
                          const struct vcm_lfs_pointer *pointer, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(OBJECT_PATH_MAX);
    struct stat status;

    *exists = is_empty(pointer);
    if (*exists)
        return VCM_OK;
    int rc = path_of(&path, objects, pointer, err);
    if (rc == VCM_OK)
        *exists = stat(vcm_buf_text(&path), &status) == 0;
    if (rc == VCM_OK && !*exists && errno != ENOENT && errno != ENOTDIR)
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot look at '%s'", vcm_buf_text(&path));
    vcm_buf_release(&path);
    return rc;
}

int vcm_lfs_object_read(struct vcm_buf *out, const struct vcm_lfs_objects *objects,
                        const struct vcm_lfs_pointer *pointer, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(OBJECT_PATH_MAX);
    unsigned char oid[VCM_HASH_SHA256_BYTES];
    size_t before = out->len;

    if (is_empty(pointer))
        return VCM_OK;
    if (pointer->size > out->max - before)
        return vcm_error_set(err, VCM_UNSUPPORTED, "an LFS object of %llu bytes is too large",
                             (unsigned long long)pointer->size);
    int rc = path_of(&path, objects, pointer, err);
    struct vcm_error failed = {0};
    if (rc == VCM_OK)
        rc = vcm_path_read_file(out, vcm_buf_text(&path), (size_t)pointer->size, &failed);
    if (rc == VCM_OK) {
        vcm_hash_sha256_of(oid, vcm_slice_of(out->data + before, out->len - before));
        if (out->len - before != pointer->size || memcmp(oid, pointer->oid, sizeof oid) != 0)
            rc = VCM_UNSUPPORTED;
    }
    if (rc == VCM_UNSUPPORTED)
        rc = vcm_error_set(err, VCM_STORE_CORRUPT, "'%s' is not the content that LFS put there",
                           vcm_buf_text(&path));
    else if (rc != VCM_OK && failed.code != VCM_OK && err)
        *err = failed;
    if (rc != VCM_OK)
        vcm_buf_truncate(out, before);
    vcm_buf_release(&path);
    return rc;
}
