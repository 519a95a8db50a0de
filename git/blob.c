#include "git/blob.h"

#include "base/limits.h"
#include "git/clone_repair.h"
#include "git/internal.h"
#include "git/pack_reader.h"

#include "base/banned.h"

static int refuse_object(struct vcm_git_repo *repo, int git_code, const struct vcm_git_id *id,
                         struct vcm_error *err)
{
    char hex[VCM_GIT_ID_HEX + 1];
    int rc;

    vcm_git_repo_id_to_hex(hex, id);
    if (git_code == GIT_ENOTFOUND)
        rc = vcm_error_set(err, VCM_NOT_FOUND,
                           "the object %s is missing from the repository; 'git fetch' may fetch "
                           "it, 'git fsck' lists what else is missing",
                           hex);
    else
        rc = vcm_git_internal_error(err, git_code, "the object %s is damaged", hex);
    vcm_git_clone_repair_suspect(repo, git_code);
    return rc;
}

int vcm_git_blob_size(uint64_t *size, struct vcm_git_repo *repo, const struct vcm_git_id *id,
                      struct vcm_error *err)
{
    git_object_t type = GIT_OBJECT_INVALID;
    size_t len = 0;
    git_oid oid;

    *size = 0;
    vcm_git_internal_to_oid(&oid, id);
    int git_code = vcm_libgit2.odb_read_header(&len, &type, repo->odb, &oid);
    if (git_code != 0)
        return refuse_object(repo, git_code, id, err);
    if (type != GIT_OBJECT_BLOB) {
        char hex[VCM_GIT_ID_HEX + 1];
        vcm_git_repo_id_to_hex(hex, id);
        return vcm_error_set(err, VCM_UNSUPPORTED, "the object %s is a %s, not a blob", hex,
                             vcm_libgit2.object_type2string(type));
    }
    *size = len;
    return VCM_OK;
}

static bool is_blob(const struct vcm_git_id *id, struct vcm_slice data)
{
    return vcm_git_internal_has_id(id, "blob", data);
}

static void open_packs(struct vcm_git_repo *repo)
{
    git_buf objects = {0};

    repo->packs_opened = true;
    if (vcm_libgit2.repository_item_path(&objects, repo->handle, GIT_REPOSITORY_ITEM_OBJECTS) == 0)
        repo->packs = vcm_git_pack_reader_open(objects.ptr);
    vcm_libgit2.buf_dispose(&objects);
}

static bool read_pack(struct vcm_buf *out, uint64_t *size, struct vcm_git_repo *repo,
                      const struct vcm_git_id *id, uint64_t size_max)
{
    if (!repo->packs_opened)
        open_packs(repo);
    return repo->packs && vcm_git_pack_reader_read(out, size, repo->packs, id, size_max);
}

/* False when libgit2 has to read the blob, or to report what is wrong with it. */
static bool read_packed(struct vcm_buf *out, uint64_t *size, struct vcm_git_repo *repo,
                        const struct vcm_git_id *id, uint64_t size_max)
{
    size_t before = out->len;

    if (!read_pack(out, size, repo, id, size_max))
        return false;
    if (*size > size_max ||
        is_blob(id, vcm_slice_of(out->data ? out->data + before : "", out->len - before)))
        return true;
    vcm_buf_truncate(out, before);
    return false;
}

int vcm_git_blob_read_upto(struct vcm_buf *out, uint64_t *size, struct vcm_git_repo *repo,
                           const struct vcm_git_id *id, uint64_t size_max, struct vcm_error *err)
{
    git_odb_object *object = NULL;
    git_oid oid;

    if (read_packed(out, size, repo, id, size_max))
        return VCM_OK;
    int rc = vcm_git_blob_size(size, repo, id, err);
    if (rc != VCM_OK || *size > size_max)
        return rc;
    /* Checked before libgit2 allocates that much memory: a small object can claim any size. */
    if (!vcm_buf_reserve(out, (size_t)*size))
        return vcm_buf_check(out, "a file of the tree", err);
    vcm_git_internal_to_oid(&oid, id);
    int git_code = vcm_libgit2.odb_read(&object, repo->odb, &oid);
    if (git_code != 0)
        return refuse_object(repo, git_code, id, err);
    struct vcm_slice data =
        vcm_slice_of(vcm_libgit2.odb_object_data(object), vcm_libgit2.odb_object_size(object));
    if (is_blob(id, data)) {
        vcm_buf_append_slice(out, data);
        rc = vcm_buf_check(out, "a file of the tree", err);
    } else {
        vcm_libgit2.error_set_str(GIT_ERROR_ODB,
                                  "hash mismatch: its content is not what its id says");
        rc = refuse_object(repo, GIT_ERROR, id, err);
    }
    vcm_libgit2.odb_object_free(object);
    return rc;
}

int vcm_git_blob_read_unverified(struct vcm_buf *out, uint64_t *size, struct vcm_git_repo *repo,
                                 const struct vcm_git_id *id, uint64_t size_max,
                                 struct vcm_error *err)
{
    return read_pack(out, size, repo, id, size_max)
               ? VCM_OK
               : vcm_git_blob_read_upto(out, size, repo, id, size_max, err);
}

int vcm_git_blob_read(struct vcm_buf *out, struct vcm_git_repo *repo, const struct vcm_git_id *id,
                      struct vcm_error *err)
{
    uint64_t size;

    return vcm_git_blob_read_upto(out, &size, repo, id, UINT64_MAX, err);
}
