#include "serve/mcp.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "serve/mcp_internal.h"

#include "base/banned.h"

int vcm_mcp_open(struct vcm_mcp **out, const struct vcm_mcp_features *features,
                 struct vcm_crew *crew, struct vcm_error *err)
{
    struct vcm_mcp *mcp = calloc(1, sizeof *mcp);
    pthread_condattr_t steady;

    *out = mcp;
    if (!mcp)
        return vcm_error_memory(err);
    mcp->features = features;
    mcp->crew = crew;
    pthread_mutex_init(&mcp->lock, NULL);
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&mcp->answered, &steady);
    pthread_condattr_destroy(&steady);
    return VCM_OK;
}

void vcm_mcp_close(struct vcm_mcp *mcp)
{
    if (!mcp)
        return;
    assert(!mcp->calls && !mcp->peers);
    pthread_cond_destroy(&mcp->answered);
    pthread_mutex_destroy(&mcp->lock);
    free(mcp);
}

const struct vcm_mcp_features *vcm_mcp_features_of(const struct vcm_mcp *mcp)
{
    return mcp->features;
}

unsigned vcm_mcp_under_way(struct vcm_mcp *mcp)
{
    pthread_mutex_lock(&mcp->lock);
    unsigned count = mcp->call_count - mcp->listener_count;
    pthread_mutex_unlock(&mcp->lock);
    return count;
}

static void free_call(struct vcm_mcp_call *call)
{
    vcm_buf_release(&call->out);
    vcm_buf_release(&call->data);
    vcm_rpc_release(&call->message);
    free(call);
}

struct vcm_mcp_call *vcm_mcp_call_open(struct vcm_mcp *mcp, struct vcm_slice text,
                                       struct vcm_rpc_failure *failure)
{
    struct vcm_mcp_call *call = calloc(1, sizeof *call);

    if (!call)
        return NULL;
    call->mcp = mcp;
    call->log_level = VCM_MCP_SILENT;
    vcm_buf_init(&call->out, VCM_LIMIT_MCP_ANSWER_BYTES);
    vcm_buf_init(&call->data, VCM_LIMIT_MCP_ANSWER_BYTES);
    if (vcm_rpc_parse(&call->message, text, failure))
        call->meta = vcm_json_get(call->message.params, "_meta");
    return call;
}

void vcm_mcp_call_close(struct vcm_mcp_call *call)
{
    free_call(call);
}

bool vcm_mcp_call_is_modern(const struct vcm_mcp_call *call)
{
    return vcm_json_get(call->meta, VCM_MCP_META "protocolVersion") != NULL;
}

void vcm_mcp_refuse(struct vcm_mcp_call *call, struct vcm_mcp_channel *channel, int code,
                    const char *text)
{
    vcm_rpc_put_error(&call->out, call->message.id, code, text, vcm_slice_of("", 0));
    channel->finish(channel, vcm_buf_slice(&call->out), code);
    free_call(call);
}

void vcm_mcp_fail(struct vcm_mcp_call *call, int code, const char *format, ...)
{
    va_list args;

    if (call->code != 0)
        return;
    call->code = code;
    va_start(args, format);
    vsnprintf(call->text, sizeof call->text, format, args);
    va_end(args);
}

void vcm_mcp_fail_data(struct vcm_mcp_call *call, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vcm_buf_clear(&call->data);
    vcm_buf_append_format_list(&call->data, format, args);
    va_end(args);
}

const char *vcm_mcp_param(struct vcm_mcp_call *call, const char *name, bool required)
{
    const struct vcm_json *value = vcm_json_get(call->message.params, name);

    if (value && value->kind != VCM_JSON_STRING)
        vcm_mcp_fail(call, VCM_RPC_INVALID_PARAMS, "%s has to be a string", name);
    else if (!value && required)
        vcm_mcp_fail(call, VCM_RPC_INVALID_PARAMS, "%s is missing", name);
    return value && value->kind == VCM_JSON_STRING ? value->text.data : NULL;
}

int vcm_mcp_handle(struct vcm **out, struct vcm_mcp_call *call, struct vcm_error *err)
{
    assert(call->seat);
    return vcm_crew_handle(out, call->seat, err);
}

/* What every result has at its end, and every answer. */
static void end_result(struct vcm_mcp_call *call)
{
    struct vcm_jsonw *w = &call->w;

    if (call->is_modern) {
        vcm_jsonw_member_string(w, "resultType",
                                call->input_required ? "input_required" : "complete");
        if (call->method && call->method->flags & VCM_MCP_KEPT) {
            vcm_jsonw_member_uint(w, "ttlMs", call->ttl_ms);
            vcm_jsonw_member_string(w, "cacheScope", "private");
        }
        vcm_jsonw_key(w, "_meta");
        vcm_jsonw_begin_object(w);
        vcm_jsonw_key(w, VCM_MCP_META "serverInfo");
        vcm_mcp_put_info(w, call->mcp->features);
        if (call->filter) {
            vcm_jsonw_key(w, VCM_MCP_META "subscriptionId");
            vcm_jsonw_raw(w, call->message.id);
        }
        vcm_jsonw_end_object(w);
    }
    vcm_jsonw_end_object(w);
    vcm_jsonw_end_object(w);
}

