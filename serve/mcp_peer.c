#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/limits.h"
#include "serve/mcp_internal.h"

#include "base/banned.h"

/* Newest first; the last is for stdio alone: it knows another transport by HTTP. */
static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
#define VERSION_COUNT (sizeof versions / sizeof versions[0])

static const char *find_version(const char *version, bool all_versions)
{
    for (size_t i = 0; i < VERSION_COUNT - !all_versions; i++)
        if (strcmp(versions[i], version) == 0)
            return versions[i];
    return NULL;
}

bool vcm_mcp_peer_knows(const char *version, bool all_versions)
{
    return find_version(version, all_versions) != NULL;
}

struct vcm_mcp_peer *vcm_mcp_peer_open(struct vcm_mcp *mcp, struct vcm_mcp_channel *stream,
                                       bool all_versions)
{
    struct vcm_mcp_peer *peer = calloc(1, sizeof *peer);

    if (!peer)
        return NULL;
    *peer = (struct vcm_mcp_peer){.mcp = mcp,
                                  .stream = stream,
                                  .all_versions = all_versions,
                                  .log_level = VCM_MCP_INFO,
                                  .users = 1};
    vcm_buf_init(&peer->capabilities, VCM_LIMIT_RPC_BYTES);
    pthread_mutex_lock(&mcp->lock);
    peer->next = mcp->peers;
    peer->link = &mcp->peers;
    if (peer->next)
        peer->next->link = &peer->next;
    mcp->peers = peer;
    pthread_mutex_unlock(&mcp->lock);
    return peer;
}

void vcm_mcp_peer_set_stream(struct vcm_mcp_peer *peer, struct vcm_mcp_channel *stream)
{
    pthread_mutex_lock(&peer->mcp->lock);
    peer->stream = stream;
    pthread_mutex_unlock(&peer->mcp->lock);
}

void vcm_mcp_peer_hold(struct vcm_mcp_peer *peer)
{
    pthread_mutex_lock(&peer->mcp->lock);
    peer->users++;
    pthread_mutex_unlock(&peer->mcp->lock);
}

void vcm_mcp_peer_let_go(struct vcm_mcp_peer *peer)
{
    if (--peer->users > 0)
        return;
    *peer->link = peer->next;
    if (peer->next)
        peer->next->link = peer->link;
    for (size_t i = 0; i < peer->uri_count; i++)
        free(peer->uris[i]);
    free(peer->uris);
    vcm_buf_release(&peer->capabilities);
    free(peer);
}

/* Cancels the peer's calls: there is nobody left who waits for them. */
void vcm_mcp_peer_close(struct vcm_mcp_peer *peer)
{
    struct vcm_mcp *mcp = peer ? peer->mcp : NULL;

    if (!peer)
        return;
    pthread_mutex_lock(&mcp->lock);
    for (struct vcm_mcp_call *call = mcp->calls; call; call = call->next)
        if (call->peer == peer)
            vcm_cancel_request(&call->cancel);
    bool tell = vcm_mcp_listen_count(mcp, -(int)peer->uri_count);
    peer->stream = NULL;
    for (size_t i = 0; i < peer->uri_count; i++)
        free(peer->uris[i]);
    peer->uri_count = 0;
    pthread_cond_broadcast(&mcp->answered);
    vcm_mcp_peer_let_go(peer);
    pthread_mutex_unlock(&mcp->lock);
    if (tell)
        mcp->features->watched(mcp->features->context, false);
}

