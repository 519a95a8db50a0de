#include <string.h>

#include "base/limits.h"
#include "serve/mcp_internal.h"

#include "base/banned.h"

/* The names of a filter's members, and of the notices. */
static const struct change {
    enum vcm_mcp_capability capability;
    const char *filter;
    const char *notice;
} changes[] = {
    {VCM_MCP_TOOLS_CHANGE, "toolsListChanged", "notifications/tools/list_changed"},
    {VCM_MCP_PROMPTS_CHANGE, "promptsListChanged", "notifications/prompts/list_changed"},
    {VCM_MCP_RESOURCES_CHANGE, "resourcesListChanged", "notifications/resources/list_changed"},
};
#define CHANGE_COUNT (sizeof changes / sizeof changes[0])

bool vcm_mcp_listen_count(struct vcm_mcp *mcp, int by)
{
    bool was_watched = mcp->watcher_count > 0;

    mcp->watcher_count = (unsigned)((int)mcp->watcher_count + by);
    return mcp->features->watched && was_watched != (mcp->watcher_count > 0);
}

static int watches(const struct vcm_mcp_filter *filter)
{
    return filter->uris || filter->changes & VCM_MCP_RESOURCES_CHANGE ? 1 : 0;
}

/* The part of the wanted filter that this server honours. */
static struct vcm_mcp_filter *make_filter(struct vcm_mcp_call *call)
{
    const struct vcm_json *wanted = vcm_json_get(call->message.params, "notifications");
    const struct vcm_json *uris = vcm_json_get(wanted, "resourceSubscriptions");
    unsigned can = call->mcp->features->capabilities;
    struct vcm_mcp_filter *filter = vcm_arena_alloc(&call->message.arena, sizeof *filter);

    if (!wanted || wanted->kind != VCM_JSON_OBJECT) {
        vcm_mcp_fail(call, VCM_RPC_INVALID_PARAMS, "params.notifications has to be an object");
        return NULL;
    }
    if (!filter) {
        vcm_mcp_fail(call, VCM_RPC_INTERNAL, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        if (can & changes[i].capability && vcm_json_get_bool(wanted, changes[i].filter, false))
            filter->changes |= changes[i].capability;
    if (uris && can & VCM_MCP_RESOURCES_SUBSCRIBE && uris->kind == VCM_JSON_ARRAY && uris->first)
        filter->uris = uris;
    return filter;
}

static void acknowledge(struct vcm_mcp_call *call, const struct vcm_mcp_filter *filter)
{
    struct vcm_jsonw w;
    struct vcm_buf out;

    vcm_mcp_notice_begin(&w, &out, "notifications/subscriptions/acknowledged", call->message.id);
    vcm_jsonw_key(&w, "notifications");
    vcm_jsonw_begin_object(&w);
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        if (filter->changes & changes[i].capability)
            vcm_jsonw_member_bool(&w, changes[i].filter, true);
    if (filter->uris) {
        vcm_jsonw_key(&w, "resourceSubscriptions");
        vcm_rpc_put_json(&w, filter->uris);
    }
    vcm_jsonw_end_object(&w);
    vcm_mcp_notice_send(call->channel, &w, &out);
}

bool vcm_mcp_listen_begin(struct vcm_mcp_call *call)
{
    struct vcm_mcp *mcp = call->mcp;
    struct vcm_mcp_filter *filter = make_filter(call);
    bool tell = false;

    if (!filter)
        return false;
    pthread_mutex_lock(&mcp->lock);
    bool has_room = mcp->listener_count < VCM_LIMIT_MCP_LISTENERS && !mcp->is_stopping;
    if (has_room) {
        /* First the acknowledgement, then the place in the list: nothing overtakes it. */
        acknowledge(call, filter);
        call->filter = filter;
        mcp->listener_count++;
        tell = vcm_mcp_listen_count(mcp, watches(filter));
    }
    pthread_mutex_unlock(&mcp->lock);
    if (!has_room)
        vcm_mcp_fail(call, VCM_RPC_INTERNAL, "there are %u subscriptions already; end some",
                     VCM_LIMIT_MCP_LISTENERS);
    if (tell)
        mcp->features->watched(mcp->features->context, true);
    return has_room;
}

struct vcm_mcp_call *vcm_mcp_listen_claim(struct vcm_mcp_call *call)
{
    if (!call->filter || call->is_claimed)
        return NULL;
    call->is_claimed = true;
    return call;
}

void vcm_mcp_listen_end(struct vcm_mcp_call *call)
{
    struct vcm_mcp *mcp = call->mcp;

    pthread_mutex_lock(&mcp->lock);
    mcp->listener_count--;
    bool tell = vcm_mcp_listen_count(mcp, -watches(call->filter));
    pthread_mutex_unlock(&mcp->lock);
    if (tell)
        mcp->features->watched(mcp->features->context, false);
    vcm_mcp_finish(call);
}

static void send_change(struct vcm_mcp_channel *channel, const char *notice, struct vcm_slice id,
                        const char *uri)
{
    struct vcm_jsonw w;
    struct vcm_buf out;

    vcm_mcp_notice_begin(&w, &out, notice, id);
    if (uri)
        vcm_jsonw_member_string(&w, "uri", uri);
    vcm_mcp_notice_send(channel, &w, &out);
}

void vcm_mcp_listen_changed(struct vcm_mcp *mcp, enum vcm_mcp_capability capability)
{
    const struct change *change = changes;

    while (change->capability != capability)
        change++;
    pthread_mutex_lock(&mcp->lock);
    for (struct vcm_mcp_call *call = mcp->calls; call; call = call->next)
        if (call->filter && !call->is_claimed && call->filter->changes & capability)
            send_change(call->channel, change->notice, call->message.id, NULL);
    for (struct vcm_mcp_peer *peer = mcp->peers; peer; peer = peer->next)
        if (peer->version && peer->stream)
            send_change(peer->stream, change->notice, vcm_slice_of("", 0), NULL);
    pthread_mutex_unlock(&mcp->lock);
}

static bool has_uri(const struct vcm_json *uris, const char *uri)
{
    for (const struct vcm_json *u = uris ? uris->first : NULL; u; u = u->next)
        if (vcm_mcp_notice_equal(u, uri))
            return true;
    return false;
}

void vcm_mcp_listen_updated(struct vcm_mcp *mcp, const char *uri)
{
    static const char notice[] = "notifications/resources/updated";

    pthread_mutex_lock(&mcp->lock);
    for (struct vcm_mcp_call *call = mcp->calls; call; call = call->next)
        if (call->filter && !call->is_claimed && has_uri(call->filter->uris, uri))
            send_change(call->channel, notice, call->message.id, uri);
    for (struct vcm_mcp_peer *peer = mcp->peers; peer; peer = peer->next)
        for (size_t i = 0; peer->stream && i < peer->uri_count; i++)
            if (strcmp(peer->uris[i], uri) == 0)
                send_change(peer->stream, notice, vcm_slice_of("", 0), uri);
    pthread_mutex_unlock(&mcp->lock);
}
