/*
 * The program gets an environment made here: it never prompts, runs no hook and no file system
 * monitor, uses https, ssh and file only, and reads only the user's own configuration file and the
 * clone's, which we write. Secrets are passed in the environment of that one process, for one host.
 * Its standard error is never shown; it is only matched against known messages.
 */
#ifndef VCM_GIT_RUNNER_H
#define VCM_GIT_RUNNER_H

#include "base/cancel.h"
#include "git/url.h"

struct vcm_git_runner {
    const char *git_dir;           /* of the clone */
    const struct vcm_git_url *url; /* of the remote */
    const char *user, *password;   /* for its host; NULL: git asks the user's credential helpers */
    struct vcm_slice input;        /* for its standard input */
    unsigned timeout_ms;
    size_t memory_max;  /* of each process; 0 means VCM_LIMIT_GIT_MEMORY */
    uint64_t bytes_max; /* of a pack that it fetches; 0 means VCM_LIMIT_GIT_FETCH */
    const struct vcm_cancel *cancel;
};

/* Why git failed, where callers handle it. */
enum vcm_git_runner_refusal {
    VCM_GIT_RUNNER_NONE,
    VCM_GIT_RUNNER_UNADVERTISED, /* the server sends only what a ref points to */
    VCM_GIT_RUNNER_NO_SHALLOW,   /* the server sends whole histories only */
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
