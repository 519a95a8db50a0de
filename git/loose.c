#include "git/loose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/limits.h"
#include "base/path.h"
#include "git/object_dirs.h"
#include "git/pack_guard.h"
#include "git/pack_index.h"

#include "base/banned.h"

/* The priority of libgit2's packs: a backend that is added later with it is asked after them.
 * libgit2's own loose backend has 1. */
#define PRIORITY     2
#define INPUT_BYTES  (16 * VCM_KIB)
#define HEADER_BYTES 32 /* the longest is "commit ", 19 digits and a NUL */
/* Deflate expands one byte to at most 1032: a header that claims more is invalid. */
#define INFLATION_MAX 1032

struct loose {
    git_odb_backend backend; /* must be first: libgit2 passes this pointer */
    struct vcm_git_object_dirs directories;
};

/* A loose object that is being read. */
struct object {
    int fd;
    uint64_t file_bytes;
    bool ended; /* the stream has ended, not the file */
    z_stream zlib;
    git_object_t type;
    size_t size;     /* the size in the header */
    size_t head_len; /* bytes of content in `head`, inflated together with the header */
    unsigned char head[HEADER_BYTES];
    unsigned char input[INPUT_BYTES];
};

static int refuse(const char *reason)
{
    vcm_libgit2.error_set_str(GIT_ERROR_ODB, reason);
    return GIT_ERROR;
}

static int refuse_sys(const char *what, int cause)
{
    char text[128];
    char reason[256];

    snprintf(reason, sizeof reason, "%s: %s", what, strerror_r(cause, text, sizeof text));
    return refuse(reason);
}

static int refuse_memory(void)
{
    vcm_libgit2.error_set_oom();
    return GIT_ERROR;
}

/* O_NONBLOCK: the name may be that of a FIFO. */
static int open_file(struct object *object, const char *path)
{
    struct stat status;

    object->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (object->fd < 0) {
        int cause = errno;
        return cause == ENOENT || cause == ENOTDIR
                   ? GIT_ENOTFOUND
                   : refuse_sys("cannot open the loose object", cause);
    }
    if (fstat(object->fd, &status) != 0)
        return refuse_sys("cannot look at the loose object", errno);
    if (!S_ISREG(status.st_mode))
        return refuse("the loose object is no regular file");
    object->file_bytes = (uint64_t)status.st_size;
    return 0;
}

static int find_file(struct object *object, const struct loose *loose, const git_oid *id)
{
    char path[VCM_LIMIT_PATH_BYTES + GIT_OID_HEXSZ + 4];
    char name[GIT_OID_HEXSZ + 2] = "";

    vcm_libgit2.oid_pathfmt(name, id);
    for (unsigned i = 0; i < loose->directories.count; i++) {
        snprintf(path, sizeof path, "%s/%s", loose->directories.items[i].path, name);
        int git_code = open_file(object, path);
        if (git_code != GIT_ENOTFOUND)
            return git_code;
    }
    return GIT_ENOTFOUND;
}

/* GIT_EEOF at the end of the file. */
static int refill(struct object *object)
{
    ssize_t got = 0;

    do
        got = read(object->fd, object->input, sizeof object->input);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return refuse_sys("cannot read the loose object", errno);
    object->zlib.next_in = object->input;
    object->zlib.avail_in = (uInt)got;
    return got > 0 ? 0 : GIT_EEOF;
}

static int inflate_more(struct object *object)
{
    z_stream *zlib = &object->zlib;

    while (zlib->avail_out > 0 && !object->ended) {
        int git_code = zlib->avail_in == 0 ? refill(object) : 0;
        if (git_code == GIT_EEOF)
            return refuse("the loose object is cut short");
        if (git_code != 0)
            return git_code;
        int status = inflate(zlib, Z_NO_FLUSH);
        if (status == Z_MEM_ERROR)
            return refuse_memory();
        if (status != Z_OK && status != Z_STREAM_END)
            return refuse("the loose object is no complete zlib stream");
        object->ended = status == Z_STREAM_END;
    }
    return 0;
}

/* Fills `out` until the stream ends. */
static int pull(size_t *got, struct object *object, void *out, size_t len)
{
    object->zlib.next_out = out;
    object->zlib.avail_out = (uInt)len;
    int git_code = inflate_more(object);
    *got = len - object->zlib.avail_out;
    object->zlib.next_out = NULL;
    return git_code;
}

/* Reads "123" up to a NUL, without leading zeros; returns where it ends, or NULL. */
static const char *parse_size(size_t *out, const char *text)
{
    size_t size = 0;
    const char *p = text;

    for (; *p >= '0' && *p <= '9'; p++) {
        if (size > (SIZE_MAX - 9) / 10)
            return NULL;
        size = 10 * size + (size_t)(*p - '0');
    }
    if (p == text || *p != '\0' || (text[0] == '0' && p != text + 1))
        return NULL;
    *out = size;
    return p;
}

