/*
 * clone_remote.h - the refs of a remote. Private to this folder.
 */
#ifndef VCM_GIT_CLONE_REMOTE_H
#define VCM_GIT_CLONE_REMOTE_H

#include "git/runner.h"

struct vcm_git_remote {
    struct vcm_buf text;     /* output of git ls-remote, with NULs for line ends */
    const char *head_branch; /* short; "" when HEAD is detached or missing */
    const char *head_id;     /* hex, or NULL without a HEAD */
};

void vcm_git_clone_remote_init(struct vcm_git_remote *remote);
void vcm_git_clone_remote_release(struct vcm_git_remote *remote);

/* Asks for HEAD and the refs of these full names (NULL at the end). Errors of the runner;
 * UNSUPPORTED when its ids are sha256, NETWORK_ERROR when its answer is malformed. */
int vcm_git_clone_remote_ask(struct vcm_git_remote *remote, const struct vcm_git_runner *runner,
                             const char *const *names, struct vcm_error *err);

/* The id of a ref that was asked for, as 40 hex digits followed by more text, or NULL. */
const char *vcm_git_clone_remote_find(const struct vcm_git_remote *remote, const char *name);

#endif
