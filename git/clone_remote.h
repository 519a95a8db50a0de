/*
 * clone_remote.h - what a remote says of its refs. Private to this folder.
 */
#ifndef VCM_GIT_CLONE_REMOTE_H
#define VCM_GIT_CLONE_REMOTE_H

#include "git/runner.h"

struct vcm_git_remote {
    struct vcm_buf text;     /* of git ls-remote, lines cut by NULs */
    const char *head_branch; /* short; "" when HEAD is on none */
    const char *head_id;     /* hex, or NULL without a HEAD */
};

void vcm_git_clone_remote_init(struct vcm_git_remote *remote);
void vcm_git_clone_remote_release(struct vcm_git_remote *remote);

/* Asks for HEAD and the refs of these full names (NULL at the end). Errors as of the runner;
 * UNSUPPORTED when its ids are sha256, NETWORK_ERROR when its answer is none. */
int vcm_git_clone_remote_ask(struct vcm_git_remote *remote, const struct vcm_git_runner *runner,
                             const char *const *names, struct vcm_error *err);

/* The id of a ref that was asked for, in hex with more text behind it, or NULL. */
const char *vcm_git_clone_remote_find(const struct vcm_git_remote *remote, const char *name);

#endif
