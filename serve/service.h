/*
 * service.h - vcm as a server of MCP: the crew, the protocol and the features, put together for a
 * transport.
 *
 * Opening one touches neither the home nor the disk, and starts no thread.
 */
#ifndef VCM_SERVE_SERVICE_H
#define VCM_SERVE_SERVICE_H

#include "serve/tools.h"

struct vcm_service;

struct vcm_service_options {
    struct vcm_tools tools;    /* the roots must outlive the service */
    const char *home;          /* NULL for the default */
    const struct vcm_log *log; /* may be NULL */
    unsigned waiting_max;      /* calls in the queue */
};

int vcm_service_open(struct vcm_service **out, const struct vcm_service_options *options,
                     struct vcm_error *err);
struct vcm_mcp *vcm_service_mcp(struct vcm_service *service);

/* Appends what it has counted, in the text format of Prometheus. */
void vcm_service_put_metrics(struct vcm_buf *out, const struct vcm_service *service);

/* The transport has ended: all its calls are done. */
void vcm_service_close(struct vcm_service *service);

#endif
