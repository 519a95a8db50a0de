#include "serve/rpc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"

#include "base/banned.h"

__attribute__((format(printf, 3, 4))) static bool fail(struct vcm_rpc_failure *failure, int code,
                                                       const char *format, ...)
{
    va_list args;

    va_start(args, format);
    failure->code = code;
    vsnprintf(failure->text, sizeof failure->text, format, args);
    va_end(args);
    return false;
}

struct vcm_slice vcm_rpc_id_text(struct vcm_arena *arena, const struct vcm_json *value)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_RPC_ID_BYTES);
    const char *copy = NULL;

    if (value && value->kind == VCM_JSON_INT)
        vcm_buf_append_format(&text, "%lld", (long long)value->integer);
    else if (value && value->kind == VCM_JSON_STRING)
        vcm_jsonw_escape(&text, value->text);
    size_t len = text.fault == VCM_BUF_FINE ? text.len : 0;
    if (len > 0)
        copy = vcm_arena_copy(arena, vcm_buf_slice(&text));
    vcm_buf_release(&text);
    return vcm_slice_of(copy, copy ? len : 0);
}

/* A method, or a result or an error, and what belongs to it. */
static bool settle(struct vcm_rpc_message *message, struct vcm_rpc_failure *failure)
{
    const struct vcm_json *method = vcm_json_get(message->root, "method");
    const struct vcm_json *params = vcm_json_get(message->root, "params");

    if (!method) {
        message->kind = VCM_RPC_ANSWER;
        if (vcm_json_get(message->root, "result") || vcm_json_get(message->root, "error"))
            return true;
        return fail(failure, VCM_RPC_INVALID_REQUEST, "the message has no method");
    }
    if (method->kind != VCM_JSON_STRING || method->text.len == 0)
        return fail(failure, VCM_RPC_INVALID_REQUEST, "method has to be a string");
    if (params && params->kind != VCM_JSON_OBJECT)
        return fail(failure, VCM_RPC_INVALID_REQUEST, "params has to be an object");
    message->method = method->text.data;
    message->params = params;
    message->kind = message->id.len > 0 ? VCM_RPC_REQUEST : VCM_RPC_NOTICE;
    return true;
}

bool vcm_rpc_parse(struct vcm_rpc_message *message, struct vcm_slice text,
                   struct vcm_rpc_failure *failure)
{
    struct vcm_error err = {0};
    struct vcm_json *root = NULL;

    *failure = (struct vcm_rpc_failure){0};
    *message = (struct vcm_rpc_message){.kind = VCM_RPC_NOTICE};
    vcm_arena_init(&message->arena, VCM_LIMIT_RPC_TREE_BYTES);
    if (!vcm_utf8_valid(text))
        return fail(failure, VCM_RPC_PARSE_ERROR, "the message is not valid UTF-8");
    int rc = vcm_json_parse(&root, &message->arena, text, &err);
    if (rc != VCM_OK)
        return fail(failure, VCM_RPC_PARSE_ERROR, "%s",
                    rc == VCM_INTERNAL ? "the message has too many values" : err.message);
    if (root->kind != VCM_JSON_OBJECT)
        return fail(failure, VCM_RPC_INVALID_REQUEST,
                    root->kind == VCM_JSON_ARRAY ? "batches are not supported: send one message"
                                                 : "a message is a JSON object");
    message->root = root;
    const struct vcm_json *id = vcm_json_get(root, "id");
    message->id = vcm_rpc_id_text(&message->arena, id);
    if (id && message->id.len == 0)
        return fail(failure, VCM_RPC_INVALID_REQUEST,
                    "id has to be a string or an integer, of at most %zu bytes",
                    VCM_LIMIT_RPC_ID_BYTES);
    if (strcmp(vcm_json_get_text(root, "jsonrpc", ""), "2.0") != 0)
        return fail(failure, VCM_RPC_INVALID_REQUEST, "jsonrpc has to be \"2.0\"");
    return settle(message, failure);
}

void vcm_rpc_release(struct vcm_rpc_message *message)
{
    vcm_arena_release(&message->arena);
}

void vcm_rpc_begin(struct vcm_jsonw *w, struct vcm_slice id)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "jsonrpc", "2.0");
    if (id.len == 0)
        return;
    vcm_jsonw_key(w, "id");
    vcm_jsonw_raw(w, id);
}

void vcm_rpc_put_error(struct vcm_buf *out, struct vcm_slice id, int code, const char *text,
                       struct vcm_slice data)
{
    struct vcm_jsonw w;

    vcm_jsonw_init(&w, out);
    vcm_rpc_begin(&w, id);
    vcm_jsonw_key(&w, "error");
    vcm_jsonw_begin_object(&w);
    vcm_jsonw_member_int(&w, "code", code);
    vcm_jsonw_member_string(&w, "message", text);
    if (data.len > 0) {
        vcm_jsonw_key(&w, "data");
        vcm_jsonw_raw(&w, data);
    }
    vcm_jsonw_end_object(&w);
    vcm_jsonw_end_object(&w);
}

static void put_children(struct vcm_jsonw *w, const struct vcm_json *value)
{
    for (const struct vcm_json *child = value->first; child; child = child->next) {
        if (value->kind == VCM_JSON_OBJECT)
            vcm_jsonw_key(w, child->key.data);
        vcm_rpc_put_json(w, child);
    }
}

void vcm_rpc_put_json(struct vcm_jsonw *w, const struct vcm_json *value)
{
    switch (value->kind) {
    case VCM_JSON_NULL:
        vcm_jsonw_null(w);
        break;
    case VCM_JSON_BOOL:
        vcm_jsonw_bool(w, value->boolean);
        break;
    case VCM_JSON_INT:
        vcm_jsonw_int(w, value->integer);
        break;
    case VCM_JSON_NUMBER:
        vcm_jsonw_number(w, value->number);
        break;
    case VCM_JSON_STRING:
        vcm_jsonw_slice(w, value->text);
        break;
    case VCM_JSON_ARRAY:
        vcm_jsonw_begin_array(w);
        put_children(w, value);
        vcm_jsonw_end_array(w);
        break;
    case VCM_JSON_OBJECT:
        vcm_jsonw_begin_object(w);
        put_children(w, value);
        vcm_jsonw_end_object(w);
        break;
    }
}
