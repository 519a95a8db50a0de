#include "serve/http_mcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/hash.h"
#include "ops/failure.h"
#include "serve/auth.h"

#include "base/banned.h"

#define SESSION_RANDOM_BYTES 16u
#define SESSION_ID_BYTES     (2 * SESSION_RANDOM_BYTES)
#define SESSION_IDLE_MS      (3600u * 1000)
#define HEADER_BYTES         128u

/* A client that has said `initialize`. */
struct session {
    char id[SESSION_ID_BYTES + 1];
    struct vcm_mcp_peer *peer;
    struct channel *stream; /* of its GET, or NULL */
    uint64_t used_ms;
};

struct vcm_http_mcp {
    struct vcm_mcp *mcp;
    unsigned calls_max;
    struct session *sessions[VCM_LIMIT_MCP_SESSIONS];
    unsigned session_count;
};

/* The way back to the client of one request. */
struct channel {
    struct vcm_mcp_channel base; /* first: its address is the channel's */
    struct vcm_http_exchange *exchange;
    bool is_request, is_modern, is_checked, is_streaming;
    char headers[HEADER_BYTES];
};

void vcm_http_mcp_refuse(struct vcm_http_exchange *exchange, int status, enum vcm_code code,
                         const char *headers, const char *message)
{
    struct vcm_buf body = VCM_BUF_INIT(16 * VCM_KIB);
    struct vcm_error err = {0};
    struct vcm_jsonw w;

    vcm_error_set(&err, code, "%s", message);
    vcm_jsonw_init(&w, &body);
    vcm_failure_put(&w, &err);
    vcm_http_server_respond(exchange, status, "application/json", headers, vcm_buf_slice(&body));
    vcm_buf_release(&body);
}

static bool notify(struct vcm_mcp_channel *base, struct vcm_slice message)
{
    struct channel *channel = (struct channel *)base;

    if (!channel->is_streaming)
        vcm_http_server_stream(channel->exchange, channel->headers);
    channel->is_streaming = true;
    return vcm_http_server_send(channel->exchange, message);
}

/* Errors of the protocol have a status of their own; those of a method that ran are answers. */
static int status_of(const struct channel *channel, int code)
{
    if (code == VCM_RPC_PARSE_ERROR || code == VCM_RPC_INVALID_REQUEST)
        return 400;
    if (!channel->is_modern || code == 0)
        return 200;
    if (code == VCM_RPC_UNKNOWN_METHOD)
        return 404;
    if (code == VCM_RPC_INVALID_PARAMS)
        return channel->is_checked ? 200 : 400;
    return code == VCM_RPC_HEADER_MISMATCH || code == VCM_RPC_NO_CAPABILITY ||
                   code == VCM_RPC_UNSUPPORTED_VERSION
               ? 400
               : 200;
}

static void finish(struct vcm_mcp_channel *base, struct vcm_slice answer, int code)
{
    struct channel *channel = (struct channel *)base;

    if (channel->is_request && answer.len == 0 && !channel->is_streaming) {
        vcm_http_server_stream(channel->exchange,
                               channel->headers); /* cancelled: an empty stream */
        channel->is_streaming = true;
    }
    if (channel->is_streaming) {
        if (answer.len > 0)
            vcm_http_server_send(channel->exchange, answer);
        vcm_http_server_end(channel->exchange);
    } else if (answer.len > 0) {
        vcm_http_server_respond(channel->exchange, status_of(channel, code), "application/json",
                                channel->headers, answer);
    } else {
        vcm_http_server_respond(channel->exchange, 202, NULL, channel->headers,
                                vcm_slice_of("", 0));
    }
    free(channel);
}

/* The value of a header, decoded if it says so; false if it cannot be. */
static bool decode(struct vcm_buf *out, const char *value)
{
    static const char prefix[] = "=?base64?", suffix[] = "?=";
    size_t len = strlen(value);
    const size_t ends = sizeof prefix - 1 + sizeof suffix - 1;

    if (len < ends || strncmp(value, prefix, sizeof prefix - 1) != 0 ||
        strcmp(value + len - (sizeof suffix - 1), suffix) != 0) {
        vcm_buf_append_string(out, value);
        return true;
    }
    return vcm_base64_get(out, vcm_slice_of(value + sizeof prefix - 1, len - ends));
}

