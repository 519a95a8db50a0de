#include "serve/http_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/http_listen.h"

#include "base/banned.h"

#define READ_BYTES     ((size_t)64 * 1024)
#define IN_BYTES_MAX   ((size_t)128 * 1024) /* that wait while a request is answered */
#define PING_MS        15000u
#define LISTENERS_MAX  16u
#define OUT_BYTES_MAX  ((size_t)128 * 1024 * 1024)
#define DROP_BYTES_MAX ((size_t)1024 * 1024) /* read from a client after it was refused */

/* Of a connection: */
enum state {
    READING,   /* a request is awaited, or arrives */
    ANSWERING, /* the handler has it */
    STREAMING, /* and sends events */
    CLOSING,   /* the last bytes are being sent */
};

struct connection {
    int fd;
    enum state state;
    bool is_local;
    uid_t uid;
    struct vcm_http_parse *parse;
    struct vcm_buf in;
    struct vcm_buf out;
    size_t out_at;                      /* sent already */
    struct vcm_http_exchange *exchange; /* NULL while READING or CLOSING */
    uint64_t since_ms;                  /* of the request's first byte, or of the last answer */
    uint64_t sent_ms;                   /* when something was sent last */
    bool is_broken;                     /* close it */
};

struct vcm_http_exchange {
    struct vcm_http_server *server;
    struct connection *connection; /* NULL when the client is gone */
    struct vcm_http_request request;
    bool is_local;
    uid_t uid;
    const void *mark;
};

struct vcm_http_server {
    struct vcm_http_server_handler handler;
    struct vcm_http_listener listeners[LISTENERS_MAX];
    unsigned listener_count;
    int wake_fd;
    pthread_mutex_t lock; /* of the connections' output and exchanges */
    struct connection *connections[VCM_LIMIT_HTTP_CONNECTIONS];
    unsigned count;
};

int vcm_http_server_open(struct vcm_http_server **out,
                         const struct vcm_http_server_handler *handler, struct vcm_error *err)
{
    struct vcm_http_server *server = calloc(1, sizeof *server);

    *out = NULL;
    if (!server)
        return vcm_error_memory(err);
    server->handler = *handler;
    server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->wake_fd < 0) {
        int failure = errno;
        free(server);
        return vcm_error_sys(err, VCM_IO_ERROR, failure, "cannot make an event descriptor");
    }
    pthread_mutex_init(&server->lock, NULL);
    *out = server;
    return VCM_OK;
}

static int add_listener(struct vcm_http_server *server, int rc, struct vcm_http_listener listener,
                        struct vcm_error *err)
{
    if (rc != VCM_OK)
        return rc;
    if (server->listener_count == LISTENERS_MAX) {
        vcm_http_listen_close(&listener);
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "there are too many addresses");
    }
    server->listeners[server->listener_count++] = listener;
    return VCM_OK;
}

int vcm_http_server_listen(struct vcm_http_server *server, const char *address, bool allow_remote,
                           struct vcm_error *err)
{
    struct vcm_http_listener listener = {.fd = -1};
    int rc = vcm_http_listen_tcp(&listener, address, allow_remote, err);

    return add_listener(server, rc, listener, err);
}

int vcm_http_server_listen_unix(struct vcm_http_server *server, const char *path,
                                struct vcm_error *err)
{
    struct vcm_http_listener listener = {.fd = -1};
    int rc = vcm_http_listen_unix(&listener, path, err);

    return add_listener(server, rc, listener, err);
}

int vcm_http_server_listen_inherited(struct vcm_http_server *server, unsigned *count,
                                     struct vcm_error *err)
{
    struct vcm_http_listener listener = {.fd = -1};
    int rc = VCM_OK;

    *count = vcm_http_listen_inherited_count();
    for (unsigned i = 0; rc == VCM_OK && i < *count; i++) {
        rc = vcm_http_listen_inherited(&listener, i, err);
        rc = add_listener(server, rc, listener, err);
    }
    return rc;
}

unsigned vcm_http_server_port(const struct vcm_http_server *server)
{
    for (unsigned i = 0; i < server->listener_count; i++)
        if (!server->listeners[i].is_local)
            return server->listeners[i].port;
    return 0;
}

unsigned vcm_http_server_connections(struct vcm_http_server *server)
{
    pthread_mutex_lock(&server->lock);
    unsigned count = server->count;
    pthread_mutex_unlock(&server->lock);
    return count;
}

