/*
 * clone_repair.h - whether a clone of ours is damaged, so that it is made anew instead of blaming
 * the remote. Private to this folder.
 *
 * A fetch that fails looks for damage, and so does one into a clone that was suspected: somebody
 * could not read an object of it. No look costs anything while all is well.
 */
#ifndef VCM_GIT_CLONE_REPAIR_H
#define VCM_GIT_CLONE_REPAIR_H

#include "git/clone_fetch.h"

/* Notes that an object of the repository could not be read, for libgit2's reason `git_code`. Does
 * nothing unless it is a clone of ours; objects that a partial clone lacks are no damage.
 * Overwrites libgit2's last message. */
void vcm_git_clone_repair_suspect(struct vcm_git_repo *repo, int git_code);

/* Whether the clone of a fetch was suspected and has a damaged object. If it has none, the
 * suspicion is dropped. */
bool vcm_git_clone_repair_confirm(const struct vcm_git_fetch *fetch);

/* Whether damage of the clone can be why the fetch failed with this code. */
bool vcm_git_clone_repair_explains(const struct vcm_git_fetch *fetch, int code);

#endif
