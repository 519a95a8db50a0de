/*
 * url.h - the address of a repository: of which kind it is, whether it may be used, and its parts.
 *
 * Only https, ssh and file are known, and paths; every other transport, http and git among them, is
 * refused, and so is everything that git or ssh could take for an option. Secrets are taken out of
 * the address here and live in the struct alone.
 */
#ifndef VCM_GIT_URL_H
#define VCM_GIT_URL_H

#include <stdbool.h>

#include "base/buf.h"

enum vcm_git_transport {
    VCM_GIT_URL_PATH, /* of a repository on this machine, to be read in place */
    VCM_GIT_URL_FILE,
    VCM_GIT_URL_HTTPS,
    VCM_GIT_URL_SSH,
};

struct vcm_git_url {
    enum vcm_git_transport transport;
    char *address;  /* for git and for people: the user of ssh stays, secrets and others do not */
    char *host;     /* "example.org" or "example.org:8443" in lower case; "" of files and paths */
    char *path;     /* of files, decoded, and of paths; "" of others */
    char *user;     /* of https, decoded; NULL without one */
    char *password; /* of https, decoded; NULL without one */
};

/* Whether the text has the form of a URL ("https://host/x", "git@host:x", "ext::x") and not that of
 * a path. "host:x" is a path if there is such a file. */
bool vcm_git_url_is_remote(const char *text);

/* Fills a URL that the caller releases, also after a failure. INVALID_ARGUMENT says what is refused
 * and does not repeat a secret. */
int vcm_git_url_parse(struct vcm_git_url *out, const char *text, struct vcm_error *err);

/* Wipes what was secret. */
void vcm_git_url_release(struct vcm_git_url *url);

#endif
