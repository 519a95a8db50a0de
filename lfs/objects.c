#include "lfs/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/path.h"
#include "git/layout.h"

#include "base/banned.h"

#define OBJECT_PATH_MAX (4 * VCM_LIMIT_PATH_BYTES)

struct vcm_lfs_objects {
    char *directories[1 + VCM_LIMIT_ALTERNATES]; /* containing "aa/bb/<oid>"; our own first */
    unsigned count;
};

static int add(struct vcm_lfs_objects *objects, const char *lfs, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(OBJECT_PATH_MAX);

    vcm_path_join(&path, lfs, "objects");
    int rc = vcm_buf_check(&path, "the path of the LFS objects", err);
    if (rc == VCM_OK)
        objects->directories[objects->count++] = vcm_buf_detach(&path);
    vcm_buf_release(&path);
    return rc;
}

/* "x/lfs" of "x/objects". */
static int add_alternate(void *context, const char *path, struct vcm_error *err)
{
    struct vcm_slice name = vcm_path_base_name(vcm_slice_of_string(path));
    struct vcm_buf lfs = VCM_BUF_INIT(OBJECT_PATH_MAX);

    vcm_buf_append(&lfs, path, (size_t)(name.data - path));
    vcm_buf_append_string(&lfs, "lfs");
    int rc = vcm_buf_check(&lfs, "the path of the LFS objects", err);
    if (rc == VCM_OK)
        rc = add(context, vcm_buf_text(&lfs), err);
    vcm_buf_release(&lfs);
    return rc;
}

/* A relative lfs.storage is relative to the git directory. */
static int add_own(struct vcm_lfs_objects *out, struct vcm_git_repo *repo, struct vcm_error *err)
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
        rc = vcm_buf_check(&lfs, "the path of the LFS objects", err);
        if (rc == VCM_OK)
            rc = add(out, vcm_buf_text(&lfs), err);
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
    int rc = add_own(objects, repo, err);
    if (rc == VCM_OK)
        rc = vcm_git_layout_each_alternate(repo, add_alternate, objects, err);
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
    for (unsigned i = 0; i < objects->count; i++)
        free(objects->directories[i]);
    free(objects);
}

static int path_of(struct vcm_buf *out, const char *directory,
                   const struct vcm_lfs_pointer *pointer, struct vcm_error *err)
{
    char oid[2 * VCM_HASH_SHA256_BYTES + 1];

    vcm_hash_to_hex(oid, pointer->oid, sizeof pointer->oid);
    vcm_buf_append_format(out, "%s/%.2s/%.2s/%s", directory, oid, oid + 2, oid);
    return vcm_buf_check(out, "the path of an LFS object", err);
}

/* git-lfs has no file for empty content. */
static bool is_empty(const struct vcm_lfs_pointer *pointer)
{
    unsigned char empty[VCM_HASH_SHA256_BYTES];

    vcm_hash_sha256_of(empty, vcm_slice_of("", 0));
    return pointer->size == 0 && memcmp(empty, pointer->oid, sizeof empty) == 0;
}

static int exists_in(bool *exists, const char *directory, const struct vcm_lfs_pointer *pointer,
                     struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(OBJECT_PATH_MAX);
    struct stat status;

    int rc = path_of(&path, directory, pointer, err);
    if (rc == VCM_OK)
        *exists = stat(vcm_buf_text(&path), &status) == 0;
    if (rc == VCM_OK && !*exists && errno != ENOENT && errno != ENOTDIR)
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot look at '%s'", vcm_buf_text(&path));
    vcm_buf_release(&path);
    return rc;
}

int vcm_lfs_objects_has(bool *exists, const struct vcm_lfs_objects *objects,
                        const struct vcm_lfs_pointer *pointer, struct vcm_error *err)
{
    int rc = VCM_OK;

    *exists = is_empty(pointer);
    for (unsigned i = 0; rc == VCM_OK && !*exists && i < objects->count; i++)
        rc = exists_in(exists, objects->directories[i], pointer, err);
    return rc;
}

static int read_from(struct vcm_buf *out, const char *directory,
                     const struct vcm_lfs_pointer *pointer, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(OBJECT_PATH_MAX);
    unsigned char oid[VCM_HASH_SHA256_BYTES];
    struct vcm_error failed = {0};
    size_t before = out->len;

    int rc = path_of(&path, directory, pointer, err);
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

/* Of several failures returns the most specific one: anything but NOT_FOUND. */
int vcm_lfs_objects_read(struct vcm_buf *out, const struct vcm_lfs_objects *objects,
                         const struct vcm_lfs_pointer *pointer, struct vcm_error *err)
{
    struct vcm_error first = {0};
    int worst = VCM_NOT_FOUND;

    if (is_empty(pointer))
        return VCM_OK;
    if (pointer->size > out->max - out->len)
        return vcm_error_set(err, VCM_UNSUPPORTED, "an LFS object of %llu bytes is too large",
                             (unsigned long long)pointer->size);
    for (unsigned i = 0; i < objects->count; i++) {
        struct vcm_error failed = {0};
        int rc = read_from(out, objects->directories[i], pointer, &failed);
        if (rc == VCM_OK)
            return VCM_OK;
        if (i == 0 || (worst == VCM_NOT_FOUND && rc != VCM_NOT_FOUND)) {
            worst = rc;
            first = failed;
        }
    }
    if (err)
        *err = first;
    return worst;
}
