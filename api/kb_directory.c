#include "api/kb_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/limits.h"
#include "base/path.h"

#include "base/banned.h"

struct walk {
    struct vcm_kb_passed_over *passed;
    size_t *entries;
    const struct vcm_cancel *cancel;
    vcm_kb_directory_fn visit;
    void *context;
};

struct child {
    char *name;
    bool is_directory;
};

struct children {
    struct child *items;
    size_t count, capacity;
    bool has_git; /* a repository's working tree begins here */
};

static void release_children(struct children *children)
{
    for (size_t i = 0; i < children->count; i++)
        free(children->items[i].name);
    free(children->items);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct child *)a)->name, ((const struct child *)b)->name);
}

static int add_child(struct children *children, const char *name, bool is_directory,
                     struct vcm_error *err)
{
    int rc = vcm_array_reserve(&children->items, &children->capacity, children->count + 1,
                               VCM_LIMIT_INGEST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    char *copy = strdup(name);
    if (!copy)
        return vcm_error_memory(err);
    children->items[children->count++] = (struct child){copy, is_directory};
    return VCM_OK;
}

/* Keeps an entry that is to be visited, and counts any other. */
static int sort_entry(struct walk *walk, struct children *children, int fd, const char *name,
                      struct vcm_error *err)
{
    struct stat status;

    if (name[0] == '.') {
        children->has_git |= strcmp(name, ".git") == 0;
        walk->passed->hidden++;
    } else if (fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return VCM_OK; /* it was removed meanwhile */
    } else if (S_ISDIR(status.st_mode) || S_ISREG(status.st_mode)) {
        return add_child(children, name, S_ISDIR(status.st_mode), err);
    } else if (S_ISLNK(status.st_mode)) {
        walk->passed->links++;
    } else {
        walk->passed->others++;
    }
    return VCM_OK;
}

static int list_children(struct walk *walk, struct children *children, DIR *directory,
                         const char *path, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (struct dirent *entry; rc == VCM_OK && (entry = readdir(directory));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        rc = vcm_cancel_check(walk->cancel, err);
        if (rc == VCM_OK && ++*walk->entries > VCM_LIMIT_INGEST_ENTRIES)
            rc = vcm_error_set(err, VCM_UNSUPPORTED,
                               "more than %u entries at '%s'; ingest fewer directories at a time",
                               VCM_LIMIT_INGEST_ENTRIES, path);
        if (rc == VCM_OK)
            rc = sort_entry(walk, children, dirfd(directory), entry->d_name, err);
    }
    if (children->count > 0)
        qsort(children->items, children->count, sizeof *children->items, by_name);
    return rc;
}

static int visit_directory(struct walk *walk, int fd, struct vcm_buf *path, const char *place,
                           unsigned depth, struct vcm_error *err);

static int visit_child(struct walk *walk, int parent, const struct child *child,
                       struct vcm_buf *path, const char *place, unsigned depth,
                       struct vcm_error *err)
{
    size_t before = path->len;
    int fd = -1;

    if (before == 0 || path->data[before - 1] != '/')
        vcm_buf_append_byte(path, '/');
    vcm_buf_append_string(path, child->name);
    int rc = vcm_buf_check(path, "a path", err);
    if (rc == VCM_OK && child->is_directory)
        fd = openat(parent, child->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (rc == VCM_OK)
        rc = fd >= 0 ? visit_directory(walk, fd, path, place, depth + 1, err)
                     : walk->visit(walk->context, vcm_buf_text(path), place, err);
    vcm_buf_truncate(path, before);
    return rc;
}

/* Takes ownership of the descriptor; VCM_LIMIT_INGEST_DEPTH bounds the recursion. */
static int visit_directory(struct walk *walk, int fd, struct vcm_buf *path, const char *place,
                           unsigned depth, struct vcm_error *err)
{
    struct children children = {0};
    char *own = NULL;
    DIR *directory = fdopendir(fd);

    if (!directory) {
        close(fd);
        return vcm_error_memory(err);
    }
    int rc = depth <= VCM_LIMIT_INGEST_DEPTH
                 ? list_children(walk, &children, directory, vcm_buf_text(path), err)
                 : vcm_error_set(err, VCM_UNSUPPORTED,
                                 "'%s' is deeper than %u directories; ingest it by itself",
                                 vcm_buf_text(path), VCM_LIMIT_INGEST_DEPTH);
    if (rc == VCM_OK && children.has_git && !(own = strdup(vcm_buf_text(path))))
        rc = vcm_error_memory(err);
    for (size_t i = 0; rc == VCM_OK && i < children.count; i++)
        rc = visit_child(walk, dirfd(directory), &children.items[i], path, own ? own : place, depth,
                         err);
    free(own);
    release_children(&children);
    closedir(directory);
    return rc;
}

int vcm_kb_directory_walk(struct vcm_kb_passed_over *passed, size_t *entries, const char *root,
                          const struct vcm_cancel *cancel, vcm_kb_directory_fn visit, void *context,
                          struct vcm_error *err)
{
    struct walk walk = {passed, entries, cancel, visit, context};
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_TREE_PATH_BYTES);
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    vcm_buf_append_string(&path, root);
    int rc = fd >= 0 ? visit_directory(&walk, fd, &path, root, 1, err)
                     : vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open '%s'", root);
    vcm_buf_release(&path);
    return rc;
}