static void begin_result(struct vcm_mcp_call *call)
{
    vcm_jsonw_init(&call->w, &call->out);
    vcm_rpc_begin(&call->w, call->message.id);
    vcm_jsonw_key(&call->w, "result");
    vcm_jsonw_begin_object(&call->w);
}

/* Makes call->out the answer. */
static void settle_answer(struct vcm_mcp_call *call)
{
    struct vcm_error err = {0};

    if (call->code == 0) {
        end_result(call);
        if (vcm_buf_check(&call->out, "the answer", &err) != VCM_OK)
            vcm_mcp_fail(call, VCM_RPC_INTERNAL, "%s", err.message);
    }
    if (call->code != 0) {
        vcm_buf_clear(&call->out);
        vcm_rpc_put_error(&call->out, call->message.id, call->code, call->text,
                          vcm_buf_slice(&call->data));
    }
}

static void add_call(struct vcm_mcp_call *call)
{
    struct vcm_mcp *mcp = call->mcp;

    pthread_mutex_lock(&mcp->lock);
    call->next = mcp->calls;
    call->link = &mcp->calls;
    if (call->next)
        call->next->link = &call->next;
    mcp->calls = call;
    mcp->call_count++;
    call->is_running = true;
    if (mcp->is_stopping)
        vcm_cancel_request(&call->cancel);
    pthread_mutex_unlock(&mcp->lock);
}

static void remove_call(struct vcm_mcp_call *call)
{
    struct vcm_mcp *mcp = call->mcp;

    pthread_mutex_lock(&mcp->lock);
    if (call->is_running) {
        *call->link = call->next;
        if (call->next)
            call->next->link = call->link;
        mcp->call_count--;
    }
    if (call->peer)
        vcm_mcp_peer_let_go(call->peer);
    pthread_mutex_unlock(&mcp->lock);
}

void vcm_mcp_finish(struct vcm_mcp_call *call)
{
    const struct vcm_mcp_features *features = call->mcp->features;
    bool is_request = call->message.kind == VCM_RPC_REQUEST;

    if (is_request)
        settle_answer(call);
    if (is_request && features->ended)
        features->ended(call, call->code, vcm_clock_ms() - call->started_ms);
    pthread_mutex_lock(&call->mcp->lock);
    bool has_answer = is_request && !call->is_cancelled;
    pthread_mutex_unlock(&call->mcp->lock);
    call->channel->finish(call->channel,
                          has_answer ? vcm_buf_slice(&call->out) : vcm_slice_of("", 0), call->code);
    remove_call(call); /* not before: a transport waits for its calls by their number */
    free_call(call);
}

/* The methods of the protocol itself, by era. */

static void ping(struct vcm_mcp_call *call)
{
    (void)call;
}

static void discover(struct vcm_mcp_call *call)
{
    const struct vcm_mcp_features *features = call->mcp->features;

    vcm_jsonw_key(&call->w, "supportedVersions");
    vcm_jsonw_raw(&call->w, vcm_slice_of_string("[\"" VCM_MCP_MODERN_VERSION "\"]"));
    vcm_jsonw_key(&call->w, "capabilities");
    vcm_mcp_put_capabilities(&call->w, features);
    if (features->instructions)
        vcm_jsonw_member_string(&call->w, "instructions", features->instructions);
}

static const struct vcm_mcp_method legacy_methods[] = {
    {"initialize", VCM_MCP_QUICK, vcm_mcp_peer_initialize},
    {"ping", VCM_MCP_QUICK, ping},
    {"logging/setLevel", VCM_MCP_QUICK, vcm_mcp_peer_set_level},
    {"resources/subscribe", VCM_MCP_QUICK, vcm_mcp_peer_subscribe},
    {"resources/unsubscribe", VCM_MCP_QUICK, vcm_mcp_peer_unsubscribe},
    {NULL, 0, NULL},
};

static const struct vcm_mcp_method modern_methods[] = {
    {"server/discover", VCM_MCP_QUICK | VCM_MCP_KEPT, discover},
    {"subscriptions/listen", VCM_MCP_QUICK, ping /* start_request() opens it */},
    {NULL, 0, NULL},
};

