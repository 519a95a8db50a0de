/*
 * object_dirs.h - the directories that hold a repository's objects: its own and its alternates, and
 * theirs. Private to this folder.
 */
#ifndef VCM_GIT_OBJECT_DIRS_H
#define VCM_GIT_OBJECT_DIRS_H

#include <sys/types.h>

#include "base/limits.h"
#include "git/internal.h"

struct vcm_git_object_dir {
    char *path; /* perhaps with a slash at the end */
    dev_t device;
    ino_t inode;
};

struct vcm_git_object_dirs {
    unsigned count;
    struct vcm_git_object_dir items[1 + VCM_LIMIT_ALTERNATES]; /* the repository's own first */
};

/* Fills in those that are there, each once; the caller releases them also after a failure.
 * UNSUPPORTED when there are more than VCM_LIMIT_ALTERNATES. */
int vcm_git_object_dirs_find(struct vcm_git_object_dirs *out, git_repository *handle,
                             struct vcm_error *err);
void vcm_git_object_dirs_release(struct vcm_git_object_dirs *dirs);

#endif
