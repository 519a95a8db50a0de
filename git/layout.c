#include "git/layout.h"

#include <strings.h>

#include "base/path.h"
#include "git/internal.h"
#include "git/object_dirs.h"

#include "base/banned.h"

static int put_directory(struct vcm_buf *out, const char *path, struct vcm_error *err)
{
    size_t len = strlen(path);

    while (len > 1 && path[len - 1] == '/')
        len--;
    vcm_buf_append(out, path, len);
    return vcm_buf_check(out, "the path of a git directory", err);
}

int vcm_git_layout_directory(struct vcm_buf *out, struct vcm_git_repo *repo, struct vcm_error *err)
{
    return put_directory(out, vcm_libgit2.repository_path(repo->handle), err);
}

int vcm_git_layout_common_directory(struct vcm_buf *out, struct vcm_git_repo *repo,
                                    struct vcm_error *err)
{
    return put_directory(out, vcm_libgit2.repository_commondir(repo->handle), err);
}

int vcm_git_layout_each_alternate(struct vcm_git_repo *repo, vcm_git_layout_fn visit, void *context,
                                  struct vcm_error *err)
{
    struct vcm_git_object_dirs dirs;

    int rc = vcm_git_object_dirs_find(&dirs, repo->handle, err);
    for (unsigned i = 1; rc == VCM_OK && i < dirs.count; i++) {
        struct vcm_buf path = VCM_BUF_INIT(4 * VCM_LIMIT_PATH_BYTES);
        rc = put_directory(&path, dirs.items[i].path, err);
        if (rc == VCM_OK)
            rc = visit(context, vcm_buf_text(&path), err);
        vcm_buf_release(&path);
    }
    vcm_git_object_dirs_release(&dirs);
    return rc;
}

/* The settings of this working tree alone, which libgit2 1.5 does not read: NULL when there are
 * none. */
static git_config *open_own_config(struct vcm_git_repo *repo, git_config *shared)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    git_config *config = NULL;
    const char *value = NULL;

    if (vcm_libgit2.config_get_string(&value, shared, "extensions.worktreeconfig") == 0 &&
        strcasecmp(value, "true") == 0) {
        vcm_path_join(&path, vcm_libgit2.repository_path(repo->handle), "config.worktree");
        if (vcm_buf_check(&path, "a path", NULL) == VCM_OK &&
            vcm_libgit2.config_open_ondisk(&config, vcm_buf_text(&path)) != 0)
            config = NULL;
    }
    vcm_buf_release(&path);
    return config;
}

static int find_value(struct vcm_buf *out, git_config *config, const char *name)
{
    git_config_entry *entry = NULL;

    int git_code = vcm_libgit2.config_get_entry(&entry, config, name);
    if (git_code == 0)
        vcm_buf_append_string(out, entry->value ? entry->value : "true");
    vcm_libgit2.config_entry_free(entry);
    return git_code;
}

int vcm_git_layout_setting(struct vcm_buf *out, struct vcm_git_repo *repo, const char *name,
                           struct vcm_error *err)
{
    git_config *config = NULL, *own = NULL;
    int rc = VCM_OK;

    int git_code = vcm_libgit2.repository_config_snapshot(&config, repo->handle);
    if (git_code == 0)
        own = open_own_config(repo, config);
    if (git_code == 0 && !(own && find_value(out, own, name) == 0))
        git_code = find_value(out, config, name);
    if (git_code != 0 && git_code != GIT_ENOTFOUND)
        rc = vcm_git_internal_error(err, git_code, "cannot read %s from the configuration of '%s'",
                                    name, repo->root);
    vcm_libgit2.config_free(own);
    vcm_libgit2.config_free(config);
    return rc == VCM_OK ? vcm_buf_check(out, name, err) : rc;
}
