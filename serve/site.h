/*
 * site.h - what a server answers by HTTP: /mcp, /healthz and /metrics; everything else, the API and
 * the dashboard, will be routes beside them.
 *
 * Every request passes the same gate first: Host, Origin and Sec-Fetch-Site, then the token.
 */
#ifndef VCM_SERVE_SITE_H
#define VCM_SERVE_SITE_H

#include "serve/auth.h"
#include "serve/http_server.h"
#include "serve/mcp.h"

struct vcm_site_options {
    struct vcm_mcp *mcp;
    struct vcm_auth *auth; /* its port is filled in */
    const char *listen;    /* NULL for none */
    const char *unix_path; /* NULL for none */
    const char *base_path; /* "/vcm", in front of every path; "" for none */
    bool allow_remote;
    const struct vcm_cancel *stop;
    /* Appends the metrics in the text format of Prometheus; may be NULL. */
    void (*put_metrics)(struct vcm_buf *out, void *context);
    /* Called once when everything listens; `port` is 0 without TCP. May be NULL. */
    int (*ready)(void *context, unsigned port, struct vcm_error *err);
    void *context;
};

/* Serves until a stop is requested; then calls have five seconds to end before they are cancelled.
 * The crew of the protocol may be closed afterwards. */
int vcm_site_run(const struct vcm_site_options *options, struct vcm_error *err);

#endif