static const struct vcm_mcp_method *find_in(const struct vcm_mcp_method *methods, const char *name)
{
    for (; methods->name; methods++)
        if (strcmp(methods->name, name) == 0)
            return methods;
    return NULL;
}

static const struct vcm_mcp_method *find_method(const struct vcm_mcp_call *call)
{
    const char *name = call->message.method;
    const struct vcm_mcp_method *own =
        find_in(call->is_modern ? modern_methods : legacy_methods, name);

    return own ? own : find_in(call->mcp->features->methods, name);
}

/* What a modern request must say about itself; the order of the checks is that of the
 * specification. */
static bool check_modern(struct vcm_mcp_call *call)
{
    const struct vcm_json *version = vcm_json_get(call->meta, VCM_MCP_META "protocolVersion");
    struct vcm_buf asked = VCM_BUF_INIT(VCM_LIMIT_RPC_ID_BYTES);

    call->capabilities = vcm_json_get(call->meta, VCM_MCP_META "clientCapabilities");
    call->log_level = vcm_mcp_notice_level(
        vcm_json_get_text(call->meta, VCM_MCP_META "logLevel", ""), VCM_MCP_SILENT);
    if (!version || version->kind != VCM_JSON_STRING)
        vcm_mcp_fail(call, VCM_RPC_INVALID_PARAMS,
                     "params._meta needs \"" VCM_MCP_META "protocolVersion\", a string");
    else if (!call->capabilities || call->capabilities->kind != VCM_JSON_OBJECT)
        vcm_mcp_fail(call, VCM_RPC_INVALID_PARAMS,
                     "params._meta needs \"" VCM_MCP_META "clientCapabilities\", an object");
    else if (call->channel->check && !call->channel->check(call->channel, call))
        assert(call->code != 0);
    else if (strcmp(version->text.data, VCM_MCP_MODERN_VERSION) != 0) {
        vcm_jsonw_escape(&asked, version->text);
        vcm_mcp_fail(call, VCM_RPC_UNSUPPORTED_VERSION, "this protocol version is not supported");
        vcm_mcp_fail_data(call, "{\"supported\":[\"" VCM_MCP_MODERN_VERSION "\"],\"requested\":%s}",
                          asked.fault == VCM_BUF_FINE ? vcm_buf_text(&asked) : "\"\"");
    }
    vcm_buf_release(&asked);
    return call->code == 0;
}

static void run_job(struct vcm_crew_job *job, struct vcm_crew_seat *seat)
{
    struct vcm_mcp_call *call =
        (struct vcm_mcp_call *)((char *)job - offsetof(struct vcm_mcp_call, job));

    call->seat = seat;
    if (!vcm_cancel_is_requested(&call->cancel))
        call->method->run(call);
    else
        vcm_mcp_fail(call, VCM_RPC_INTERNAL, "the request was cancelled");
    vcm_mcp_finish(call);
}

static bool is_listen(const struct vcm_mcp_call *call)
{
    return call->is_modern && strcmp(call->method->name, "subscriptions/listen") == 0;
}

static void start_request(struct vcm_mcp_call *call)
{
    call->started_ms = vcm_clock_ms();
    begin_result(call);
    if (call->is_modern && !check_modern(call)) {
        vcm_mcp_finish(call);
        return;
    }
    call->method = find_method(call);
    if (!call->method) {
        vcm_mcp_fail(call, VCM_RPC_UNKNOWN_METHOD, "there is no method '%.100s'",
                     call->message.method);
        vcm_mcp_finish(call);
        return;
    }
    call->progress_token =
        vcm_rpc_id_text(&call->message.arena, vcm_json_get(call->meta, "progressToken"));
    add_call(call);
    if (is_listen(call)) {
        if (!vcm_mcp_listen_begin(call))
            vcm_mcp_finish(call);
    } else if (call->method->flags & VCM_MCP_QUICK) {
        call->method->run(call);
        vcm_mcp_finish(call);
    } else {
        bool (*is_long)(const struct vcm_mcp_call *) = call->mcp->features->is_long;
        call->job = (struct vcm_crew_job){.run = run_job, .is_long = is_long && is_long(call)};
        if (vcm_crew_submit(call->mcp->crew, &call->job))
            return;
        vcm_mcp_fail(call, VCM_RPC_INTERNAL, "too many requests are waiting; try again");
        vcm_mcp_finish(call);
    }
}

