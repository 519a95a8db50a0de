#include "sources/blob_reader.h"

#include <stdlib.h>
#include <string.h>

#include "git/blob.h"
#include "git/tree.h"
#include "lfs/objects.h"

#include "base/banned.h"

struct vcm_blob_reader {
    struct vcm_git_repo *repo;
    struct vcm_lfs_objects *objects; /* NULL until the first pointer */
};

static int finish(struct vcm_blob_reader **out, struct vcm_blob_reader *reader, int rc)
{
    if (rc == VCM_OK)
        *out = reader;
    else
        vcm_blob_reader_close(reader);
    return rc;
}

int vcm_blob_reader_open(struct vcm_blob_reader **out, const char *root, struct vcm_error *err)
{
    struct vcm_blob_reader *reader = calloc(1, sizeof *reader);

    *out = NULL;
    if (!reader)
        return vcm_error_memory(err);
    return finish(out, reader, vcm_git_repo_open(&reader->repo, root, err));
}

int vcm_blob_reader_open_again(struct vcm_blob_reader **out, const struct vcm_git_repo *repo,
                               struct vcm_error *err)
{
    struct vcm_blob_reader *reader = calloc(1, sizeof *reader);

    *out = NULL;
    if (!reader)
        return vcm_error_memory(err);
    return finish(out, reader, vcm_git_repo_open_again(&reader->repo, repo, err));
}

void vcm_blob_reader_close(struct vcm_blob_reader *reader)
{
    if (!reader)
        return;
    vcm_lfs_objects_close(reader->objects);
    vcm_git_repo_close(reader->repo);
    free(reader);
}

struct vcm_git_repo *vcm_blob_reader_repo(const struct vcm_blob_reader *reader)
{
    return reader->repo;
}

/* A fault of one object fails that item alone. Running out of memory fails the walk. */
static int fail_item(struct vcm_source_content *content, int rc, struct vcm_error *err)
{
    if (rc == VCM_INTERNAL)
        return rc;
    content->outcome = VCM_SOURCE_FAILED;
    content->reason = rc == VCM_NOT_FOUND ? VCM_REASON_OBJECT_MISSING : VCM_REASON_OBJECT_DAMAGED;
    vcm_error_reset(err);
    return VCM_OK;
}

static void leave_out(struct vcm_source_content *content, enum vcm_source_outcome outcome,
                      enum vcm_reason reason)
{
    content->outcome = outcome;
    content->reason = reason;
    vcm_buf_clear(&content->text);
}

/* Replaces a pointer by the content that it names. */
static int read_lfs(struct vcm_source_content *content, struct vcm_blob_reader *reader,
                    const struct vcm_lfs_pointer *pointer, size_t size_max, struct vcm_error *err)
{
    struct vcm_error failed = {0};
    bool exists = false;
    int rc = VCM_OK;

    if (!reader->objects)
        rc = vcm_lfs_objects_open(&reader->objects, reader->repo, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_lfs_objects_has(&exists, reader->objects, pointer, &failed);
    if (rc == VCM_OK && !exists)
        rc = VCM_NOT_FOUND;
    if (rc == VCM_OK && pointer->size > size_max) {
        leave_out(content, VCM_SOURCE_TOO_LARGE, VCM_REASON_NONE);
        return VCM_OK;
    }
    if (rc == VCM_OK && pointer->extensions > 0) {
        leave_out(content, VCM_SOURCE_FAILED, VCM_REASON_LFS_EXTENSION);
        return VCM_OK;
    }
    vcm_buf_clear(&content->text);
    if (rc == VCM_OK)
        rc = vcm_lfs_objects_read(&content->text, reader->objects, pointer, &failed);
    if (rc == VCM_OK)
        return rc;
    if (rc == VCM_INTERNAL) {
        if (err)
            *err = failed;
        return rc;
    }
    if (rc == VCM_NOT_FOUND)
        leave_out(content, VCM_SOURCE_LFS_MISSING, VCM_REASON_NONE);
    else
        leave_out(content, VCM_SOURCE_FAILED,
                  rc == VCM_STORE_CORRUPT ? VCM_REASON_LFS_CORRUPT : VCM_REASON_LFS_UNREADABLE);
    return VCM_OK;
}

int vcm_blob_reader_read(struct vcm_source_content *content, struct vcm_blob_reader *reader,
                         const struct vcm_source_item *item, size_t size_max, struct vcm_error *err)
{
    struct vcm_lfs_pointer pointer;
    struct vcm_git_id id;
    uint64_t size = 0;

    memcpy(id.bytes, item->content_id, sizeof id.bytes);
    size_t bytes_max =
        content->bytes_max > 0 && content->bytes_max < size_max ? content->bytes_max : size_max;
    int rc = (content->unverified ? vcm_git_blob_read_unverified : vcm_git_blob_read_upto)(
        &content->text, &size, reader->repo, &id, bytes_max, err);
    if (rc != VCM_OK)
        return fail_item(content, rc, err);
    if (size > bytes_max) {
        content->outcome = size > size_max ? VCM_SOURCE_TOO_LARGE : VCM_SOURCE_PAGED;
        content->postponed = content->outcome == VCM_SOURCE_PAGED;
        return VCM_OK;
    }
    content->outcome = VCM_SOURCE_PAGED;
    if (size <= VCM_LFS_POINTER_BYTES_MAX &&
        vcm_lfs_pointer_parse(&pointer, vcm_buf_slice(&content->text)))
        return read_lfs(content, reader, &pointer, size_max, err);
    return VCM_OK;
}
