/*
 * credential.h - the user name and password for a host: from the URL, else from the variable or
 * file that the configuration names. Private to this folder.
 */
#ifndef VCM_GIT_CREDENTIAL_H
#define VCM_GIT_CREDENTIAL_H

#include "git/clone.h"
#include "git/url.h"

struct vcm_git_secret {
    char *user;     /* NULL when there is none */
    char *password; /* NULL when there is none */
};

/* Fills a secret that the caller releases; it stays empty for a host that no pattern matches. A
 * pattern without wildcards wins over one with, and a longer one over a shorter one.
 * AUTH_FAILED when the variable or file is missing or holds no credential. */
int vcm_git_credential_find(struct vcm_git_secret *out, const struct vcm_git_clones *clones,
                            const struct vcm_git_url *url, struct vcm_error *err);

/* Overwrites the secret in memory and frees it. */
void vcm_git_credential_release(struct vcm_git_secret *secret);

#endif