/* Finds the call of a peer by the id that the client gave it. */
static void cancel_call(const struct vcm_mcp_call *notice)
{
    struct vcm_mcp *mcp = notice->mcp;
    struct vcm_mcp_call *found = NULL;
    struct vcm_arena arena;

    vcm_arena_init(&arena, VCM_LIMIT_RPC_ID_BYTES * 4);
    struct vcm_slice id =
        vcm_rpc_id_text(&arena, vcm_json_get(notice->message.params, "requestId"));
    pthread_mutex_lock(&mcp->lock);
    for (struct vcm_mcp_call *call = mcp->calls; call && id.len > 0 && notice->peer;
         call = call->next) {
        if (call->peer != notice->peer || !vcm_slice_equal(call->message.id, id))
            continue;
        call->is_cancelled = true;
        vcm_cancel_request(&call->cancel);
        found = vcm_mcp_listen_claim(call);
        break;
    }
    pthread_cond_broadcast(&mcp->answered); /* for calls that wait for the client */
    pthread_mutex_unlock(&mcp->lock);
    if (found)
        vcm_mcp_listen_end(found);
    vcm_arena_release(&arena);
}

void vcm_mcp_start(struct vcm_mcp_call *call, struct vcm_mcp_peer *peer,
                   struct vcm_mcp_channel *channel, bool is_modern)
{
    call->channel = channel;
    call->is_modern = is_modern;
    call->peer = peer;
    if (peer)
        vcm_mcp_peer_hold(peer);
    if (call->message.kind == VCM_RPC_REQUEST) {
        start_request(call);
        return;
    }
    if (call->message.kind == VCM_RPC_ANSWER && peer)
        vcm_mcp_peer_take_answer(peer, &call->message);
    else if (call->message.kind == VCM_RPC_NOTICE &&
             strcmp(call->message.method, "notifications/cancelled") == 0)
        cancel_call(call);
    vcm_mcp_finish(call);
}

void vcm_mcp_abandon(struct vcm_mcp *mcp, const struct vcm_mcp_channel *channel)
{
    struct vcm_mcp_call *listener = NULL;

    pthread_mutex_lock(&mcp->lock);
    for (struct vcm_mcp_call *call = mcp->calls; call; call = call->next) {
        if (call->channel != channel)
            continue;
        call->is_cancelled = true;
        vcm_cancel_request(&call->cancel);
        if (!listener)
            listener = vcm_mcp_listen_claim(call);
    }
    pthread_cond_broadcast(&mcp->answered);
    pthread_mutex_unlock(&mcp->lock);
    if (listener)
        vcm_mcp_listen_end(listener);
}

static struct vcm_mcp_call *next_listener(struct vcm_mcp *mcp)
{
    pthread_mutex_lock(&mcp->lock);
    struct vcm_mcp_call *call = mcp->calls, *found = NULL;
    for (; call && !found; call = call->next)
        found = vcm_mcp_listen_claim(call);
    pthread_mutex_unlock(&mcp->lock);
    return found;
}

void vcm_mcp_stop(struct vcm_mcp *mcp)
{
    pthread_mutex_lock(&mcp->lock);
    mcp->is_stopping = true;
    for (struct vcm_mcp_call *call = mcp->calls; call; call = call->next)
        vcm_cancel_request(&call->cancel);
    pthread_cond_broadcast(&mcp->answered);
    pthread_mutex_unlock(&mcp->lock);
    for (struct vcm_mcp_call *call; (call = next_listener(mcp));)
        vcm_mcp_listen_end(call);
}

static void put_change(struct vcm_jsonw *w, const char *name, unsigned has, unsigned capability,
                       unsigned change, unsigned subscribe)
{
    if (!(has & capability))
        return;
    vcm_jsonw_key(w, name);
    vcm_jsonw_begin_object(w);
    if (has & change)
        vcm_jsonw_member_bool(w, "listChanged", true);
    if (has & subscribe)
        vcm_jsonw_member_bool(w, "subscribe", true);
    vcm_jsonw_end_object(w);
}

void vcm_mcp_put_capabilities(struct vcm_jsonw *w, const struct vcm_mcp_features *features)
{
    unsigned has = features->capabilities;

    vcm_jsonw_begin_object(w);
    put_change(w, "completions", has, VCM_MCP_COMPLETIONS, 0, 0);
    put_change(w, "logging", has, VCM_MCP_LOGGING, 0, 0);
    put_change(w, "prompts", has, VCM_MCP_PROMPTS, VCM_MCP_PROMPTS_CHANGE, 0);
    put_change(w, "resources", has, VCM_MCP_RESOURCES, VCM_MCP_RESOURCES_CHANGE,
               VCM_MCP_RESOURCES_SUBSCRIBE);
    put_change(w, "tools", has, VCM_MCP_TOOLS, VCM_MCP_TOOLS_CHANGE, 0);
    vcm_jsonw_end_object(w);
}

void vcm_mcp_put_info(struct vcm_jsonw *w, const struct vcm_mcp_features *features)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "name", features->name);
    if (features->title)
        vcm_jsonw_member_string(w, "title", features->title);
    vcm_jsonw_member_string(w, "version", features->version);
    vcm_jsonw_end_object(w);
}
