/*
 * worktree.h - the working tree as one more commit: HEAD with what is changed, staged, untracked
 * and not ignored, and deleted.
 *
 * What counts is what 'git add --all' would take: tracked files as they lie on disk, and files that
 * no ignore rule of git matches, the user's own rules among them. Nothing is written to the
 * repository, no filter, hook or file system monitor is run, links are not followed, and nothing
 * but regular files is opened. Each file is read once; what is read stays the same from then on,
 * whatever happens to the file.
 * Files whose times and sizes are those in git's index are not read.
 */
#ifndef VCM_SOURCES_WORKTREE_H
#define VCM_SOURCES_WORKTREE_H

#include "base/cancel.h"
#include "git/repo.h"

struct vcm_worktree {
    /* A commit that no repository holds: the handle reads it like any other. */
    struct vcm_git_id commit;
    struct vcm_git_id tree; /* the id that 'git write-tree' would give */
    struct vcm_git_id head; /* parent of `commit`, when has_head */
    bool has_head;          /* false: the repository has no commit yet */
    uint64_t changes;       /* files that differ from HEAD; all of them without one */
};

/*
 * Takes a snapshot of the working tree, which belongs to the handle from then on: everything that
 * reads the handle (and those of vcm_git_repo_open_again()) finds the objects of `commit`. A handle
 * has one snapshot at most. UNSUPPORTED: a bare repository, or an index that cannot be read;
 * IO_ERROR: a tracked file that cannot be read, or changes all the time.
 */
int vcm_worktree_take(struct vcm_worktree *out, struct vcm_git_repo *repo,
                      const struct vcm_cancel *cancel, struct vcm_error *err);

/* Only out->changes and the ids: no text is kept, and the handle does not change. The changes are
 * those since `commit`; NULL for HEAD. None for a bare repository. */
int vcm_worktree_count(struct vcm_worktree *out, struct vcm_git_repo *repo,
                       const struct vcm_git_id *commit, const struct vcm_cancel *cancel,
                       struct vcm_error *err);

#endif
