#include "git/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/limits.h"
#include "git/internal.h"

#include "base/banned.h"

#define PRIORITY    4 /* above every backend that reads files */
#define CHUNK_BYTES (64 * VCM_KIB)

struct object {
    struct vcm_git_id id;
    git_object_t type;
    uint64_t size, offset;
    bool kept; /* the bytes are in the file, at `offset` */
};

struct vcm_git_overlay {
    unsigned users;
    bool keeps_texts;
    struct vcm_git_repo *repo; /* until it is sealed */
    struct object *objects;    /* by id, once it is sealed */
    size_t count, capacity;
    int fd;
    uint64_t end; /* of what the file holds */
};

struct backend {
    git_odb_backend backend; /* first: libgit2 knows this part */
    struct vcm_git_overlay *overlay;
};

/* A file without a name in TMPDIR, which must not be found through a relative path. */
static int open_file(struct vcm_error *err)
{
    const char *parent = getenv("TMPDIR");
    char name[VCM_LIMIT_PATH_BYTES];

    if (!parent || parent[0] != '/')
        parent = "/tmp";
    int fd = open(parent, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    int len = snprintf(name, sizeof name, "%s/vcm-worktree.XXXXXX", parent);
    if (len > 0 && (size_t)len < sizeof name)
        fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    else
        vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot make a temporary file in '%s'", parent);
    return fd;
}

int vcm_git_overlay_open(struct vcm_git_overlay **out, struct vcm_git_repo *repo, bool keeps_texts,
                         struct vcm_error *err)
{
    struct vcm_git_overlay *overlay = calloc(1, sizeof *overlay);

    *out = NULL;
    if (!overlay)
        return vcm_error_memory(err);
    overlay->users = 1;
    overlay->keeps_texts = keeps_texts;
    overlay->repo = repo;
    overlay->fd = open_file(err);
    if (overlay->fd < 0) {
        free(overlay);
        return VCM_IO_ERROR;
    }
    *out = overlay;
    return VCM_OK;
}

void vcm_git_overlay_close(struct vcm_git_overlay *overlay)
{
    if (!overlay || __atomic_sub_fetch(&overlay->users, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    close(overlay->fd);
    free(overlay->objects);
    free(overlay);
}

static bool is_in_repository(const struct vcm_git_overlay *overlay, const struct vcm_git_id *id)
{
    git_oid oid;

    vcm_git_internal_to_oid(&oid, id);
    return vcm_libgit2.odb_exists_ext(overlay->repo->odb, &oid, GIT_ODB_LOOKUP_NO_REFRESH) == 1;
}

static int add(struct vcm_git_overlay *overlay, const struct object *object, struct vcm_error *err)
{
    int rc = vcm_array_reserve(&overlay->objects, &overlay->capacity, overlay->count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc == VCM_OK)
        overlay->objects[overlay->count++] = *object;
    return rc;
}

static int append(struct vcm_git_overlay *overlay, uint64_t offset, struct vcm_slice bytes,
                  struct vcm_error *err)
{
    if (bytes.len > VCM_LIMIT_OVERLAY_BYTES - offset)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "what the working tree changes has more than %zu bytes",
                             VCM_LIMIT_OVERLAY_BYTES);
    int failed = vcm_io_write_at(overlay->fd, bytes, offset);
    return failed == 0 ? VCM_OK
                       : vcm_error_sys(err, VCM_IO_ERROR, failed,
                                       "cannot keep the working tree's texts in the temporary "
                                       "directory");
}

static void hash_header(struct vcm_hash_sha1 *hash, const char *type, uint64_t size)
{
    char head[48];

    /* The header ends with a NUL that counts. */
    int len = snprintf(head, sizeof head, "%s %llu", type, (unsigned long long)size);
    vcm_hash_sha1_init(hash);
    vcm_hash_sha1_update(hash, head, (size_t)len + 1);
}

static git_object_t type_of(const char *name)
{
    if (strcmp(name, "tree") == 0)
        return GIT_OBJECT_TREE;
    return strcmp(name, "commit") == 0 ? GIT_OBJECT_COMMIT : GIT_OBJECT_BLOB;
}

int vcm_git_overlay_put(struct vcm_git_id *id, struct vcm_git_overlay *overlay, const char *type,
                        struct vcm_slice bytes, struct vcm_error *err)
{
    struct object object = {.type = type_of(type), .size = bytes.len, .offset = overlay->end};
    struct vcm_hash_sha1 hash;

    hash_header(&hash, type, bytes.len);
    vcm_hash_sha1_update(&hash, bytes.data, bytes.len);
    vcm_hash_sha1_final(&hash, object.id.bytes);
    *id = object.id;
    if (is_in_repository(overlay, id))
        return VCM_OK;
    object.kept = overlay->keeps_texts || object.type != GIT_OBJECT_BLOB;
    int rc = object.kept ? append(overlay, object.offset, bytes, err) : VCM_OK;
    if (rc == VCM_OK)
        rc = add(overlay, &object, err);
    if (rc == VCM_OK && object.kept)
        overlay->end += bytes.len;
    return rc;
}

/* One reading of a file: hashes it, and copies it behind what the overlay holds. */
struct reading {
    struct vcm_git_overlay *overlay;
    struct object object;
    int fd;
    const struct vcm_cancel *cancel;
};

/* Sets *len to what was there: less or more than `size` when the file changed. */
static int copy(uint64_t *len, struct reading *r, struct vcm_error *err)
{
    struct vcm_hash_sha1 hash;
    char *chunk = malloc(CHUNK_BYTES);
    int rc = chunk ? VCM_OK : vcm_error_memory(err);

    *len = 0;
    hash_header(&hash, "blob", r->object.size);
    while (rc == VCM_OK && *len <= r->object.size) {
        size_t got = vcm_io_read_at(r->fd, chunk, CHUNK_BYTES, *len);
        if (got < CHUNK_BYTES && errno != 0)
            rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot read it");
        vcm_hash_sha1_update(&hash, chunk, got);
        if (rc == VCM_OK && r->object.kept)
            rc = append(r->overlay, r->object.offset + *len, vcm_slice_of(chunk, got), err);
        if (rc == VCM_OK)
            rc = vcm_cancel_check(r->cancel, err);
        *len += got;
        if (got < CHUNK_BYTES)
            break;
    }
    vcm_hash_sha1_final(&hash, r->object.id.bytes);
    free(chunk);
    return rc;
}

static bool is_same_state(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* *settled: the file did not change while it was read, as far as its times tell. */
static int read_once(bool *settled, struct reading *r, struct vcm_error *err)
{
    struct stat before, after;
    uint64_t len;

    if (fstat(r->fd, &before) != 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot look at it");
    r->object.size = (uint64_t)before.st_size;
    r->object.kept = r->overlay->keeps_texts && r->object.size <= VCM_LIMIT_DOCUMENT_BYTES;
    int rc = copy(&len, r, err);
    if (rc != VCM_OK)
        return rc;
    if (fstat(r->fd, &after) != 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot look at it");
    *settled = len == r->object.size && is_same_state(&before, &after);
    return VCM_OK;
}

int vcm_git_overlay_put_file(struct vcm_git_id *id, struct vcm_git_overlay *overlay, int fd,
                             const struct vcm_git_id *known, const struct vcm_cancel *cancel,
                             struct vcm_error *err)
{
    struct reading r = {.overlay = overlay,
                        .object = {.type = GIT_OBJECT_BLOB, .offset = overlay->end},
                        .fd = fd,
                        .cancel = cancel};
    bool settled = false;
    int rc = VCM_OK;

    for (unsigned i = 0; rc == VCM_OK && !settled && i < VCM_LIMIT_OVERLAY_ATTEMPTS; i++)
        rc = read_once(&settled, &r, err);
    if (rc == VCM_OK && !settled)
        rc = vcm_error_set(err, VCM_IO_ERROR,
                           "it changes all the time while it is read; stop what writes it, or "
                           "ignore it (.gitignore)");
    if (rc != VCM_OK)
        return rc;
    *id = r.object.id;
    if ((known && memcmp(known, id, sizeof *id) == 0) || is_in_repository(overlay, id))
        return VCM_OK;
    rc = add(overlay, &r.object, err);
    if (rc == VCM_OK && r.object.kept)
        overlay->end += r.object.size;
    return rc;
}

static int by_id(const void *a, const void *b)
{
    return memcmp(((const struct object *)a)->id.bytes, ((const struct object *)b)->id.bytes,
                  VCM_GIT_ID_BYTES);
}

static const struct object *find(const struct vcm_git_overlay *overlay, const unsigned char *id)
{
    struct object key;

    memcpy(key.id.bytes, id, VCM_GIT_ID_BYTES);
    return overlay->count == 0
               ? NULL
               : bsearch(&key, overlay->objects, overlay->count, sizeof *overlay->objects, by_id);
}

static int read_object(void **data, size_t *len, git_object_t *type, git_odb_backend *opaque,
                       const git_oid *id)
{
    const struct vcm_git_overlay *overlay = ((struct backend *)opaque)->overlay;
    const struct object *object = find(overlay, id->id);

    if (!object)
        return GIT_ENOTFOUND;
    if (!object->kept) {
        vcm_libgit2.error_set_str(GIT_ERROR_ODB, "the file is too large to be kept");
        return GIT_ERROR;
    }
    size_t size = (size_t)object->size;
    /* libgit2's own backends append a NUL. */
    char *content = vcm_libgit2.odb_backend_data_alloc(opaque, size + 1);
    if (!content)
        return GIT_ERROR;
    if (vcm_io_read_at(overlay->fd, content, size, object->offset) != size) {
        vcm_libgit2.odb_backend_data_free(opaque, content);
        vcm_libgit2.error_set_str(GIT_ERROR_ODB, "cannot read the temporary file");
        return GIT_ERROR;
    }
    content[size] = '\0';
    *data = content;
    *len = size;
    *type = object->type;
    return 0;
}

static int read_header(size_t *len, git_object_t *type, git_odb_backend *opaque, const git_oid *id)
{
    const struct object *object = find(((struct backend *)opaque)->overlay, id->id);

    if (!object)
        return GIT_ENOTFOUND;
    *len = (size_t)object->size;
    *type = object->type;
    return 0;
}

static int exists(git_odb_backend *opaque, const git_oid *id)
{
    return find(((struct backend *)opaque)->overlay, id->id) != NULL;
}

static void free_backend(git_odb_backend *opaque)
{
    vcm_git_overlay_close(((struct backend *)opaque)->overlay);
    free(opaque);
}

int vcm_git_overlay_attach(struct vcm_git_overlay *overlay, struct vcm_git_repo *repo,
                           struct vcm_error *err)
{
    struct backend *backend = calloc(1, sizeof *backend);

    if (!backend)
        return vcm_error_memory(err);
    vcm_libgit2.odb_init_backend(&backend->backend, GIT_ODB_BACKEND_VERSION);
    backend->backend.read = read_object;
    backend->backend.read_header = read_header;
    backend->backend.exists = exists;
    backend->backend.free = free_backend;
    __atomic_add_fetch(&overlay->users, 1, __ATOMIC_RELAXED);
    backend->overlay = overlay;
    int git_code = vcm_libgit2.odb_add_backend(repo->odb, &backend->backend, PRIORITY);
    if (git_code != 0) {
        free_backend(&backend->backend);
        return vcm_git_internal_error(err, git_code, "cannot read the working tree");
    }
    repo->overlay = overlay;
    return VCM_OK;
}

int vcm_git_overlay_seal(struct vcm_git_overlay *overlay, struct vcm_git_repo *repo,
                         struct vcm_error *err)
{
    overlay->repo = NULL;
    if (overlay->count > 0)
        qsort(overlay->objects, overlay->count, sizeof *overlay->objects, by_id);
    return vcm_git_overlay_attach(overlay, repo, err);
}

bool vcm_git_overlay_has(const struct vcm_git_repo *repo, const struct vcm_git_id *id)
{
    return repo->overlay && find(repo->overlay, id->bytes);
}
