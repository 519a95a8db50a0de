/*
 * object_dirs.h - the directories with a repository's objects: its own, its alternates, and their
 * alternates. Private to this folder.
 */
#ifndef VCM_GIT_OBJECT_DIRS_H
#define VCM_GIT_OBJECT_DIRS_H

#include <sys/types.h>

#include "base/limits.h"
#include "git/internal.h"

struct vcm_git_object_dir {
    char *path; /* may end with a slash */
    dev_t device;
    ino_t inode;
};

struct vcm_git_object_dirs {
    unsigned count;
    struct vcm_git_object_dir items[1 + VCM_LIMIT_ALTERNATES]; /* the repository's own first */
};

/* Fills in those that exist, each once; the caller releases them also after a failure. UNSUPPORTED
 * when there are more than VCM_LIMIT_ALTERNATES. */
int vcm_git_object_dirs_find(struct vcm_git_object_dirs *out, git_repository *handle,
                             struct vcm_error *err);
void vcm_git_object_dirs_release(struct vcm_git_object_dirs *dirs);

#endif
