/*
 * mcp.h - the Model Context Protocol in both of its eras, without a transport and without tools.
 *
 * A transport (stdio.h, http_mcp.h) brings messages and takes answers; features (tools.h) answer
 * the methods that they list. Here are the rules in between: which era a message belongs to,
 * versions, capabilities, cancellation, progress, logging, subscriptions, questions to the client.
 *
 * The era is chosen by each message: one with a protocol version in _meta, or with the header that
 * says so, is modern (2026-07-28, stateless); everything else is legacy and belongs to a peer,
 * which `initialize` made. Nothing that a modern request says is remembered.
 *
 * Any thread may call what is declared here. A call is owned by the protocol from vcm_mcp_start()
 * until it has called the channel's `finish`.
 */
#ifndef VCM_SERVE_MCP_H
#define VCM_SERVE_MCP_H

#include "serve/crew.h"
#include "serve/rpc.h"

#define VCM_MCP_MODERN_VERSION "2026-07-28"
#define VCM_MCP_META           "io.modelcontextprotocol/"

struct vcm_mcp;
struct vcm_mcp_call;

/* The way back to the client of one call. The transport fills it in. */
struct vcm_mcp_channel {
    /* Sends a message in front of the answer. False if the client is gone. */
    bool (*notify)(struct vcm_mcp_channel *channel, struct vcm_slice message);
    /* Sends the answer, empty for none; `code` is 0 for a result. Called once, as the last. */
    void (*finish)(struct vcm_mcp_channel *channel, struct vcm_slice answer, int code);
    /* Compares what the transport says about a modern request (headers) with the request; false
     * after vcm_mcp_fail(). May be NULL. */
    bool (*check)(struct vcm_mcp_channel *channel, struct vcm_mcp_call *call);
};

/* A client that speaks a legacy version: a connection by stdio, or a session by HTTP. */
struct vcm_mcp_peer;

enum vcm_mcp_level {
    VCM_MCP_DEBUG,
    VCM_MCP_INFO,
    VCM_MCP_NOTICE,
    VCM_MCP_WARNING,
    VCM_MCP_ERROR,
    VCM_MCP_CRITICAL,
    VCM_MCP_ALERT,
    VCM_MCP_EMERGENCY,
    VCM_MCP_SILENT, /* no messages */
};

struct vcm_mcp_call {
    struct vcm_mcp *mcp;
    struct vcm_mcp_peer *peer; /* NULL for a modern request by HTTP */
    struct vcm_mcp_channel *channel;
    struct vcm_rpc_message message;
    bool is_modern;
    bool is_read_only; /* the client may not call what writes */
    const struct vcm_mcp_method *method;
    const struct vcm_json *meta;         /* of the request, or NULL */
    const struct vcm_json *capabilities; /* of a modern client */
    struct vcm_slice progress_token;     /* JSON text; empty: no progress is wanted */
    enum vcm_mcp_level log_level;
    struct vcm_cancel cancel;

    /* The answer: a method writes the members of the result, or calls vcm_mcp_fail(). */
    struct vcm_jsonw w;
    bool is_tool_error;  /* the result says so */
    bool input_required; /* the result asks the client for something */
    uint64_t ttl_ms;     /* how long a client may keep a listing or a resource */

    /* Private. */
    struct vcm_buf out, data;
    int code;
    char text[512];
    bool is_cancelled; /* by the client: there is no answer */
    bool is_running;
    uint64_t started_ms;
    struct vcm_crew_job job;
    struct vcm_crew_seat *seat;
    struct vcm_mcp_call *next, **link; /* of the calls under way */
    struct vcm_mcp_filter *filter;     /* of subscriptions/listen */
    bool is_claimed;                   /* of a subscription: somebody ends it */
};

enum vcm_mcp_flag {
    VCM_MCP_QUICK = 1 << 0, /* answered where the message is read: waits for nothing */
    VCM_MCP_KEPT = 1 << 1,  /* a client may keep the answer: ttlMs and cacheScope */
};

/* A method that a feature answers. */
struct vcm_mcp_method {
    const char *name;
    unsigned flags; /* of enum vcm_mcp_flag */
    void (*run)(struct vcm_mcp_call *call);
};

enum vcm_mcp_capability {
    VCM_MCP_TOOLS = 1 << 0,
    VCM_MCP_TOOLS_CHANGE = 1 << 1,
    VCM_MCP_RESOURCES = 1 << 2,
    VCM_MCP_RESOURCES_CHANGE = 1 << 3,
    VCM_MCP_RESOURCES_SUBSCRIBE = 1 << 4,
    VCM_MCP_PROMPTS = 1 << 5,
    VCM_MCP_PROMPTS_CHANGE = 1 << 6,
    VCM_MCP_COMPLETIONS = 1 << 7,
    VCM_MCP_LOGGING = 1 << 8,
};

