/*
 * submodule.h - a submodule of a commit: its address, and its commit.
 *
 * The address is that of .gitmodules in the commit's own tree, the commit that of the gitlink; the
 * working tree and the user's configuration are not used. .gitmodules is read by libgit2's parser,
 * without following includes.
 */
#ifndef VCM_GIT_SUBMODULE_H
#define VCM_GIT_SUBMODULE_H

#include "git/repo.h"

struct vcm_git_submodule {
    char *name; /* as .gitmodules has it */
    char *path; /* no trailing slash */
    char *url;  /* absolute, without credentials */
    struct vcm_git_id commit;
};

/*
 * Fills the submodule at `path`, which the caller releases also after a failure. A relative URL is
 * resolved against the URL of the remote "origin", or the repository's own path without one.
 * NOT_FOUND: no .gitmodules, no such path in it, no url, or no gitlink in the tree;
 * INVALID_ARGUMENT: a path, name or URL that is refused, or a .gitmodules that cannot be parsed.
 * Every message names the path.
 */
int vcm_git_submodule_find(struct vcm_git_submodule *out, struct vcm_git_repo *repo,
                           const struct vcm_git_id *commit, const char *path,
                           struct vcm_error *err);
void vcm_git_submodule_release(struct vcm_git_submodule *submodule);

/* Opens the submodule's repository if there is one: in the working tree, else under the parent's
 * git directory. NOT_FOUND when there is none, or it does not have the commit. */
int vcm_git_submodule_open(struct vcm_git_repo **out, struct vcm_git_repo *repo,
                           const struct vcm_git_submodule *submodule, struct vcm_error *err);

/* Appends the address that `url` means in the repository at `base`, a URL or an absolute path:
 * "./x" and "../x" are resolved against it, everything else is taken as it is. INVALID_ARGUMENT
 * when it leads above the root of `base`. */
int vcm_git_submodule_resolve_url(struct vcm_buf *out, const char *base, const char *url,
                                  struct vcm_error *err);

#endif
