#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/arguments.h"
#include "api/vcm.h"
#include "base/array.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/utf8.h"

#include "base/banned.h"

struct child {
    char *name;
    bool is_directory;
};

struct children {
    struct child *items;
    size_t count;
    size_t capacity;
};

struct walk {
    const struct vcm_directory_query *query;
    const struct vcm_directory_visitor *visitor;
    void *context;
    unsigned nodes;
    bool truncated;
    struct vcm_buf path; /* raw bytes, relative to the root */
    struct vcm_buf shown;
};

static void release_children(struct children *children)
{
    for (size_t i = 0; i < children->count; i++)
        free(children->items[i].name);
    free(children->items);
}

static int add_child(struct children *children, const char *name, bool is_directory,
                     struct vcm_error *err)
{
    int rc = vcm_array_reserve(&children->items, &children->capacity, children->count + 1,
                               VCM_LIMIT_TREE_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    char *copy = strdup(name);
    if (!copy)
        return vcm_error_memory(err);
    children->items[children->count++] = (struct child){copy, is_directory};
    return VCM_OK;
}

static int by_kind_and_name(const void *a, const void *b)
{
    const struct child *x = a, *y = b;

    if (x->is_directory != y->is_directory)
        return x->is_directory ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Lists all entries except ".", ".." and ".git". Takes ownership of the descriptor. */
static int list_children(struct children *children, int fd, struct vcm_error *err)
{
    DIR *directory = fdopendir(fd);
    int rc = VCM_OK;

    if (!directory) {
        close(fd);
        return vcm_error_memory(err);
    }
    for (struct dirent *entry; rc == VCM_OK && (entry = readdir(directory));) {
        struct stat status;
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, ".git") == 0)
            continue;
        if (children->count == VCM_LIMIT_DIRECTORY_ENTRIES)
            break;
        bool is_directory = fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                            S_ISDIR(status.st_mode);
        rc = add_child(children, name, is_directory, err);
    }
    closedir(directory);
    if (children->count > 0)
        qsort(children->items, children->count, sizeof *children->items, by_kind_and_name);
    return rc;
}

static int enter(struct walk *walk, bool is_directory, struct vcm_error *err)
{
    vcm_buf_clear(&walk->shown);
    vcm_utf8_escape_path(&walk->shown, walk->path.len > 0 ? vcm_buf_slice(&walk->path)
                                                          : vcm_slice_of_string("."));
    int rc = vcm_buf_check(&walk->path, "a path", err);
    if (rc == VCM_OK)
        rc = vcm_buf_check(&walk->shown, "a path", err);
    walk->nodes++;
    return rc == VCM_OK
               ? walk->visitor->enter(walk->context, vcm_buf_text(&walk->shown), is_directory, err)
               : rc;
}

static int visit_directory(struct walk *walk, int fd, unsigned depth, struct vcm_error *err);

static int visit_child(struct walk *walk, int parent, const struct child *child, unsigned depth,
                       struct vcm_error *err)
{
    size_t before = walk->path.len;

    if (before > 0)
        vcm_buf_append_byte(&walk->path, '/');
    vcm_buf_append_string(&walk->path, child->name);
    int rc = enter(walk, child->is_directory, err);
    if (rc == VCM_OK && child->is_directory) {
        int fd = openat(parent, child->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || depth == walk->query->max_depth) {
            walk->truncated = true;
            if (fd >= 0)
                close(fd);
        } else {
            rc = visit_directory(walk, fd, depth + 1, err);
        }
        if (rc == VCM_OK)
            rc = walk->visitor->leave(walk->context, err);
    }
    vcm_buf_truncate(&walk->path, before);
    return rc;
}

/* Takes ownership of the descriptor. The query limits the depth. */
static int visit_directory(struct walk *walk, int fd, unsigned depth, struct vcm_error *err)
{
    struct children children = {0};
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    int rc = copy >= 0 ? list_children(&children, copy, err)
                       : vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot list a directory");
    for (size_t i = 0; rc == VCM_OK && i < children.count; i++) {
        if (walk->nodes >= walk->query->max_nodes) {
            walk->truncated = true;
            break;
        }
        rc = visit_child(walk, fd, &children.items[i], depth, err);
    }
    release_children(&children);
    close(fd);
    return rc;
}

int vcm_directory_walk(bool *truncated, const struct vcm_directory_query *query,
                       const struct vcm_directory_visitor *visitor, void *context,
                       struct vcm_error *err)
{
    struct walk walk = {.query = query, .visitor = visitor, .context = context};
    const struct vcm_argument needed[] = {
        VCM_ARGUMENT(truncated),
        VCM_ARGUMENT(query),
        VCM_ARGUMENT(visitor),
        {"root", query && query->root},
        {"enter", visitor && visitor->enter},
        {"leave", visitor && visitor->leave},
        {NULL, false},
    };

    int rc = vcm_arguments_given(needed, err);
    if (rc != VCM_OK)
        return rc;
    *truncated = false;
    vcm_buf_init(&walk.path, VCM_LIMIT_TREE_PATH_BYTES);
    vcm_buf_init(&walk.shown, 4 * VCM_LIMIT_TREE_PATH_BYTES);
    int fd = open(query->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    rc = fd >= 0 ? enter(&walk, true, err)
                 : vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open '%s'", query->root);
    if (rc == VCM_OK)
        rc = visit_directory(&walk, fd, 1, err);
    else if (fd >= 0)
        close(fd);
    if (rc == VCM_OK)
        rc = visitor->leave(context, err);
    *truncated = walk.truncated;
    vcm_buf_release(&walk.path);
    vcm_buf_release(&walk.shown);
    return rc;
}