static bool is_header(const struct vcm_http_request *request, const char *name,
                      struct vcm_slice expected)
{
    const char *value = vcm_http_parse_header(request, name);
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_HTTP_HEAD_BYTES);

    bool same = value && decode(&text, value) && vcm_slice_equal(vcm_buf_slice(&text), expected);
    vcm_buf_release(&text);
    return same;
}

/* Which member of params the header Mcp-Name repeats; NULL for none. */
static const char *named_member(const char *method)
{
    if (strcmp(method, "tools/call") == 0 || strcmp(method, "prompts/get") == 0)
        return "name";
    return strcmp(method, "resources/read") == 0 ? "uri" : NULL;
}

/* Arguments that headers repeat: present in both with one value, or in neither. */
static bool check_arguments(const struct vcm_mcp_call *call, const struct vcm_http_request *request)
{
    const struct vcm_mcp_features *features = vcm_mcp_features_of(call->mcp);
    const struct vcm_json *arguments = vcm_json_get(call->message.params, "arguments");
    const char *argument, *header;
    bool same = true;

    if (!features->repeated || strcmp(call->message.method, "tools/call") != 0)
        return true;
    for (size_t i = 0; same && features->repeated(call, i, &argument, &header); i++) {
        const struct vcm_json *value = vcm_json_get(arguments, argument);
        if (value && value->kind == VCM_JSON_STRING)
            same = is_header(request, header, value->text);
        else
            same = !vcm_http_parse_header(request, header);
    }
    return same;
}

static bool check(struct vcm_mcp_channel *base, struct vcm_mcp_call *call)
{
    struct channel *channel = (struct channel *)base;
    const struct vcm_http_request *request = vcm_http_server_request(channel->exchange);
    const struct vcm_json *version = vcm_json_get(call->meta, VCM_MCP_META "protocolVersion");
    const char *member = named_member(call->message.method);
    const struct vcm_json *name = member ? vcm_json_get(call->message.params, member) : NULL;

    if (!is_header(request, "mcp-protocol-version", version->text))
        vcm_mcp_fail(call, VCM_RPC_HEADER_MISMATCH,
                     "the header MCP-Protocol-Version is not the version in params._meta");
    else if (!is_header(request, "mcp-method", vcm_slice_of_string(call->message.method)))
        vcm_mcp_fail(call, VCM_RPC_HEADER_MISMATCH, "the header Mcp-Method is not the method");
    else if (name && name->kind == VCM_JSON_STRING && !is_header(request, "mcp-name", name->text))
        vcm_mcp_fail(call, VCM_RPC_HEADER_MISMATCH, "the header Mcp-Name is not params.%s", member);
    else if (!check_arguments(call, request))
        vcm_mcp_fail(call, VCM_RPC_HEADER_MISMATCH,
                     "a header Mcp-Param-* is not the argument that it repeats");
    channel->is_checked = call->code == 0;
    return call->code == 0;
}

static struct channel *new_channel(struct vcm_http_exchange *exchange)
{
    struct channel *channel = calloc(1, sizeof *channel);

    if (!channel)
        return NULL;
    channel->base = (struct vcm_mcp_channel){.notify = notify, .finish = finish, .check = check};
    channel->exchange = exchange;
    vcm_http_server_mark(exchange, channel);
    return channel;
}

static void end_stream(struct session *session)
{
    struct channel *stream = session->stream;

    if (!stream)
        return;
    session->stream = NULL;
    vcm_mcp_peer_set_stream(session->peer, NULL);
    vcm_http_server_end(stream->exchange);
    free(stream);
}

static void end_session(struct vcm_http_mcp *endpoint, unsigned at)
{
    struct session *session = endpoint->sessions[at];

    end_stream(session);
    vcm_mcp_peer_close(session->peer);
    free(session);
    endpoint->sessions[at] = endpoint->sessions[--endpoint->session_count];
}

