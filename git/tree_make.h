/*
 * tree_make.h - the trees that a list of files makes, as 'git write-tree' would write them, in an
 * overlay instead of the repository.
 */
#ifndef VCM_GIT_TREE_MAKE_H
#define VCM_GIT_TREE_MAKE_H

#include "git/overlay.h"
#include "git/tree.h"

/* Sorts the entries by path and makes all trees; *id is that of the root. No path may come twice,
 * or be a directory of another one. */
int vcm_git_tree_make(struct vcm_git_id *id, struct vcm_git_overlay *overlay,
                      struct vcm_git_entry *entries, size_t count, struct vcm_error *err);

/* A commit of this tree, with `parent` unless that is NULL, of no author and no time: the same tree
 * and parent give the same id. */
int vcm_git_tree_make_commit(struct vcm_git_id *id, struct vcm_git_overlay *overlay,
                             const struct vcm_git_id *tree, const struct vcm_git_id *parent,
                             struct vcm_error *err);

#endif
