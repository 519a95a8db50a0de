/*
 * http_mcp.h - MCP over Streamable HTTP: one endpoint for both eras, and the sessions of the legacy
 * one.
 *
 * A request is answered with JSON; it becomes a stream of events when something precedes the
 * answer. A client that closes the connection of a modern request cancels it. All functions are for
 * the thread that serves.
 */
#ifndef VCM_SERVE_HTTP_MCP_H
#define VCM_SERVE_HTTP_MCP_H

#include "serve/http_server.h"
#include "serve/mcp.h"

struct vcm_http_mcp;

/* `calls_max`: more requests at a time are told to try again. */
int vcm_http_mcp_open(struct vcm_http_mcp **out, struct vcm_mcp *mcp, unsigned calls_max,
                      struct vcm_error *err);

/* Handles a request to the endpoint. `read_only`: the client may not call what writes. */
void vcm_http_mcp_handle(struct vcm_http_mcp *endpoint, struct vcm_http_exchange *exchange,
                         bool read_only);

/* See struct vcm_http_server_handler. */
void vcm_http_mcp_gone(struct vcm_http_mcp *endpoint, const void *mark);

/* Ends all sessions and their streams. */
void vcm_http_mcp_close(struct vcm_http_mcp *endpoint);

/* Answers with the error object of the program. */
void vcm_http_mcp_refuse(struct vcm_http_exchange *exchange, int status, enum vcm_code code,
                         const char *headers, const char *message);

#endif
