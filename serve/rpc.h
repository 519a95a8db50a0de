/*
 * rpc.h - messages of JSON-RPC 2.0: reading one, and writing answers and notices.
 *
 * Knows no method and no transport. An id is kept as its JSON text and written back as it came. A
 * message owns everything that it was parsed into; one owner, no locking.
 */
#ifndef VCM_SERVE_RPC_H
#define VCM_SERVE_RPC_H

#include "base/arena.h"
#include "base/json.h"
#include "base/jsonw.h"

enum vcm_rpc_kind {
    VCM_RPC_REQUEST,
    VCM_RPC_NOTICE, /* a request without an id: it gets no answer */
    VCM_RPC_ANSWER, /* to a request of ours */
};

/* Error codes of JSON-RPC, then those of MCP. */
enum vcm_rpc_code {
    VCM_RPC_PARSE_ERROR = -32700,
    VCM_RPC_INVALID_REQUEST = -32600,
    VCM_RPC_UNKNOWN_METHOD = -32601,
    VCM_RPC_INVALID_PARAMS = -32602,
    VCM_RPC_INTERNAL = -32603,
    VCM_RPC_NO_RESOURCE = -32002, /* before 2026-07-28 */
    VCM_RPC_HEADER_MISMATCH = -32020,
    VCM_RPC_NO_CAPABILITY = -32021,
    VCM_RPC_UNSUPPORTED_VERSION = -32022,
};

struct vcm_rpc_message {
    enum vcm_rpc_kind kind;
    struct vcm_slice id; /* JSON text; empty for a notice, and where it cannot be read */
    const char *method;
    const struct vcm_json *params; /* an object, or NULL */
    const struct vcm_json *root;   /* the whole message */
    struct vcm_arena arena;
};

/* Why a message cannot be used. */
struct vcm_rpc_failure {
    int code; /* of enum vcm_rpc_code, 0 for none */
    char text[256];
};

/* Parses one message; false fills in the failure, and `message` has the id if that could be read.
 * Release it in both cases. */
bool vcm_rpc_parse(struct vcm_rpc_message *message, struct vcm_slice text,
                   struct vcm_rpc_failure *failure);
void vcm_rpc_release(struct vcm_rpc_message *message);

/* The JSON text of a value that may be an id or a progress token, a string or an integer; empty for
 * others. It lives in the arena. */
struct vcm_slice vcm_rpc_id_text(struct vcm_arena *arena, const struct vcm_json *value);

/* Begins {"jsonrpc":"2.0","id":...; without "id" if it is empty. The caller adds members and ends
 * the object. */
void vcm_rpc_begin(struct vcm_jsonw *w, struct vcm_slice id);

/* Writes an answer that is an error; `data` is JSON text, empty for none. */
void vcm_rpc_put_error(struct vcm_buf *out, struct vcm_slice id, int code, const char *text,
                       struct vcm_slice data);

/* Writes any JSON value again. */
void vcm_rpc_put_json(struct vcm_jsonw *w, const struct vcm_json *value);

#endif
