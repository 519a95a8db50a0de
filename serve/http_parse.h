/*
 * http_parse.h - requests of HTTP/1.1, strictly by RFC 9112. The owner of http_parser.
 *
 * Takes bytes as they come and gives one request at a time. What the RFC says to refuse is refused
 * with the status to answer with, and the connection is to be closed then: what follows cannot be
 * told from a smuggled request. Knows no socket; one owner, no locking.
 */
#ifndef VCM_SERVE_HTTP_PARSE_H
#define VCM_SERVE_HTTP_PARSE_H

#include "base/arena.h"
#include "base/limits.h"

#define VCM_HTTP_PARSE_HEADERS_MAX 100u

struct vcm_http_request {
    const char *method; /* "POST" */
    char *path;         /* begins with '/', not decoded, without the query */
    const char *query;  /* behind '?', or "" */
    const char *names[VCM_HTTP_PARSE_HEADERS_MAX]; /* of headers, in lower case */
    const char *values[VCM_HTTP_PARSE_HEADERS_MAX];
    unsigned header_count;
    struct vcm_slice body;
    bool keep_alive;
    struct vcm_arena arena; /* holds all of the above but the body */
    struct vcm_buf content;
};

/* The value of a header by its name in lower case, or NULL. */
const char *vcm_http_parse_header(const struct vcm_http_request *request, const char *name);

void vcm_http_parse_release(struct vcm_http_request *request);

enum vcm_http_parse_state {
    VCM_HTTP_PARSE_MORE,     /* feed more */
    VCM_HTTP_PARSE_CONTINUE, /* the client waits for "100 Continue" before it sends the body */
    VCM_HTTP_PARSE_DONE,     /* a request is complete: take it */
    VCM_HTTP_PARSE_REFUSED,  /* answer with the status and close */
};

struct vcm_http_parse;

struct vcm_http_parse *vcm_http_parse_open(size_t body_max);
void vcm_http_parse_close(struct vcm_http_parse *parse);

/* Takes bytes; *used of them belong to the request. Call it again with the rest, after the request
 * was taken. */
enum vcm_http_parse_state vcm_http_parse_feed(struct vcm_http_parse *parse, struct vcm_slice bytes,
                                              size_t *used);

/* The status to refuse with, and why. */
int vcm_http_parse_status(const struct vcm_http_parse *parse, const char **why);

/* Whether a part of a request has arrived. */
bool vcm_http_parse_is_begun(const struct vcm_http_parse *parse);

/* Moves the complete request to the caller, who releases it; the parser begins anew. */
void vcm_http_parse_take(struct vcm_http_request *out, struct vcm_http_parse *parse);

#endif