void vcm_mcp_peer_initialize(struct vcm_mcp_call *call)
{
    const char *asked = vcm_mcp_param(call, "protocolVersion", true);
    const struct vcm_json *capabilities = vcm_json_get(call->message.params, "capabilities");
    struct vcm_mcp_peer *peer = call->peer;
    const struct vcm_mcp_features *features = call->mcp->features;
    struct vcm_jsonw w;

    if (!asked || !peer)
        return;
    const char *version = find_version(asked, peer->all_versions);
    pthread_mutex_lock(&call->mcp->lock);
    peer->version = version ? version : versions[0];
    vcm_buf_clear(&peer->capabilities);
    vcm_jsonw_init(&w, &peer->capabilities);
    if (capabilities)
        vcm_rpc_put_json(&w, capabilities);
    pthread_mutex_unlock(&call->mcp->lock);
    vcm_jsonw_member_string(&call->w, "protocolVersion", peer->version);
    vcm_jsonw_key(&call->w, "capabilities");
    vcm_mcp_put_capabilities(&call->w, features);
    vcm_jsonw_key(&call->w, "serverInfo");
    vcm_mcp_put_info(&call->w, features);
    if (features->instructions)
        vcm_jsonw_member_string(&call->w, "instructions", features->instructions);
}

void vcm_mcp_peer_set_level(struct vcm_mcp_call *call)
{
    const char *name = vcm_mcp_param(call, "level", true);

    if (!(call->mcp->features->capabilities & VCM_MCP_LOGGING)) {
        vcm_mcp_fail(call, VCM_RPC_UNKNOWN_METHOD, "this server sends no log messages");
        return;
    }
    enum vcm_mcp_level level = vcm_mcp_notice_level(name ? name : "", VCM_MCP_SILENT);
    if (level == VCM_MCP_SILENT) {
        vcm_mcp_fail(call, VCM_RPC_INVALID_PARAMS, "'%.50s' is no log level", name ? name : "");
        return;
    }
    pthread_mutex_lock(&call->mcp->lock);
    if (call->peer)
        call->peer->log_level = level;
    pthread_mutex_unlock(&call->mcp->lock);
}

static size_t find_uri(const struct vcm_mcp_peer *peer, const char *uri)
{
    size_t i = 0;

    while (i < peer->uri_count && strcmp(peer->uris[i], uri) != 0)
        i++;
    return i;
}

/* With the lock held. */
static bool add_uri(struct vcm_mcp_peer *peer, const char *uri)
{
    if (find_uri(peer, uri) < peer->uri_count)
        return false;
    if (vcm_array_reserve(&peer->uris, &peer->uri_capacity, peer->uri_count + 1,
                          VCM_LIMIT_MCP_LISTENERS, NULL) != VCM_OK)
        return false;
    peer->uris[peer->uri_count] = strdup(uri);
    peer->uri_count += peer->uris[peer->uri_count] != NULL;
    return true;
}

static const char *subscribable(struct vcm_mcp_call *call)
{
    if (call->mcp->features->capabilities & VCM_MCP_RESOURCES_SUBSCRIBE && call->peer)
        return vcm_mcp_param(call, "uri", true);
    vcm_mcp_fail(call, VCM_RPC_UNKNOWN_METHOD, "this server has no subscriptions");
    return NULL;
}

void vcm_mcp_peer_subscribe(struct vcm_mcp_call *call)
{
    const char *uri = subscribable(call);
    bool tell = false;

    if (!uri)
        return;
    pthread_mutex_lock(&call->mcp->lock);
    if (add_uri(call->peer, uri))
        tell = vcm_mcp_listen_count(call->mcp, 1);
    pthread_mutex_unlock(&call->mcp->lock);
    if (tell)
        call->mcp->features->watched(call->mcp->features->context, true);
}

void vcm_mcp_peer_unsubscribe(struct vcm_mcp_call *call)
{
    const char *uri = subscribable(call);
    struct vcm_mcp_peer *peer = call->peer;
    bool tell = false;

    if (!uri)
        return;
    pthread_mutex_lock(&call->mcp->lock);
    size_t at = find_uri(peer, uri);
    if (at < peer->uri_count) {
        free(peer->uris[at]);
        peer->uris[at] = peer->uris[--peer->uri_count];
        tell = vcm_mcp_listen_count(call->mcp, -1);
    }
    pthread_mutex_unlock(&call->mcp->lock);
    if (tell)
        call->mcp->features->watched(call->mcp->features->context, false);
}

