/*
 * mcp_internal.h - shared by the files of the protocol: mcp.c, mcp_peer.c, mcp_listen.c,
 * mcp_notice.c. Private to serve/.
 */
#ifndef VCM_SERVE_MCP_INTERNAL_H
#define VCM_SERVE_MCP_INTERNAL_H

#include <pthread.h>

#include "serve/mcp.h"

struct vcm_mcp {
    const struct vcm_mcp_features *features;
    struct vcm_crew *crew;
    pthread_mutex_t lock; /* of everything below, and of the peers */
    pthread_cond_t answered;
    struct vcm_mcp_call *calls; /* under way, subscriptions among them */
    unsigned call_count, listener_count, watcher_count;
    struct vcm_mcp_peer *peers;
    uint64_t next_ask;
    bool is_stopping;
};

/* A question to the client that waits for its answer. */
struct vcm_mcp_question {
    struct vcm_mcp_question *next;
    char id[32]; /* JSON text */
    struct vcm_rpc_message answer;
    bool is_answered;
};

struct vcm_mcp_peer {
    struct vcm_mcp *mcp;
    struct vcm_mcp_channel *stream;
    bool all_versions;
    const char *version; /* a static text; NULL before initialize */
    struct vcm_buf capabilities;
    enum vcm_mcp_level log_level;
    struct vcm_mcp_question *questions;
    char **uris; /* subscribed resources */
    size_t uri_count, uri_capacity;
    unsigned users; /* calls, and the transport */
    struct vcm_mcp_peer *next, **link;
};

/* What a stream of subscriptions/listen gets. */
struct vcm_mcp_filter {
    unsigned changes; /* of enum vcm_mcp_capability */
    const struct vcm_json *uris;
};

/* Begins and sends a notice: the caller writes the members of params in between. `id` is that of
 * the subscription, empty for none. */
void vcm_mcp_notice_begin(struct vcm_jsonw *w, struct vcm_buf *out, const char *method,
                          struct vcm_slice id);
bool vcm_mcp_notice_send(struct vcm_mcp_channel *channel, struct vcm_jsonw *w, struct vcm_buf *out);

/* The level by its name, or `otherwise`. */
enum vcm_mcp_level vcm_mcp_notice_level(const char *name, enum vcm_mcp_level otherwise);

/* Whether a string value is equal to `text`. */
bool vcm_mcp_notice_equal(const struct vcm_json *value, const char *text);

/* Ends a call: sends its answer, or nothing if it was cancelled, and frees it. */
void vcm_mcp_finish(struct vcm_mcp_call *call);

/* The methods of the protocol itself. */
void vcm_mcp_peer_initialize(struct vcm_mcp_call *call);
void vcm_mcp_peer_set_level(struct vcm_mcp_call *call);
void vcm_mcp_peer_subscribe(struct vcm_mcp_call *call);
void vcm_mcp_peer_unsubscribe(struct vcm_mcp_call *call);

/* Takes an answer to a question; the message is taken over, or released. */
void vcm_mcp_peer_take_answer(struct vcm_mcp_peer *peer, struct vcm_rpc_message *answer);
void vcm_mcp_peer_hold(struct vcm_mcp_peer *peer);
void vcm_mcp_peer_let_go(struct vcm_mcp_peer *peer); /* with the lock held */

/* subscriptions/listen: true if the call stays open. */
bool vcm_mcp_listen_begin(struct vcm_mcp_call *call);
/* With the lock held: the number of watchers changes by this. Returns whether to tell the feature.
 */
bool vcm_mcp_listen_count(struct vcm_mcp *mcp, int by);
/* With the lock held: the call if it is an open subscription that nobody ends yet, else NULL. Who
 * gets it has to end it, without the lock. */
struct vcm_mcp_call *vcm_mcp_listen_claim(struct vcm_mcp_call *call);
void vcm_mcp_listen_end(struct vcm_mcp_call *call);

/* {"tools":{...},...} */
void vcm_mcp_put_capabilities(struct vcm_jsonw *w, const struct vcm_mcp_features *features);
void vcm_mcp_put_info(struct vcm_jsonw *w, const struct vcm_mcp_features *features);

#endif
