/*
 * http_listen.h - sockets that a server listens at: TCP, in the file system, and inherited.
 */
#ifndef VCM_SERVE_HTTP_LISTEN_H
#define VCM_SERVE_HTTP_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct vcm_http_listener {
    int fd;
    bool is_local; /* in the file system */
    unsigned port; /* of TCP */
    char *path;    /* to be removed at the end, or NULL */
};

/* See http_server.h. */
int vcm_http_listen_tcp(struct vcm_http_listener *out, const char *address, bool allow_remote,
                        struct vcm_error *err);
int vcm_http_listen_unix(struct vcm_http_listener *out, const char *path, struct vcm_error *err);

unsigned vcm_http_listen_inherited_count(void);
int vcm_http_listen_inherited(struct vcm_http_listener *out, unsigned index, struct vcm_error *err);

void vcm_http_listen_close(struct vcm_http_listener *listener);

/* Prepares an accepted socket; *uid is who is at the other end of a local one. */
void vcm_http_listen_prepare(int fd, bool is_local, uid_t *uid);

#endif
