/*
 * http_server.h - connections, on one thread with poll(2): reads requests, hands each to a handler,
 * sends what any thread answers.
 *
 * Knows no path and no token: the handler does. An exchange is a request and its answer; it belongs
 * to the handler, which ends it by exactly one call of respond, or of stream and then end, on any
 * thread. A client that leaves before is reported at once.
 */
#ifndef VCM_SERVE_HTTP_SERVER_H
#define VCM_SERVE_HTTP_SERVER_H

#include <sys/types.h>

#include "base/cancel.h"
#include "serve/http_parse.h"

struct vcm_http_server;
struct vcm_http_exchange;

struct vcm_http_server_handler {
    /* Called on the thread that serves. */
    void (*handle)(void *context, struct vcm_http_exchange *exchange);
    /* The client of the exchange with this mark is gone; on the same thread. Its exchange may have
     * ended meanwhile: the mark is to be compared, not followed. */
    void (*gone)(void *context, const void *mark);
    void *context;
};

int vcm_http_server_open(struct vcm_http_server **out,
                         const struct vcm_http_server_handler *handler, struct vcm_error *err);

/* Listens at "127.0.0.1:7411", "[::1]:0" or "localhost:80". INVALID_ARGUMENT for other forms and,
 * without `allow_remote`, for addresses other than loopback; STORE_BUSY when it is taken. */
int vcm_http_server_listen(struct vcm_http_server *server, const char *address, bool allow_remote,
                           struct vcm_error *err);

/* Listens at a socket in the file system, which the owner alone may open, and which is removed at
 * the end. A socket that nobody serves any more is replaced. */
int vcm_http_server_listen_unix(struct vcm_http_server *server, const char *path,
                                struct vcm_error *err);

/* Takes over sockets that another program has opened (LISTEN_FDS); *count is how many. */
int vcm_http_server_listen_inherited(struct vcm_http_server *server, unsigned *count,
                                     struct vcm_error *err);

/* The port of the first TCP address; 0 without one. */
unsigned vcm_http_server_port(const struct vcm_http_server *server);

/* Serves until `stop` is requested. Then accepts nothing more, and calls `is_busy` until it is
 * false, for `grace_ms` at most; both on this thread. */
int vcm_http_server_run(struct vcm_http_server *server, const struct vcm_cancel *stop,
                        bool (*is_busy)(void *context), unsigned grace_ms, struct vcm_error *err);

/* Ends what is still open. No exchange may be answered any more. */
void vcm_http_server_close(struct vcm_http_server *server);

unsigned vcm_http_server_connections(struct vcm_http_server *server);

/* Of an exchange. */

const struct vcm_http_request *vcm_http_server_request(const struct vcm_http_exchange *exchange);

/* Whether the client came by a socket of the file system, and as whom. */
bool vcm_http_server_is_local(const struct vcm_http_exchange *exchange, uid_t *uid);

/* What `gone` will be told. */
void vcm_http_server_mark(struct vcm_http_exchange *exchange, const void *mark);

/* Answers and ends. `headers` are whole lines with CR LF, "" for none; `type` may be NULL. */
void vcm_http_server_respond(struct vcm_http_exchange *exchange, int status, const char *type,
                             const char *headers, struct vcm_slice body);

/* Begins a stream of events (SSE). */
void vcm_http_server_stream(struct vcm_http_exchange *exchange, const char *headers);
/* Sends one event of the stream, whose text has no line break; false if the client is gone or does
 * not read. */
bool vcm_http_server_send(struct vcm_http_exchange *exchange, struct vcm_slice event);
void vcm_http_server_end(struct vcm_http_exchange *exchange);

#endif
