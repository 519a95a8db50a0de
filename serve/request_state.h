/*
 * request_state.h - what a modern answer gives the client to bring back (requestState), signed.
 *
 * The server remembers nothing between the rounds of a request; what comes back is as hostile as
 * any input. The key lives as long as the process.
 */
#ifndef VCM_SERVE_REQUEST_STATE_H
#define VCM_SERVE_REQUEST_STATE_H

#include "base/buf.h"

#define VCM_REQUEST_STATE_KEY_BYTES 32u

struct vcm_request_state_key {
    unsigned char bytes[VCM_REQUEST_STATE_KEY_BYTES];
};

/* Makes a key. */
int vcm_request_state_make_key(struct vcm_request_state_key *key, struct vcm_error *err);

/* Appends the text with its signature. `what` is the request that it belongs to, such as the name
 * of a tool: it cannot be brought to another. */
void vcm_request_state_put(struct vcm_buf *out, const struct vcm_request_state_key *key,
                           const char *what, const char *text);

/* Appends the text; false if the signature is not ours. */
bool vcm_request_state_get(struct vcm_buf *out, const struct vcm_request_state_key *key,
                           const char *what, const char *state);

#endif
