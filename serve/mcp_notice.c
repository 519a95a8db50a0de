#include <string.h>

#include "base/limits.h"
#include "serve/mcp_internal.h"

#include "base/banned.h"

static const char *const level_names[] = {
    [VCM_MCP_DEBUG] = "debug",   [VCM_MCP_INFO] = "info",
    [VCM_MCP_NOTICE] = "notice", [VCM_MCP_WARNING] = "warning",
    [VCM_MCP_ERROR] = "error",   [VCM_MCP_CRITICAL] = "critical",
    [VCM_MCP_ALERT] = "alert",   [VCM_MCP_EMERGENCY] = "emergency",
};

enum vcm_mcp_level vcm_mcp_notice_level(const char *name, enum vcm_mcp_level otherwise)
{
    for (unsigned i = 0; i < sizeof level_names / sizeof level_names[0]; i++)
        if (strcmp(level_names[i], name) == 0)
            return (enum vcm_mcp_level)i;
    return otherwise;
}

bool vcm_mcp_notice_equal(const struct vcm_json *value, const char *text)
{
    return value->kind == VCM_JSON_STRING &&
           vcm_slice_equal(value->text, vcm_slice_of_string(text));
}

void vcm_mcp_notice_begin(struct vcm_jsonw *w, struct vcm_buf *out, const char *method,
                          struct vcm_slice id)
{
    vcm_buf_init(out, VCM_LIMIT_MCP_ANSWER_BYTES);
    vcm_jsonw_init(w, out);
    vcm_rpc_begin(w, vcm_slice_of("", 0));
    vcm_jsonw_member_string(w, "method", method);
    vcm_jsonw_key(w, "params");
    vcm_jsonw_begin_object(w);
    if (id.len == 0)
        return;
    vcm_jsonw_key(w, "_meta");
    vcm_jsonw_begin_object(w);
    vcm_jsonw_key(w, VCM_MCP_META "subscriptionId");
    vcm_jsonw_raw(w, id);
    vcm_jsonw_end_object(w);
}

bool vcm_mcp_notice_send(struct vcm_mcp_channel *channel, struct vcm_jsonw *w, struct vcm_buf *out)
{
    vcm_jsonw_end_object(w);
    vcm_jsonw_end_object(w);
    bool sent = out->fault == VCM_BUF_FINE && channel->notify(channel, vcm_buf_slice(out));
    vcm_buf_release(out);
    return sent;
}

void vcm_mcp_notice_progress(struct vcm_mcp_call *call, uint64_t progress, uint64_t total,
                             const char *message)
{
    struct vcm_jsonw w;
    struct vcm_buf out;

    if (call->progress_token.len == 0 || vcm_cancel_is_requested(&call->cancel))
        return;
    vcm_mcp_notice_begin(&w, &out, "notifications/progress", vcm_slice_of("", 0));
    vcm_jsonw_key(&w, "progressToken");
    vcm_jsonw_raw(&w, call->progress_token);
    vcm_jsonw_member_uint(&w, "progress", progress);
    if (total > 0)
        vcm_jsonw_member_uint(&w, "total", total);
    if (message)
        vcm_jsonw_member_string(&w, "message", message);
    vcm_mcp_notice_send(call->channel, &w, &out);
}

static enum vcm_mcp_level least_level(const struct vcm_mcp_call *call)
{
    if (call->is_modern || !call->peer)
        return call->log_level;
    pthread_mutex_lock(&call->mcp->lock);
    enum vcm_mcp_level level = call->peer->log_level;
    pthread_mutex_unlock(&call->mcp->lock);
    return level;
}

void vcm_mcp_notice_log(struct vcm_mcp_call *call, enum vcm_mcp_level level, const char *data)
{
    struct vcm_jsonw w;
    struct vcm_buf out;

    if (level < least_level(call) || vcm_cancel_is_requested(&call->cancel))
        return;
    vcm_mcp_notice_begin(&w, &out, "notifications/message", vcm_slice_of("", 0));
    vcm_jsonw_member_string(&w, "level", level_names[level]);
    vcm_jsonw_member_string(&w, "logger", call->mcp->features->name);
    vcm_jsonw_key(&w, "data");
    vcm_jsonw_raw(&w, vcm_slice_of_string(data));
    vcm_mcp_notice_send(call->channel, &w, &out);
}
