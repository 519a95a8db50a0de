#include "git/object_dirs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"

#include "base/banned.h"

/* Skips a directory that does not exist or is already in the list. */
static int add_directory(struct vcm_git_object_dirs *out, const char *path, struct vcm_error *err)
{
    struct vcm_git_object_dir *last = &out->items[out->count];
    struct stat status;

    if (strlen(path) > VCM_LIMIT_PATH_BYTES || stat(path, &status) != 0)
        return VCM_OK;
    for (const struct vcm_git_object_dir *known = out->items; known < last; known++)
        if (known->device == status.st_dev && known->inode == status.st_ino)
            return VCM_OK;
    if (out->count == sizeof out->items / sizeof out->items[0])
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "the repository has more than %d alternate object directories",
                             VCM_LIMIT_ALTERNATES);
    *last = (struct vcm_git_object_dir){strdup(path), status.st_dev, status.st_ino};
    if (!last->path)
        return vcm_error_memory(err);
    out->count++;
    return VCM_OK;
}

/* Names are resolved as libgit2 resolves them, so that libgit2 uses no directory that was not
 * checked here: relative ones start at the repository's own objects if they begin with a dot. */
static int add_alternate(struct vcm_git_object_dirs *out, bool from_first, struct vcm_slice line,
                         struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(3 * VCM_LIMIT_PATH_BYTES);
    int rc = VCM_OK;

    if (line.len > 0 && line.len <= VCM_LIMIT_PATH_BYTES && line.data[0] != '#') {
        if (line.data[0] == '.' && from_first)
            vcm_buf_append_format(&path, "%s/", out->items[0].path);
        vcm_buf_append_slice(&path, line);
        rc = vcm_buf_check(&path, "the path of an alternate", err);
        if (rc == VCM_OK)
            rc = add_directory(out, vcm_buf_text(&path), err);
    }
    vcm_buf_release(&path);
    return rc;
}

static int add_alternates_of(struct vcm_git_object_dirs *out, unsigned index, struct vcm_error *err)
{
    struct vcm_buf name = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_ALTERNATES_BYTES);
    struct vcm_error reason = {0};

    vcm_path_join(&name, out->items[index].path, "info/alternates");
    int rc = vcm_buf_check(&name, "the path of alternates", &reason);
    if (rc == VCM_OK)
        rc = vcm_path_read_file(&text, vcm_buf_text(&name), VCM_LIMIT_ALTERNATES_BYTES, &reason);
    if (rc != VCM_OK && rc != VCM_NOT_FOUND && err)
        *err = reason;
    const char *line = vcm_buf_text(&text);
    while (rc == VCM_OK && *line != '\0') {
        size_t len = strcspn(line, "\r\n");
        rc = add_alternate(out, index == 0, vcm_slice_of(line, len), err);
        line += len + (line[len] != '\0');
    }
    vcm_buf_release(&text);
    vcm_buf_release(&name);
    return rc == VCM_NOT_FOUND ? VCM_OK : rc;
}

int vcm_git_object_dirs_find(struct vcm_git_object_dirs *out, git_repository *handle,
                             struct vcm_error *err)
{
    git_buf objects = {0};

    memset(out, 0, sizeof *out);
    int git_code = vcm_libgit2.repository_item_path(&objects, handle, GIT_REPOSITORY_ITEM_OBJECTS);
    if (git_code != 0)
        return vcm_git_internal_error(err, git_code, "cannot find the objects of the repository");
    int rc = add_directory(out, objects.ptr, err);
    for (unsigned i = 0; rc == VCM_OK && i < out->count; i++)
        rc = add_alternates_of(out, i, err);
    vcm_libgit2.buf_dispose(&objects);
    return rc;
}

void vcm_git_object_dirs_release(struct vcm_git_object_dirs *dirs)
{
    for (unsigned i = 0; i < dirs->count; i++)
        free(dirs->items[i].path);
    memset(dirs, 0, sizeof *dirs);
}
