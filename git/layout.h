/*
 * layout.h - where a repository has its files on disk, and its configuration, for code that reads
 * files that libgit2 does not know.
 */
#ifndef VCM_GIT_LAYOUT_H
#define VCM_GIT_LAYOUT_H

#include "git/repo.h"

/* The git directory of this working tree: ".git", or ".git/worktrees/x". No trailing slash. */
int vcm_git_layout_directory(struct vcm_buf *out, struct vcm_git_repo *repo, struct vcm_error *err);

/* The one that all working trees share. */
int vcm_git_layout_common_directory(struct vcm_buf *out, struct vcm_git_repo *repo,
                                    struct vcm_error *err);

/* Calls `visit` with the path, without a slash at the end, of every alternate object directory,
 * alternates of alternates included. Anything but VCM_OK ends it. */
typedef int (*vcm_git_layout_fn)(void *context, const char *path, struct vcm_error *err);
int vcm_git_layout_each_alternate(struct vcm_git_repo *repo, vcm_git_layout_fn visit, void *context,
                                  struct vcm_error *err);

/* Appends the value of a variable, "lfs.storage", of the repository or its user; nothing when it is
 * not set. */
int vcm_git_layout_setting(struct vcm_buf *out, struct vcm_git_repo *repo, const char *name,
                           struct vcm_error *err);

#endif
