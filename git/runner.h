/*
 * runner.h - runs the git program in a clone that is ours, for what libgit2 cannot do: talk to
 * remotes with a time limit, shallow, through the user's ssh and credential helpers.
 *
 * The program gets an environment made here: it never asks anybody, runs no hook and no file system
 * monitor, speaks https, ssh and file only, and knows of configuration the user's own file and the
 * clone's, which we write. Secrets reach it by the environment of that one process, for one host.
 * What it writes to its standard error is never shown; it is only told apart.
 */
#ifndef VCM_GIT_RUNNER_H
#define VCM_GIT_RUNNER_H

#include "base/cancel.h"
#include "git/url.h"

struct vcm_git_runner {
    const char *git_dir;           /* of the clone */
    const struct vcm_git_url *url; /* that is talked to */
    const char *user, *password;   /* for its host; NULL leaves both to the user's helpers */
    struct vcm_slice input;        /* for its standard input */
    unsigned timeout_ms;
    const struct vcm_cancel *cancel;
};

/* Why git failed, as far as a caller does something about it. */
enum vcm_git_runner_refusal {
    VCM_GIT_RUNNER_NONE,
    VCM_GIT_RUNNER_UNADVERTISED, /* the server gives out only what a ref points to */
    VCM_GIT_RUNNER_NO_SHALLOW,   /* the server gives out whole histories only */
    VCM_GIT_RUNNER_NO_REF,       /* the server has no such ref or commit */
};

/*
 * Runs git with these arguments (without "git"; ends with NULL) and appends its standard output.
 * AUTH_FAILED, NOT_FOUND, NETWORK_ERROR, TIMEOUT, UNSUPPORTED, IO_ERROR, INTERRUPTED; the message
 * names the URL. `refusal` may be NULL.
 */
int vcm_git_runner_run(struct vcm_buf *out, enum vcm_git_runner_refusal *refusal,
                       const struct vcm_git_runner *runner, const char *const *args,
                       struct vcm_error *err);

#endif
