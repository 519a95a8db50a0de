#include "git/pack_guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "git/midx.h"
#include "git/pack_entry.h"

#include "base/banned.h"

#define PRIORITY 3   /* above libgit2's packs */
#define OPEN_MAX 24u /* packs that stay open; others are opened for each object */
#define MIDX     "multi-pack-index"

struct pack {
    char *base;                     /* path without ".idx" */
    struct vcm_git_pack_file *file; /* NULL unless it stays open */
};

struct guard {
    git_odb_backend backend; /* must be first: libgit2 passes this pointer */
    const struct vcm_git_object_dirs *directories;
    bool is_listed; /* the packs are known */
    struct pack *packs;
    size_t count, capacity;
    unsigned open_count;
    unsigned midx_count; /* `directories` may be gone when the backend is freed */
    struct vcm_git_midx midxs[1 + VCM_LIMIT_ALTERNATES]; /* of each directory; fd is -1 without */
};

static int open_path(const char *base, const char *ending)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    vcm_buf_append_format(&path, "%s%s", base, ending);
    int fd = path.fault == VCM_BUF_FINE
                 ? open(vcm_buf_text(&path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                 : -1;
    vcm_buf_release(&path);
    return fd;
}

/* False with no fault for a pack that libgit2 cannot read either: without its index, for example.
 */
static bool open_pack(struct vcm_git_pack_file *file, const char **fault, const char *base)
{
    errno = 0;
    bool opened = vcm_git_pack_file_open(file, open_path(base, ".idx"), open_path(base, ".pack"));
    if (!opened && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
        *fault = "its pack cannot be opened: too many files are open";
    return opened;
}

static void forget(struct guard *guard)
{
    for (size_t i = 0; i < guard->count; i++) {
        if (guard->packs[i].file)
            vcm_git_pack_file_close(guard->packs[i].file);
        free(guard->packs[i].file);
        free(guard->packs[i].base);
    }
    for (unsigned i = 0; i < guard->midx_count; i++)
        vcm_git_midx_close(&guard->midxs[i]);
    guard->count = guard->open_count = guard->midx_count = 0;
    guard->is_listed = false;
}

static int add_pack(struct guard *guard, const char *objects, const char *name)
{
    struct vcm_buf base = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    size_t len = strlen(name);

    if (len <= 4 || strcmp(name + len - 4, ".idx") != 0)
        return VCM_OK;
    vcm_buf_append_format(&base, "%s/pack/%.*s", objects, (int)(len - 4), name);
    int rc =
        vcm_array_reserve(&guard->packs, &guard->capacity, guard->count + 1, VCM_LIMIT_PACKS, NULL);
    if (rc == VCM_OK)
        rc = vcm_buf_check(&base, "the path of a pack", NULL);
    if (rc == VCM_OK)
        guard->packs[guard->count++] = (struct pack){.base = vcm_buf_detach(&base)};
    vcm_buf_release(&base);
    return rc;
}

static int list_packs(struct guard *guard)
{
    int rc = VCM_OK;

    for (; guard->midx_count < guard->directories->count; guard->midx_count++)
        guard->midxs[guard->midx_count] = (struct vcm_git_midx){.fd = -1};
    guard->is_listed = true;
    for (unsigned i = 0; rc == VCM_OK && i < guard->directories->count; i++) {
        const char *objects = guard->directories->items[i].path;
        struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
        struct dirent *entry;
        vcm_buf_append_format(&path, "%s/pack", objects);
        DIR *directory = opendir(vcm_buf_text(&path));
        vcm_buf_release(&path);
        while (directory && rc == VCM_OK && (entry = readdir(directory)))
            rc = add_pack(guard, objects, entry->d_name);
        int fd = directory ? openat(dirfd(directory), MIDX, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
        if (fd >= 0)
            vcm_git_midx_open(&guard->midxs[i], fd);
        if (directory)
            closedir(directory);
    }
    return rc;
}

/* The fault of the object in one pack, where the pack's own index says that it is. */
static const char *fault_in_pack(struct guard *guard, struct pack *pack, const git_oid *id)
{
    struct vcm_git_pack_file once, *file = pack->file;
    const char *fault = NULL;
    uint64_t offset = 0;

    if (!file && guard->open_count < OPEN_MAX) {
        file = calloc(1, sizeof *file);
        if (file && !open_pack(file, &fault, pack->base)) {
            free(file);
            return fault;
        }
        pack->file = file;
        guard->open_count += file != NULL;
    }
    if (!file && !open_pack(&once, &fault, pack->base))
        return fault;
    const struct vcm_git_pack_file *use = file ? file : &once;
    if (vcm_git_pack_file_find_plain(&offset, use, id->id))
        fault = vcm_git_pack_entry_fault(use, offset);
    if (!file)
        vcm_git_pack_file_close(&once);
    return fault;
}

/* The same where a multi-pack-index says that it is. */
static const char *fault_in_midx(const struct vcm_git_midx *midx, const char *objects,
                                 const git_oid *id)
{
    struct vcm_buf base = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_git_pack_file file;
    const char *fault = NULL, *name = NULL;
    uint64_t offset = 0;

    if (midx->fd < 0 || !vcm_git_midx_find(&name, &offset, midx, id->id))
        return NULL;
    size_t len = strlen(name);
    bool is_index = len > 4 && strcmp(name + len - 4, ".idx") == 0;
    vcm_buf_append_format(&base, "%s/pack/%.*s", objects, (int)(is_index ? len - 4 : len), name);
    if (open_pack(&file, &fault, vcm_buf_text(&base))) {
        fault = vcm_git_pack_entry_fault(&file, offset);
        vcm_git_pack_file_close(&file);
    }
    vcm_buf_release(&base);
    return fault;
}

/* GIT_ENOTFOUND lets libgit2 ask its other backends. */
static int judge(struct guard *guard, const git_oid *id)
{
    const char *fault = NULL;

    if (!guard->is_listed && list_packs(guard) != VCM_OK)
        fault = "the packs of the repository cannot be listed";
    for (unsigned i = 0; !fault && i < guard->directories->count; i++)
        fault = fault_in_midx(&guard->midxs[i], guard->directories->items[i].path, id);
    for (size_t i = 0; !fault && i < guard->count; i++)
        fault = fault_in_pack(guard, &guard->packs[i], id);
    if (!fault)
        return GIT_ENOTFOUND;
    vcm_libgit2.error_set_str(GIT_ERROR_ODB, fault);
    return GIT_ERROR;
}

static int read_object(void **data, size_t *len, git_object_t *type, git_odb_backend *backend,
                       const git_oid *id)
{
    (void)data;
    (void)len;
    (void)type;
    return judge((struct guard *)backend, id);
}

static int read_header(size_t *len, git_object_t *type, git_odb_backend *backend, const git_oid *id)
{
    (void)len;
    (void)type;
    return judge((struct guard *)backend, id);
}

/* There may be new packs, which libgit2 is about to read. */
static int refresh(git_odb_backend *backend)
{
    forget((struct guard *)backend);
    return 0;
}

static void free_guard(git_odb_backend *backend)
{
    struct guard *guard = (struct guard *)backend;

    forget(guard);
    free(guard->packs);
    free(guard);
}

int vcm_git_pack_guard_install(git_odb *odb, const struct vcm_git_object_dirs *directories,
                               struct vcm_error *err)
{
    struct guard *guard = calloc(1, sizeof *guard);

    if (!guard)
        return vcm_error_memory(err);
    vcm_libgit2.odb_init_backend(&guard->backend, GIT_ODB_BACKEND_VERSION);
    guard->backend.read = read_object;
    guard->backend.read_header = read_header;
    guard->backend.refresh = refresh;
    guard->backend.free = free_guard;
    guard->directories = directories;
    int git_code = vcm_libgit2.odb_add_backend(odb, &guard->backend, PRIORITY);
    if (git_code == 0)
        return VCM_OK;
    free_guard(&guard->backend);
    return vcm_git_internal_error(err, git_code, "cannot read the objects of the repository");
}