/* What a server offers; constant while it runs. */
struct vcm_mcp_features {
    const char *name, *title, *version;
    const char *instructions;                         /* may be NULL */
    unsigned capabilities;                            /* of enum vcm_mcp_capability */
    const struct vcm_mcp_method *methods;             /* ends without a name */
    bool (*is_long)(const struct vcm_mcp_call *call); /* see crew.h; may be NULL */
    /* The arguments of a tool that a header repeats (x-mcp-header), one by one from 0; false at the
     * end. May be NULL. */
    bool (*repeated)(const struct vcm_mcp_call *call, size_t index, const char **argument,
                     const char **header);
    /* Told of each call that has ended, for statistics and the log; may be NULL. */
    void (*ended)(const struct vcm_mcp_call *call, int code, uint64_t elapsed_ms);
    /* Told when the first subscription to resources comes and the last one goes; may be NULL. */
    void (*watched)(void *context, bool is_watched);
    void *context;
};

int vcm_mcp_open(struct vcm_mcp **out, const struct vcm_mcp_features *features,
                 struct vcm_crew *crew, struct vcm_error *err);

/* Cancels what is under way and ends subscriptions. Calls still finish, on their threads: close the
 * crew, then the channels, then call vcm_mcp_close(). */
void vcm_mcp_stop(struct vcm_mcp *mcp);
void vcm_mcp_close(struct vcm_mcp *mcp);

const struct vcm_mcp_features *vcm_mcp_features_of(const struct vcm_mcp *mcp);
unsigned vcm_mcp_under_way(struct vcm_mcp *mcp);

/* A legacy peer. `stream` gets what belongs to no request, NULL for nowhere. `all_versions`: also
 * the version that is for stdio alone. The peer lives until its last call has ended. */
struct vcm_mcp_peer *vcm_mcp_peer_open(struct vcm_mcp *mcp, struct vcm_mcp_channel *stream,
                                       bool all_versions);
void vcm_mcp_peer_set_stream(struct vcm_mcp_peer *peer, struct vcm_mcp_channel *stream);
void vcm_mcp_peer_close(struct vcm_mcp_peer *peer);

/* Parses a message into a call; NULL without memory. After a failure the call has only its id: pass
 * it to vcm_mcp_refuse(). */
struct vcm_mcp_call *vcm_mcp_call_open(struct vcm_mcp *mcp, struct vcm_slice text,
                                       struct vcm_rpc_failure *failure);

/* Frees a call that was never started. */
void vcm_mcp_call_close(struct vcm_mcp_call *call);

/* Whether the message says itself that it is modern. */
bool vcm_mcp_call_is_modern(const struct vcm_mcp_call *call);

/* Whether a legacy server that speaks HTTP knows the version. */
bool vcm_mcp_peer_knows(const char *version, bool all_versions);

/* Answers with an error without starting the call. */
void vcm_mcp_refuse(struct vcm_mcp_call *call, struct vcm_mcp_channel *channel, int code,
                    const char *text);

/* Starts the call. `peer` is NULL for a modern request by HTTP. */
void vcm_mcp_start(struct vcm_mcp_call *call, struct vcm_mcp_peer *peer,
                   struct vcm_mcp_channel *channel, bool is_modern);

/* The client of the channel is gone: cancels its call. */
void vcm_mcp_abandon(struct vcm_mcp *mcp, const struct vcm_mcp_channel *channel);

/* For methods. */

/* Makes the answer an error; the first one counts. */
void vcm_mcp_fail(struct vcm_mcp_call *call, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The "data" of that error: JSON text. */
void vcm_mcp_fail_data(struct vcm_mcp_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A text of the request's params, or NULL; the call fails when it is required and missing. */
const char *vcm_mcp_param(struct vcm_mcp_call *call, const char *name, bool required);

/* Whether the client declared a capability: "sampling". */
bool vcm_mcp_peer_can(const struct vcm_mcp_call *call, const char *capability);

/* The handle of the thread that runs the call. */
int vcm_mcp_handle(struct vcm **out, struct vcm_mcp_call *call, struct vcm_error *err);

/* Sends notifications/progress if the client asked for it. `progress` must grow. */
void vcm_mcp_notice_progress(struct vcm_mcp_call *call, uint64_t progress, uint64_t total,
                             const char *message);

/* Sends notifications/message if the client wants this level. `data` is JSON text. */
void vcm_mcp_notice_log(struct vcm_mcp_call *call, enum vcm_mcp_level level, const char *data);

/* Asks a legacy client and waits for its answer, which lives as long as the call. `params` is JSON
 * text. NULL if it answers with an error, not at all, or the call is cancelled. */
const struct vcm_json *vcm_mcp_peer_ask(struct vcm_mcp_call *call, const char *method,
                                        const char *params);

/* Tells subscribers. `capability` is one of the _CHANGE flags; `uri` is that of a resource. */
void vcm_mcp_listen_changed(struct vcm_mcp *mcp, enum vcm_mcp_capability capability);
void vcm_mcp_listen_updated(struct vcm_mcp *mcp, const char *uri);

#endif
