#include "serve/stdio.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/limits.h"

#include "base/banned.h"

#define READ_BYTES ((size_t)64 * 1024)
#define GRACE_MS   5000u

struct connection {
    struct vcm_mcp_channel channel; /* first: its address is the connection's */
    struct vcm_mcp *mcp;
    struct vcm_mcp_peer *peer;
    pthread_mutex_t lock; /* of the output */
    int out_fd;
    bool is_gone; /* the client does not read any more */
    struct vcm_buf in;
    bool is_skipping; /* the rest of a line that is too long */
};

/* Messages contain no line break: our writer escapes them. */
static bool write_line(struct connection *connection, struct vcm_slice message)
{
    struct vcm_buf line = VCM_BUF_INIT(message.len + 2);

    vcm_buf_append_slice(&line, message);
    vcm_buf_append_byte(&line, '\n');
    pthread_mutex_lock(&connection->lock);
    if (!connection->is_gone && line.fault == VCM_BUF_FINE)
        connection->is_gone = vcm_io_write_all(connection->out_fd, vcm_buf_slice(&line)) != 0;
    bool is_there = !connection->is_gone;
    pthread_mutex_unlock(&connection->lock);
    vcm_buf_release(&line);
    return is_there;
}

static bool notify(struct vcm_mcp_channel *channel, struct vcm_slice message)
{
    return write_line((struct connection *)channel, message);
}

static void finish(struct vcm_mcp_channel *channel, struct vcm_slice answer, int code)
{
    (void)code;
    if (answer.len > 0)
        write_line((struct connection *)channel, answer);
}

static void take_line(struct connection *connection, struct vcm_slice line)
{
    struct vcm_rpc_failure failure;
    struct vcm_mcp_channel *channel = &connection->channel;

    if (line.len > 0 && line.data[line.len - 1] == '\r')
        line.len--;
    if (line.len == 0)
        return;
    struct vcm_mcp_call *call = vcm_mcp_call_open(connection->mcp, line, &failure);
    if (call && failure.code != 0)
        vcm_mcp_refuse(call, channel, failure.code, failure.text);
    else if (call)
        vcm_mcp_start(call, connection->peer, channel, vcm_mcp_call_is_modern(call));
}

static void refuse_line(struct connection *connection)
{
    struct vcm_buf answer = VCM_BUF_INIT(VCM_KIB);

    vcm_rpc_put_error(&answer, vcm_slice_of("", 0), VCM_RPC_INVALID_REQUEST,
                      "the message is longer than 10 MiB", vcm_slice_of("", 0));
    write_line(connection, vcm_buf_slice(&answer));
    vcm_buf_release(&answer);
}

/* Takes the lines that are complete and keeps the rest. */
static void take_lines(struct connection *connection, size_t searched)
{
    struct vcm_buf *in = &connection->in;
    size_t begin = 0;

    for (char *end;
         in->len > searched && (end = memchr(in->data + searched, '\n', in->len - searched));) {
        size_t at = (size_t)(end - in->data);
        if (!connection->is_skipping)
            take_line(connection, vcm_slice_of(in->data + begin, at - begin));
        connection->is_skipping = false;
        begin = searched = at + 1;
    }
    if (begin > 0) {
        memmove(in->data, in->data + begin, in->len - begin);
        vcm_buf_truncate(in, in->len - begin);
    }
    if (connection->is_skipping || in->len > VCM_LIMIT_RPC_BYTES) {
        if (!connection->is_skipping)
            refuse_line(connection);
        connection->is_skipping = true;
        vcm_buf_clear(in);
    }
}

/* False at the end of the input. */
static bool read_some(struct connection *connection, int in_fd)
{
    size_t before = connection->in.len;
    char *room = vcm_buf_reserve(&connection->in, READ_BYTES);
    ssize_t got = room ? read(in_fd, room, READ_BYTES) : 0;

    if (got < 0)
        return errno == EINTR || errno == EAGAIN;
    if (got == 0) {
        if (connection->in.len > 0 && !connection->is_skipping) /* a last line without its end */
            take_line(connection, vcm_buf_slice(&connection->in));
        return false;
    }
    vcm_buf_advance(&connection->in, (size_t)got);
    take_lines(connection, before);
    return true;
}

static bool has_gone(struct connection *connection)
{
    pthread_mutex_lock(&connection->lock);
    bool is_gone = connection->is_gone;
    pthread_mutex_unlock(&connection->lock);
    return is_gone;
}

/* Waits for calls that are under way, but not for long. */
static void wind_down(struct connection *connection)
{
    uint64_t until = vcm_clock_ms() + GRACE_MS;
    const struct timespec tick = {.tv_nsec = 5 * 1000 * 1000};

    while (vcm_mcp_under_way(connection->mcp) > 0 && vcm_clock_ms() < until &&
           !has_gone(connection))
        nanosleep(&tick, NULL);
    vcm_mcp_stop(connection->mcp);
    while (vcm_mcp_under_way(connection->mcp) > 0)
        nanosleep(&tick, NULL);
}

int vcm_stdio_serve(struct vcm_mcp *mcp, int in_fd, int out_fd, const struct vcm_cancel *stop,
                    struct vcm_error *err)
{
    struct connection connection = {
        .channel = {.notify = notify, .finish = finish}, .mcp = mcp, .out_fd = out_fd};
    struct pollfd input = {.fd = in_fd, .events = POLLIN};
    sigset_t stops, before;

    connection.peer = vcm_mcp_peer_open(mcp, &connection.channel, true);
    if (!connection.peer)
        return vcm_error_memory(err);
    pthread_mutex_init(&connection.lock, NULL);
    vcm_buf_init(&connection.in, VCM_LIMIT_RPC_BYTES + 2 * READ_BYTES);
    /* Signals that ask to stop arrive while the thread waits, and at no other time. */
    sigemptyset(&stops);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &stops, &before);
    for (bool more = true; more && !vcm_cancel_is_requested(stop) && !has_gone(&connection);) {
        int ready = ppoll(&input, 1, NULL, &before);
        if (ready > 0)
            more = read_some(&connection, in_fd);
        else if (ready < 0 && errno != EINTR)
            more = false;
    }
    wind_down(&connection);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    vcm_mcp_peer_close(connection.peer);
    vcm_buf_release(&connection.in);
    pthread_mutex_destroy(&connection.lock);
    return VCM_OK;
}
