/*
 * tree_diff.h - the files in which two commits differ. Directories with equal ids are not read.
 */
#ifndef VCM_GIT_TREE_DIFF_H
#define VCM_GIT_TREE_DIFF_H

#include "git/tree.h"

/* `was` or `is` is NULL for a file that only one of them has; a file that became a link or a
 * submodule is one file that changed. Anything but VCM_OK ends the comparison, which returns it. */
typedef int (*vcm_git_tree_diff_fn)(void *context, struct vcm_slice path,
                                    const struct vcm_git_entry *was, const struct vcm_git_entry *is,
                                    struct vcm_error *err);

/* In the order of paths, a directory as if its name ended with a slash. Without `before` every file
 * of `after` is new. Errors and bounds as of vcm_git_tree_walk(). */
int vcm_git_tree_diff(struct vcm_git_repo *repo, const struct vcm_git_id *before,
                      const struct vcm_git_id *after, vcm_git_tree_diff_fn visit, void *context,
                      const struct vcm_cancel *cancel, struct vcm_error *err);

#endif