static const char *parse_type(git_object_t *out, const char *text)
{
    static const git_object_t types[] = {GIT_OBJECT_BLOB, GIT_OBJECT_TREE, GIT_OBJECT_COMMIT,
                                         GIT_OBJECT_TAG};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const char *name = vcm_libgit2.object_type2string(types[i]);
        size_t len = strlen(name);
        if (strncmp(text, name, len) == 0 && text[len] == ' ') {
            *out = types[i];
            return text + len + 1;
        }
    }
    return NULL;
}

static int parse_header(struct object *object)
{
    char text[HEADER_BYTES];
    size_t len = 0;

    int git_code = pull(&len, object, text, sizeof text);
    if (git_code != 0)
        return git_code;
    if (!memchr(text, '\0', len))
        return refuse("the loose object has no header");
    const char *rest = parse_type(&object->type, text);
    if (rest)
        rest = parse_size(&object->size, rest);
    if (!rest)
        return refuse("the loose object has no valid header");
    object->head_len = len - (size_t)(rest + 1 - text);
    memcpy(object->head, rest + 1, object->head_len);
    if (object->size / INFLATION_MAX > object->file_bytes || object->head_len > object->size)
        return refuse("the loose object is not as long as it claims");
    return 0;
}

static void close_object(struct object *object)
{
    inflateEnd(&object->zlib);
    if (object->fd >= 0)
        close(object->fd);
}

/* The caller closes the object, also after a failure. */
static int open_object(struct object *object, const struct loose *loose, const git_oid *id)
{
    object->fd = -1;
    object->ended = false;
    memset(&object->zlib, 0, sizeof object->zlib);
    int git_code = find_file(object, loose, id);
    if (git_code != 0)
        return git_code;
    if (inflateInit(&object->zlib) != Z_OK)
        return refuse_memory();
    return parse_header(object);
}

/* Reads the content to `out`, and checks that nothing follows it. */
static int read_content(struct object *object, unsigned char *out)
{
    size_t got = 0;
    size_t excess = 0;
    unsigned char byte;

    memcpy(out, object->head, object->head_len);
    int git_code = pull(&got, object, out + object->head_len, object->size - object->head_len);
    if (git_code == 0)
        git_code = pull(&excess, object, &byte, sizeof byte);
    if (git_code != 0)
        return git_code;
    if (object->head_len + got != object->size || excess > 0)
        return refuse("the loose object is not as long as it claims");
    if (object->zlib.avail_in == 0)
        git_code = refill(object);
    if (git_code == 0)
        return refuse("the loose object has garbage behind its end");
    return git_code == GIT_EEOF ? 0 : git_code;
}

static int read_object(void **data, size_t *len, git_object_t *type, git_odb_backend *backend,
                       const git_oid *id)
{
    struct object object;
    unsigned char *content = NULL;

    int git_code = open_object(&object, (struct loose *)backend, id);
    if (git_code == 0 && object.size > VCM_LIMIT_OBJECT_BYTES)
        git_code = refuse("the loose object is too large");
    if (git_code == 0) {
        /* libgit2's own backends append a NUL. */
        content = vcm_libgit2.odb_backend_data_alloc(backend, object.size + 1);
        git_code = content ? read_content(&object, content) : refuse_memory();
    }
    if (git_code == 0) {
        content[object.size] = '\0';
        *data = content;
        *len = object.size;
        *type = object.type;
    } else if (content) {
        vcm_libgit2.odb_backend_data_free(backend, content);
    }
    close_object(&object);
    return git_code;
}

/* Reads the header alone; damage behind it is found when the content is read. */
static int read_header(size_t *len, git_object_t *type, git_odb_backend *backend, const git_oid *id)
{
    struct object object;

    int git_code = open_object(&object, (struct loose *)backend, id);
    if (git_code == 0) {
        *len = object.size;
        *type = object.type;
    }
    close_object(&object);
    return git_code;
}

/* Does nothing, but libgit2 asks a backend a second time only if it has this function. */
static int refresh(git_odb_backend *backend)
{
    (void)backend;
    return 0;
}

static void free_loose(git_odb_backend *backend)
{
    struct loose *loose = (struct loose *)backend;

    vcm_git_object_dirs_release(&loose->directories);
    free(loose);
}

int vcm_git_loose_install(git_odb *odb, git_repository *handle, struct vcm_error *err)
{
    struct loose *loose = calloc(1, sizeof *loose);

    if (!loose)
        return vcm_error_memory(err);
    vcm_libgit2.odb_init_backend(&loose->backend, GIT_ODB_BACKEND_VERSION);
    loose->backend.read = read_object;
    loose->backend.read_header = read_header;
    loose->backend.refresh = refresh;
    loose->backend.free = free_loose;
    int rc = vcm_git_object_dirs_find(&loose->directories, handle, err);
    for (unsigned i = 0; rc == VCM_OK && i < loose->directories.count; i++)
        rc = vcm_git_pack_index_check(loose->directories.items[i].path, err);
    if (rc == VCM_OK) {
        int git_code = vcm_libgit2.odb_add_backend(odb, &loose->backend, PRIORITY);
        if (git_code == 0)
            return vcm_git_pack_guard_install(odb, &loose->directories, err);
        rc = vcm_git_internal_error(err, git_code, "cannot read the objects of the repository");
    }
    free_loose(&loose->backend);
    return rc;
}
