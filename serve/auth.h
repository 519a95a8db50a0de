/*
 * auth.h - who may ask: tokens, and the checks that keep other web pages out.
 *
 * Constant after it was loaded; any thread may ask.
 */
#ifndef VCM_SERVE_AUTH_H
#define VCM_SERVE_AUTH_H

#include <sys/types.h>

#include "serve/http_parse.h"

#define VCM_AUTH_TOKEN_BYTES 43u /* 256 bits as base64 for URLs */

enum vcm_auth_right {
    VCM_AUTH_NOTHING,
    VCM_AUTH_READ, /* tools that do not write */
    VCM_AUTH_ALL,
};

struct vcm_auth {
    char read_token[VCM_AUTH_TOKEN_BYTES + 1];
    char all_token[VCM_AUTH_TOKEN_BYTES + 1];
    unsigned port;            /* that a Host must name; 0: sockets of the file system alone */
    const char *const *hosts; /* more names of this machine */
    size_t host_count;
    bool is_open; /* no token is asked for; for tests of the protocol */
};

/* Reads the tokens, or makes them and the file when it is missing. INVALID_ARGUMENT for a file that
 * others may read, or that holds something else. */
int vcm_auth_load(struct vcm_auth *auth, const char *path, struct vcm_error *err);

/* Whether the request comes from this machine's own pages, or from no page: Host, Origin and
 * Sec-Fetch-Site. Else *why says what is wrong. */
bool vcm_auth_is_ours(const struct vcm_auth *auth, const struct vcm_http_request *request,
                      bool is_local, const char **why);

/* What the sender may do: by its token, or as the owner of a local socket. */
enum vcm_auth_right vcm_auth_right_of(const struct vcm_auth *auth,
                                      const struct vcm_http_request *request, bool is_local,
                                      uid_t uid);

/* Fills `out` with random bytes. */
int vcm_auth_random(unsigned char *out, size_t len, struct vcm_error *err);

#endif