/* Makes room: sessions that were not used for long go, and if there are none, the oldest. */
static void tidy(struct vcm_http_mcp *endpoint, uint64_t now)
{
    unsigned oldest = 0;

    for (unsigned i = endpoint->session_count; i-- > 0;)
        if (now - endpoint->sessions[i]->used_ms > SESSION_IDLE_MS &&
            !endpoint->sessions[i]->stream)
            end_session(endpoint, i);
    if (endpoint->session_count < VCM_LIMIT_MCP_SESSIONS)
        return;
    for (unsigned i = 1; i < endpoint->session_count; i++)
        if (endpoint->sessions[i]->used_ms < endpoint->sessions[oldest]->used_ms)
            oldest = i;
    end_session(endpoint, oldest);
}

static struct session *new_session(struct vcm_http_mcp *endpoint)
{
    unsigned char bytes[SESSION_RANDOM_BYTES];
    uint64_t now = vcm_clock_ms();

    tidy(endpoint, now);
    struct session *session = calloc(1, sizeof *session);
    if (!session || vcm_auth_random(bytes, sizeof bytes, NULL) != VCM_OK ||
        !(session->peer = vcm_mcp_peer_open(endpoint->mcp, NULL, false))) {
        free(session);
        return NULL;
    }
    vcm_hash_to_hex(session->id, bytes, sizeof bytes);
    session->used_ms = now;
    endpoint->sessions[endpoint->session_count++] = session;
    return session;
}

/* The session that the request names; else the request is answered and NULL returned. */
static struct session *find_session(struct vcm_http_mcp *endpoint, unsigned *at,
                                    struct vcm_http_exchange *exchange)
{
    const struct vcm_http_request *request = vcm_http_server_request(exchange);
    const char *id = vcm_http_parse_header(request, "mcp-session-id");
    const char *version = vcm_http_parse_header(request, "mcp-protocol-version");

    if (version && !vcm_mcp_peer_knows(version, false)) {
        vcm_http_mcp_refuse(exchange, 400, VCM_INVALID_ARGUMENT, "",
                            "this MCP-Protocol-Version is not supported");
        return NULL;
    }
    if (!id) {
        vcm_http_mcp_refuse(exchange, 400, VCM_INVALID_ARGUMENT, "",
                            "there is no Mcp-Session-Id: say initialize first, or send modern "
                            "requests with params._meta");
        return NULL;
    }
    for (unsigned i = 0; i < endpoint->session_count; i++)
        if (strcmp(endpoint->sessions[i]->id, id) == 0) {
            *at = i;
            endpoint->sessions[i]->used_ms = vcm_clock_ms();
            return endpoint->sessions[i];
        }
    vcm_http_mcp_refuse(exchange, 404, VCM_NOT_FOUND, "",
                        "this session has ended: say initialize again");
    return NULL;
}

static void handle_get(struct vcm_http_mcp *endpoint, struct vcm_http_exchange *exchange)
{
    const struct vcm_http_request *request = vcm_http_server_request(exchange);
    const char *accept = vcm_http_parse_header(request, "accept");
    unsigned at;

    if (!vcm_http_parse_header(request, "mcp-session-id") || !accept ||
        !strstr(accept, "text/event-stream")) {
        vcm_http_mcp_refuse(exchange, 405, VCM_UNSUPPORTED, "Allow: POST, DELETE\r\n",
                            "only a session has a stream of its own");
        return;
    }
    struct session *session = find_session(endpoint, &at, exchange);
    if (!session)
        return;
    end_stream(session); /* a client that comes back takes the place of the one before */
    struct channel *channel = new_channel(exchange);
    if (!channel) {
        vcm_http_mcp_refuse(exchange, 503, VCM_INTERNAL, "", "out of memory");
        return;
    }
    channel->is_streaming = true;
    vcm_http_server_stream(exchange, "");
    session->stream = channel;
    vcm_mcp_peer_set_stream(session->peer, &channel->base);
}

static void handle_delete(struct vcm_http_mcp *endpoint, struct vcm_http_exchange *exchange)
{
    unsigned at;

    if (!find_session(endpoint, &at, exchange))
        return;
    end_session(endpoint, at);
    vcm_http_server_respond(exchange, 200, NULL, "", vcm_slice_of("", 0));
}

/* A message of the legacy era belongs to a session, or begins one. */
static void start_legacy(struct vcm_http_mcp *endpoint, struct vcm_mcp_call *call,
                         struct channel *channel)
{
    bool is_first =
        call->message.kind == VCM_RPC_REQUEST && strcmp(call->message.method, "initialize") == 0;
    unsigned at;

