/*
 * clone_target.h - which ref or id of the remote a request means. Private to this folder.
 */
#ifndef VCM_GIT_CLONE_TARGET_H
#define VCM_GIT_CLONE_TARGET_H

#include "git/clone_fetch.h"

/* Checks the names of the request and fills in name, steps, subpath and depth. */
int vcm_git_clone_target_parse(struct vcm_git_fetch *fetch, struct vcm_error *err);

/* Whether the commit is named by its whole id: then the remote need not be asked. */
bool vcm_git_clone_target_is_id(const struct vcm_git_fetch *fetch);

/* Asks the remote for HEAD, for every ref that the names may mean, and for the refs of the clone,
 * and removes the branches and tags of the clone that the remote no longer has. */
int vcm_git_clone_target_ask(struct vcm_git_fetch *fetch, struct vcm_error *err);

/* After the remote was asked, or when the commit is named by its whole id. */
int vcm_git_clone_target_choose(struct vcm_git_target *target, const struct vcm_git_fetch *fetch,
                                struct vcm_error *err);

#endif
