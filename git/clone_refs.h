/*
 * clone_refs.h - the refs of a clone that we manage: which commits are kept, and how the remote's
 * branches and tags were last seen. Private to this folder.
 */
#ifndef VCM_GIT_CLONE_REFS_H
#define VCM_GIT_CLONE_REFS_H

#include "git/repo.h"

#define VCM_GIT_REF_COMMITS "refs/vcm/commits/" /* commits that were fetched with all blobs */
#define VCM_GIT_REF_PARTS   "refs/vcm/parts/"   /* commits with all trees and some of the blobs */
#define VCM_GIT_REF_HEADS   "refs/heads/"
#define VCM_GIT_REF_TAGS    "refs/tags/"
#define VCM_GIT_REF_BYTES   1024

/* Whether a ref is a branch or a tag, that is, a copy of one of the remote's refs. */
bool vcm_git_clone_refs_is_copied(const char *name);

/* Whether the ref "<prefix><id>" exists. */
bool vcm_git_clone_refs_has(const struct vcm_git_repo *repo, const char *prefix,
                            const struct vcm_git_id *id);

/* The same, and the commit and its root tree are in the clone; what is below is not checked. */
bool vcm_git_clone_refs_is_kept(const struct vcm_git_repo *repo, const char *prefix,
                                const struct vcm_git_id *id);

/* Whether every kept commit is still in the clone, with its root tree. */
bool vcm_git_clone_refs_is_sound(const struct vcm_git_repo *repo);

/* Sets a ref. When an old ref prevents that ("a" prevents "a/b"), all branches and tags are removed
 * first: they are only copies of the remote's refs, and the commits have refs of their own. */
int vcm_git_clone_refs_set(const struct vcm_git_repo *repo, const char *name,
                           const struct vcm_git_id *id, struct vcm_error *err);

/* Records a commit that was fetched. A commit that is now whole loses its ref under PARTS. */
int vcm_git_clone_refs_keep(const struct vcm_git_repo *repo, const struct vcm_git_id *id,
                            bool is_whole, struct vcm_error *err);

#endif