    struct session *session =
        is_first ? new_session(endpoint) : find_session(endpoint, &at, channel->exchange);
    if (!session && is_first) {
        vcm_mcp_refuse(call, &channel->base, VCM_RPC_INTERNAL, "out of memory");
        return;
    }
    if (!session) { /* the request is answered */
        vcm_mcp_call_close(call);
        free(channel);
        return;
    }
    if (is_first)
        snprintf(channel->headers, sizeof channel->headers, "Mcp-Session-Id: %s\r\n", session->id);
    vcm_mcp_start(call, session->peer, &channel->base, false);
}

static void handle_post(struct vcm_http_mcp *endpoint, struct vcm_http_exchange *exchange,
                        bool read_only)
{
    const struct vcm_http_request *request = vcm_http_server_request(exchange);
    const char *type = vcm_http_parse_header(request, "content-type");
    const char *version = vcm_http_parse_header(request, "mcp-protocol-version");
    struct vcm_rpc_failure failure;

    if (!type || strncasecmp(type, "application/json", 16) != 0 ||
        (type[16] != '\0' && type[16] != ';' && type[16] != ' ')) {
        vcm_http_mcp_refuse(exchange, 415, VCM_INVALID_ARGUMENT, "",
                            "Content-Type has to be application/json");
        return;
    }
    if (vcm_mcp_under_way(endpoint->mcp) >= endpoint->calls_max) {
        vcm_http_mcp_refuse(exchange, 503, VCM_STORE_BUSY, "Retry-After: 1\r\n",
                            "too many requests are under way; try again");
        return;
    }
    struct channel *channel = new_channel(exchange);
    struct vcm_mcp_call *call =
        channel ? vcm_mcp_call_open(endpoint->mcp, request->body, &failure) : NULL;
    if (!call) {
        free(channel);
        vcm_http_mcp_refuse(exchange, 503, VCM_INTERNAL, "", "out of memory");
        return;
    }
    channel->is_request = failure.code != 0 || call->message.kind == VCM_RPC_REQUEST;
    channel->is_modern =
        vcm_mcp_call_is_modern(call) || (version && strcmp(version, VCM_MCP_MODERN_VERSION) == 0);
    call->is_read_only = read_only;
    if (failure.code != 0)
        vcm_mcp_refuse(call, &channel->base, failure.code, failure.text);
    else if (channel->is_modern)
        vcm_mcp_start(call, NULL, &channel->base, true);
    else
        start_legacy(endpoint, call, channel);
}

void vcm_http_mcp_handle(struct vcm_http_mcp *endpoint, struct vcm_http_exchange *exchange,
                         bool read_only)
{
    const char *method = vcm_http_server_request(exchange)->method;

    if (strcmp(method, "POST") == 0)
        handle_post(endpoint, exchange, read_only);
    else if (strcmp(method, "GET") == 0)
        handle_get(endpoint, exchange);
    else if (strcmp(method, "DELETE") == 0)
        handle_delete(endpoint, exchange);
    else
        vcm_http_mcp_refuse(exchange, 405, VCM_UNSUPPORTED, "Allow: GET, POST, DELETE\r\n",
                            "messages are sent with POST");
}

void vcm_http_mcp_gone(struct vcm_http_mcp *endpoint, const void *mark)
{
    for (unsigned i = 0; i < endpoint->session_count; i++)
        if (endpoint->sessions[i]->stream == mark) {
            end_stream(endpoint->sessions[i]);
            return;
        }
    vcm_mcp_abandon(endpoint->mcp, mark);
}

int vcm_http_mcp_open(struct vcm_http_mcp **out, struct vcm_mcp *mcp, unsigned calls_max,
                      struct vcm_error *err)
{
    struct vcm_http_mcp *endpoint = calloc(1, sizeof *endpoint);

    *out = endpoint;
    if (!endpoint)
        return vcm_error_memory(err);
    endpoint->mcp = mcp;
    endpoint->calls_max = calls_max;
    return VCM_OK;
}

void vcm_http_mcp_close(struct vcm_http_mcp *endpoint)
{
    if (!endpoint)
        return;
    while (endpoint->session_count > 0)
        end_session(endpoint, endpoint->session_count - 1);
    free(endpoint);
}