static void wake(struct vcm_http_server *server)
{
    uint64_t one = 1;

    if (write(server->wake_fd, &one, sizeof one) < 0)
        return; /* it is full: the thread will wake up */
}

/* With the lock held: sends what the socket takes. */
static void flush(struct connection *c)
{
    while (c->out_at < c->out.len && !c->is_broken) {
        ssize_t sent = send(c->fd, c->out.data + c->out_at, c->out.len - c->out_at,
                            MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            c->out_at += (size_t)sent;
            c->sent_ms = vcm_clock_ms();
        } else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            break;
        } else if (sent == 0 || errno != EINTR) {
            c->is_broken = true;
        }
    }
    if (c->out_at == c->out.len) {
        vcm_buf_clear(&c->out);
        c->out_at = 0;
    }
}

static const char *reason_of(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {202, "Accepted"},
        {204, "No Content"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {413, "Content Too Large"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };

    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Error";
}

static void put_head(struct vcm_buf *out, int status, const char *type, const char *headers,
                     bool keep_alive)
{
    vcm_buf_append_format(out,
                          "HTTP/1.1 %d %s\r\nCache-Control: no-store\r\n"
                          "X-Content-Type-Options: nosniff\r\nConnection: %s\r\n%s",
                          status, reason_of(status), keep_alive ? "keep-alive" : "close", headers);
    if (type)
        vcm_buf_append_format(out, "Content-Type: %s\r\n", type);
}

static void put_answer(struct vcm_buf *out, int status, const char *type, const char *headers,
                       struct vcm_slice body, bool keep_alive)
{
    put_head(out, status, type, headers, keep_alive);
    if (status != 204)
        vcm_buf_append_format(out, "Content-Length: %zu\r\n", body.len);
    vcm_buf_append_string(out, "\r\n");
    vcm_buf_append_slice(out, body);
}

static void put_refusal(struct vcm_buf *out, int status, const char *why)
{
    struct vcm_buf body = VCM_BUF_INIT(VCM_KIB);

    vcm_buf_append_format(&body,
                          "{\"error\":{\"code\":\"%s\",\"message\":\"%s\",\"details\":{},"
                          "\"retryable\":%s}}\n",
                          status == 408   ? "TIMEOUT"
                          : status == 503 ? "STORE_BUSY"
                                          : "INVALID_ARGUMENT",
                          why, status == 503 ? "true" : "false");
    put_answer(out, status, "application/json", status == 503 ? "Retry-After: 1\r\n" : "",
               vcm_buf_slice(&body), false);
    vcm_buf_release(&body);
}

static void free_exchange(struct vcm_http_exchange *exchange)
{
    vcm_http_parse_release(&exchange->request);
    free(exchange);
}

/* With the lock held: the answer is complete. */
static void settle(struct vcm_http_exchange *exchange, bool keep_alive)
{
    struct connection *c = exchange->connection;

    if (c) {
        c->exchange = NULL;
        c->state = keep_alive ? READING : CLOSING;
        c->since_ms = c->sent_ms = vcm_clock_ms();
        flush(c);
        /* The thread that serves has to look at it again. */
        if (c->state == CLOSING || c->is_broken || c->out.len > 0 || c->in.len > 0)
            wake(exchange->server);
    }
    free_exchange(exchange);
}

void vcm_http_server_respond(struct vcm_http_exchange *exchange, int status, const char *type,
                             const char *headers, struct vcm_slice body)
{
    struct vcm_http_server *server = exchange->server;
    bool keep_alive = exchange->request.keep_alive && status != 413;

    pthread_mutex_lock(&server->lock);
    if (exchange->connection)
        put_answer(&exchange->connection->out, status, type, headers, body, keep_alive);
    settle(exchange, keep_alive);
    pthread_mutex_unlock(&server->lock);
}

void vcm_http_server_stream(struct vcm_http_exchange *exchange, const char *headers)
{
    struct vcm_http_server *server = exchange->server;
    struct connection *c;

    pthread_mutex_lock(&server->lock);
    if ((c = exchange->connection)) {
        put_head(&c->out, 200, "text/event-stream", headers, false);
        vcm_buf_append_string(&c->out, "X-Accel-Buffering: no\r\n\r\n");
        c->state = STREAMING;
        flush(c);
        wake(server); /* for the comments in between */
    }
    pthread_mutex_unlock(&server->lock);
}

bool vcm_http_server_send(struct vcm_http_exchange *exchange, struct vcm_slice event)
{
    struct vcm_http_server *server = exchange->server;
    struct connection *c;

    pthread_mutex_lock(&server->lock);
    if ((c = exchange->connection)) {
        vcm_buf_append_string(&c->out, "event: message\ndata: ");
        vcm_buf_append_slice(&c->out, event);
        vcm_buf_append_string(&c->out, "\n\n");
        flush(c);
        if (c->out.len - c->out_at > VCM_LIMIT_HTTP_STREAM_BYTES + event.len)
            c->is_broken = true;
        if (c->is_broken || c->out.len > 0)
            wake(server);
    }
    bool is_there = c && !c->is_broken;
    pthread_mutex_unlock(&server->lock);
    return is_there;
}

void vcm_http_server_end(struct vcm_http_exchange *exchange)
{
    struct vcm_http_server *server = exchange->server;

    pthread_mutex_lock(&server->lock);
    settle(exchange, false);
    pthread_mutex_unlock(&server->lock);
}

const struct vcm_http_request *vcm_http_server_request(const struct vcm_http_exchange *exchange)
{
    return &exchange->request;
}

bool vcm_http_server_is_local(const struct vcm_http_exchange *exchange, uid_t *uid)
{
    *uid = exchange->uid;
    return exchange->is_local;
}

void vcm_http_server_mark(struct vcm_http_exchange *exchange, const void *mark)
{
    pthread_mutex_lock(&exchange->server->lock);
    exchange->mark = mark;
    pthread_mutex_unlock(&exchange->server->lock);
}

static void free_connection(struct connection *c)
{
    close(c->fd);
    vcm_http_parse_close(c->parse);
    vcm_buf_release(&c->in);
    vcm_buf_release(&c->out);
    free(c);
}

/* The client is gone, or has to go. */
static void drop(struct vcm_http_server *server, struct connection *c)
{
    const void *mark = NULL;

    pthread_mutex_lock(&server->lock);
    if (c->exchange) {
        mark = c->exchange->mark;
        c->exchange->connection = NULL;
    }
    for (unsigned i = 0; i < server->count; i++)
        if (server->connections[i] == c)
            server->connections[i] = server->connections[--server->count];
    pthread_mutex_unlock(&server->lock);
    free_connection(c);
    if (mark)
        server->handler.gone(server->handler.context, mark);
}

static void refuse(struct vcm_http_server *server, struct connection *c, int status,
                   const char *why)
{
    pthread_mutex_lock(&server->lock);
    put_refusal(&c->out, status, why);
    c->state = CLOSING;
    c->since_ms = vcm_clock_ms();
    flush(c);
    shutdown(c->fd, SHUT_WR); /* a client that still sends gets to read the answer */
    pthread_mutex_unlock(&server->lock);
}

/* Hands a complete request to the handler. */
static void hand_over(struct vcm_http_server *server, struct connection *c)
{
    struct vcm_http_exchange *exchange = calloc(1, sizeof *exchange);

    if (!exchange) {
        refuse(server, c, 503, "out of memory");
        return;
    }
    exchange->server = server;
    exchange->is_local = c->is_local;
    exchange->uid = c->uid;
    vcm_http_parse_take(&exchange->request, c->parse);
    pthread_mutex_lock(&server->lock);
    exchange->connection = c;
    c->exchange = exchange;
    c->state = ANSWERING;
    pthread_mutex_unlock(&server->lock);
    server->handler.handle(server->handler.context, exchange);
}

static enum state state_of(struct vcm_http_server *server, const struct connection *c)
{
    pthread_mutex_lock(&server->lock);
    enum state state = c->state;
    pthread_mutex_unlock(&server->lock);
    return state;
}

/* Parses what has arrived, request by request, as long as they are answered at once. */
static void advance(struct vcm_http_server *server, struct connection *c)
{
    const char *why;
    size_t used;

    while (c->in.len > 0 && state_of(server, c) == READING) {
        enum vcm_http_parse_state state =
            vcm_http_parse_feed(c->parse, vcm_buf_slice(&c->in), &used);
        memmove(c->in.data, c->in.data + used, c->in.len - used);
        vcm_buf_truncate(&c->in, c->in.len - used);
        if (state == VCM_HTTP_PARSE_DONE)
            hand_over(server, c);
        else if (state == VCM_HTTP_PARSE_REFUSED)
            refuse(server, c, vcm_http_parse_status(c->parse, &why), why);
        else if (state == VCM_HTTP_PARSE_CONTINUE) {
            pthread_mutex_lock(&server->lock);
            vcm_buf_append_string(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
            flush(c);
            pthread_mutex_unlock(&server->lock);
        } else if (used == 0) {
            break;
        }
    }
}

/* False when the connection has ended. */
static bool read_some(struct vcm_http_server *server, struct connection *c)
{
    bool is_new = c->in.len == 0 && !vcm_http_parse_is_begun(c->parse);
    char *room = vcm_buf_reserve(&c->in, READ_BYTES);
    ssize_t got = room ? recv(c->fd, room, READ_BYTES, MSG_DONTWAIT) : 0;

    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (got == 0)
        return false;
    if (state_of(server, c) == CLOSING) /* nobody reads it any more */
        return (c->since_ms += 1) != 0;
    vcm_buf_advance(&c->in, (size_t)got);
    if (is_new && state_of(server, c) == READING)
        c->since_ms = vcm_clock_ms();
    advance(server, c);
    return true;
}

static void accept_one(struct vcm_http_server *server, const struct vcm_http_listener *listener)
{
    int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct vcm_buf refusal = VCM_BUF_INIT(4 * VCM_KIB);

    if (fd < 0)
        return;
    struct connection *c = server->count < VCM_LIMIT_HTTP_CONNECTIONS ? calloc(1, sizeof *c) : NULL;
    if (c)
        c->parse = vcm_http_parse_open(VCM_LIMIT_HTTP_BODY_BYTES);
    if (!c || !c->parse) {
        put_refusal(&refusal, 503, "there are too many connections; try again");
        send(fd, refusal.data, refusal.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        vcm_buf_release(&refusal);
        close(fd);
        free(c);
        return;
    }
    c->fd = fd;
    c->is_local = listener->is_local;
    vcm_http_listen_prepare(fd, c->is_local, &c->uid);
    vcm_buf_init(&c->in, IN_BYTES_MAX + READ_BYTES);
    vcm_buf_init(&c->out, OUT_BYTES_MAX);
    c->since_ms = c->sent_ms = vcm_clock_ms();
    pthread_mutex_lock(&server->lock);
    server->connections[server->count++] = c;
    pthread_mutex_unlock(&server->lock);
}

/* When the connection has to be looked at again, if nothing happens. */
static uint64_t deadline_of(const struct connection *c)
{
    if (c->out.len > 0)
        return c->sent_ms + VCM_LIMIT_HTTP_IDLE_MS;
    if (c->state == STREAMING)
        return c->sent_ms + PING_MS;
    if (c->state == CLOSING)
        return c->since_ms + 2000;
    if (c->state != READING)
        return UINT64_MAX;
    return c->since_ms +
           (vcm_http_parse_is_begun(c->parse) ? VCM_LIMIT_HTTP_ARRIVAL_MS : VCM_LIMIT_HTTP_IDLE_MS);
}

/* False if the connection has to be closed now. */
static bool check_time(struct vcm_http_server *server, struct connection *c, uint64_t now)
{
    bool is_late = false;

    pthread_mutex_lock(&server->lock);
    if (!c->is_broken && now >= deadline_of(c)) {
        if (c->out.len > 0 || c->state == CLOSING || !vcm_http_parse_is_begun(c->parse))
            c->is_broken = c->state != STREAMING || c->out.len > 0;
        else
            is_late = c->state == READING;
        if (c->state == STREAMING && !c->is_broken) {
            vcm_buf_append_string(&c->out, ": still here\n\n");
            flush(c);
            c->sent_ms = now;
        }
    }
    bool is_broken = c->is_broken;
    pthread_mutex_unlock(&server->lock);
    if (is_late)
        refuse(server, c, 408, "the request did not arrive in time");
    return !is_broken;
}

/* Fills in what to wait for; returns how long, in milliseconds, or -1. */
static int prepare(struct vcm_http_server *server, struct pollfd *fds, bool accepts)
{
    uint64_t now = vcm_clock_ms(), first = UINT64_MAX;
    unsigned n = 0;

    fds[n++] = (struct pollfd){.fd = server->wake_fd, .events = POLLIN};
    for (unsigned i = 0; i < server->listener_count; i++)
        fds[n++] = (struct pollfd){.fd = accepts ? server->listeners[i].fd : -1, .events = POLLIN};
    pthread_mutex_lock(&server->lock);
    for (unsigned i = 0; i < server->count; i++) {
        const struct connection *c = server->connections[i];
        uint64_t deadline = deadline_of(c);
        short events = POLLRDHUP;
        if (c->in.len < IN_BYTES_MAX)
            events |= POLLIN;
        if (c->out.len > 0)
            events |= POLLOUT;
        fds[n++] = (struct pollfd){.fd = c->fd, .events = events};
        first = deadline < first ? deadline : first;
    }
    pthread_mutex_unlock(&server->lock);
    if (first == UINT64_MAX)
        return -1;
    return first <= now ? 0 : first - now > 60000 ? 60000 : (int)(first - now) + 1;
}

static void serve_connection(struct vcm_http_server *server, struct connection *c, short events)
{
    bool is_open = true;

    if (events & POLLOUT) {
        pthread_mutex_lock(&server->lock);
        flush(c);
        pthread_mutex_unlock(&server->lock);
    }
    if (events & POLLIN)
        is_open = read_some(server, c);
    else if (events & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL))
        is_open = false;
    else if (state_of(server, c) == READING)
        advance(server, c); /* a request that arrived with the one before */
    /* A client that has sent all it will send, and waits: it is gone as far as we can tell. */
    if (is_open && events & POLLRDHUP && state_of(server, c) != READING)
        is_open = false;
    pthread_mutex_lock(&server->lock);
    if (c->is_broken || (c->state == CLOSING && c->out.len == 0 && events & POLLRDHUP))
        is_open = false;
    if (c->state == CLOSING && c->out.len == 0)
        shutdown(c->fd, SHUT_WR);
    pthread_mutex_unlock(&server->lock);
    if (!is_open || !check_time(server, c, vcm_clock_ms()))
        drop(server, c);
}

/* One round: waits, then serves whoever has something. */
static void serve_round(struct vcm_http_server *server, struct pollfd *fds, bool accepts,
                        int most_ms, const sigset_t *mask)
{
    unsigned head = 1 + server->listener_count, count = server->count;
    struct connection *served[VCM_LIMIT_HTTP_CONNECTIONS];
    int wait_ms = prepare(server, fds, accepts);
    uint64_t number;

    if (most_ms >= 0 && (wait_ms < 0 || wait_ms > most_ms))
        wait_ms = most_ms;
    const struct timespec until = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000L};
    memcpy(served, server->connections, count * sizeof(struct connection *));
    if (ppoll(fds, head + count, wait_ms < 0 ? NULL : &until, mask) < 0)
        return;
    if (fds[0].revents && read(server->wake_fd, &number, sizeof number) < 0)
        number = 0;
    for (unsigned i = 0; i < count; i++)
        serve_connection(server, served[i], fds[head + i].revents);
    for (unsigned i = 0; i < server->listener_count; i++)
        if (fds[1 + i].revents)
            accept_one(server, &server->listeners[i]);
}

static bool has_output(struct vcm_http_server *server)
{
    bool any = false;

    pthread_mutex_lock(&server->lock);
    for (unsigned i = 0; i < server->count; i++)
        any = any || server->connections[i]->out.len > 0 ||
              server->connections[i]->state == ANSWERING;
    pthread_mutex_unlock(&server->lock);
    return any;
}

int vcm_http_server_run(struct vcm_http_server *server, const struct vcm_cancel *stop,
                        bool (*is_busy)(void *context), unsigned grace_ms, struct vcm_error *err)
{
    struct pollfd fds[1 + LISTENERS_MAX + VCM_LIMIT_HTTP_CONNECTIONS];
    sigset_t stops, before;

    if (server->listener_count == 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "there is no address to listen at");
    sigemptyset(&stops);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &stops, &before);
    while (!vcm_cancel_is_requested(stop))
        serve_round(server, fds, true, -1, &before);
    uint64_t until = vcm_clock_ms() + grace_ms;
    while ((is_busy(server->handler.context) || has_output(server)) && vcm_clock_ms() < until)
        serve_round(server, fds, false, 20, &before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return VCM_OK;
}

void vcm_http_server_close(struct vcm_http_server *server)
{
    if (!server)
        return;
    while (server->count > 0)
        drop(server, server->connections[0]);
    for (unsigned i = 0; i < server->listener_count; i++)
        vcm_http_listen_close(&server->listeners[i]);
    close(server->wake_fd);
    pthread_mutex_destroy(&server->lock);
    free(server);
}