bool vcm_mcp_peer_can(const struct vcm_mcp_call *call, const char *capability)
{
    struct vcm_json *root = NULL;
    struct vcm_arena arena;

    if (call->is_modern || !call->peer)
        return vcm_json_get(call->capabilities, capability) != NULL;
    vcm_arena_init(&arena, VCM_LIMIT_RPC_TREE_BYTES);
    pthread_mutex_lock(&call->mcp->lock);
    bool can =
        call->peer->capabilities.len > 0 &&
        vcm_json_parse(&root, &arena, vcm_buf_slice(&call->peer->capabilities), NULL) == VCM_OK &&
        vcm_json_get(root, capability) != NULL;
    pthread_mutex_unlock(&call->mcp->lock);
    vcm_arena_release(&arena);
    return can;
}

void vcm_mcp_peer_take_answer(struct vcm_mcp_peer *peer, struct vcm_rpc_message *answer)
{
    struct vcm_mcp *mcp = peer->mcp;

    pthread_mutex_lock(&mcp->lock);
    for (struct vcm_mcp_question *q = peer->questions; q; q = q->next) {
        if (q->is_answered || !vcm_slice_equal(vcm_slice_of_string(q->id), answer->id))
            continue;
        q->answer = *answer;
        q->is_answered = true;
        vcm_arena_init(&answer->arena, VCM_LIMIT_RPC_ID_BYTES); /* the tree is the question's now */
        pthread_cond_broadcast(&mcp->answered);
        break;
    }
    pthread_mutex_unlock(&mcp->lock);
}

static void wait_for_answer(struct vcm_mcp_call *call, struct vcm_mcp_question *question)
{
    struct vcm_mcp *mcp = call->mcp;
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += VCM_LIMIT_MCP_ASK_MS / 1000;
    while (!question->is_answered && rc != ETIMEDOUT && !vcm_cancel_is_requested(&call->cancel))
        rc = pthread_cond_timedwait(&mcp->answered, &mcp->lock, &until);
}

static void remove_question(struct vcm_mcp_peer *peer, const struct vcm_mcp_question *question)
{
    struct vcm_mcp_question **at = &peer->questions;

    while (*at != question)
        at = &(*at)->next;
    *at = question->next;
}

/* Copies the result into the arena of the call, by way of its text. */
static const struct vcm_json *keep_result(struct vcm_mcp_call *call,
                                          struct vcm_mcp_question *question)
{
    const struct vcm_json *result = vcm_json_get(question->answer.root, "result");
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_RPC_BYTES);
    struct vcm_json *kept = NULL;
    struct vcm_jsonw w;

    if (result) {
        vcm_jsonw_init(&w, &text);
        vcm_rpc_put_json(&w, result);
        vcm_json_parse(&kept, &call->message.arena, vcm_buf_slice(&text), NULL);
    }
    vcm_buf_release(&text);
    vcm_rpc_release(&question->answer);
    return kept;
}

const struct vcm_json *vcm_mcp_peer_ask(struct vcm_mcp_call *call, const char *method,
                                        const char *params)
{
    struct vcm_mcp *mcp = call->mcp;
    struct vcm_mcp_question question = {0};
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_RPC_BYTES);
    struct vcm_jsonw w;

    if (!call->peer || call->is_modern)
        return NULL;
    pthread_mutex_lock(&mcp->lock);
    snprintf(question.id, sizeof question.id, "\"ask-%llu\"", (unsigned long long)++mcp->next_ask);
    question.next = call->peer->questions;
    call->peer->questions = &question;
    pthread_mutex_unlock(&mcp->lock);

    vcm_jsonw_init(&w, &text);
    vcm_rpc_begin(&w, vcm_slice_of_string(question.id));
    vcm_jsonw_member_string(&w, "method", method);
    vcm_jsonw_key(&w, "params");
    vcm_jsonw_raw(&w, vcm_slice_of_string(params));
    vcm_jsonw_end_object(&w);
    bool sent = call->channel->notify(call->channel, vcm_buf_slice(&text));
    vcm_buf_release(&text);

    pthread_mutex_lock(&mcp->lock);
    if (sent)
        wait_for_answer(call, &question);
    remove_question(call->peer, &question);
    pthread_mutex_unlock(&mcp->lock);
    return question.is_answered ? keep_result(call, &question) : NULL;
}
