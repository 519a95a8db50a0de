/*
 * repo.h - a git repository, read through its object database. With tree.h the owner of libgit2.
 *
 * Reads only: nothing here writes to a repository, runs a hook or a filter, or looks at the
 * working tree (sources/worktree.h does). A handle belongs to one thread at a time; threads open
 * one each. libgit2's codes and types do not leave this folder.
 */
#ifndef VCM_GIT_REPO_H
#define VCM_GIT_REPO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define VCM_GIT_ID_BYTES 20
#define VCM_GIT_ID_HEX   40

struct vcm_git_id {
    unsigned char bytes[VCM_GIT_ID_BYTES];
};

struct vcm_git_repo;

/* Opens the repository at or above `path`. NOT_FOUND: there is none; UNSUPPORTED: a format that
 * libgit2 cannot read (sha256 among them), or a repository of another user (the message says how to
 * trust it); INVALID_ARGUMENT: a name that begins with '-', or a file. */
int vcm_git_repo_open(struct vcm_git_repo **out, const char *path, struct vcm_error *err);
void vcm_git_repo_close(struct vcm_git_repo *repo);

/* Another handle, for another thread: the same repository and, where it has one, the same snapshot
 * of the working tree (overlay.h). */
int vcm_git_repo_open_again(struct vcm_git_repo **out, const struct vcm_git_repo *repo,
                            struct vcm_error *err);

/* The working tree, or the git directory of a bare repository; real path, no trailing slash. */
const char *vcm_git_repo_root(const struct vcm_git_repo *repo);
bool vcm_git_repo_is_bare(const struct vcm_git_repo *repo);

/* Appends the URL of the remote "origin" without user name and password; nothing without one. */
int vcm_git_repo_origin(struct vcm_buf *out, struct vcm_git_repo *repo, struct vcm_error *err);

/* Appends the short name of the branch that HEAD is on, even if it has no commit yet; nothing when
 * HEAD is detached. */
int vcm_git_repo_head_branch(struct vcm_buf *out, struct vcm_git_repo *repo, struct vcm_error *err);

/*
 * Finds a commit: `commit` if given (an id, a unique prefix, a tag, "HEAD", also with ~N and ^N
 * behind it), else the tip of `branch` (local, else of origin), else HEAD. Annotated tags are
 * peeled. NOT_FOUND when it does not exist, when HEAD has no commit yet (the message says so), and
 * when an id names something else; AMBIGUOUS; INVALID_ARGUMENT for names that begin with '-' or are
 * no valid ref names.
 */
int vcm_git_repo_resolve(struct vcm_git_id *out, struct vcm_git_repo *repo, const char *branch,
                         const char *commit, struct vcm_error *err);

/* URL without user name, password and query (base/secret.h): "https://u:p@host/x?token=y" gives
 * "https://host/x"; the user of "git@host:x" and "ssh://git@host/x" is kept, because it is no
 * secret and part of the address. */
void vcm_git_repo_strip_credentials(struct vcm_buf *out, const char *url);

/* Writes 40 digits and a NUL. */
void vcm_git_repo_id_to_hex(char out[VCM_GIT_ID_HEX + 1], const struct vcm_git_id *id);

/* "libgit2 1.5.1" */
const char *vcm_git_repo_library_version(void);

#endif
