/*
 * tree_count.h - how many entries a tree names, before they are visited: directories that are
 * shared are counted once and multiplied, so that ten small trees that name each other ten times
 * are refused at once and not after 10^10 paths. Private to this folder.
 */
#ifndef VCM_GIT_TREE_COUNT_H
#define VCM_GIT_TREE_COUNT_H

#include "base/cancel.h"
#include "git/internal.h"

/* UNSUPPORTED when more entries, files and directories at all depths, are in the tree than
 * vcm_cancel_entries_max() allows. What cannot be read is counted as empty: the walk reports it. */
int vcm_git_tree_count_check(struct vcm_git_repo *repo, const struct vcm_git_id *tree,
                             const struct vcm_cancel *cancel, struct vcm_error *err);

/* The refusal itself, for a walk that counted as far. */
int vcm_git_tree_count_refuse(const struct vcm_cancel *cancel, struct vcm_error *err);

/* The key of a tree in notes. */
uint64_t vcm_git_tree_count_key(const struct vcm_git_id *id);

#endif
