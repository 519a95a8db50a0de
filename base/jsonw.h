/*
 * jsonw.h - writes compact JSON value by value, without building a tree.
 *
 * Strings are escaped exactly as ECMAScript's JSON.stringify escapes them. They must be valid UTF-8
 * (see utf8.h); invalid bytes are the caller's bug and are replaced by U+FFFD, so that the output
 * is always JSON. The writer adds the commas; the caller keeps begin and end in pairs (asserted).
 * Faults are recorded in the buffer (vcm_buf_check). With a drain, the buffer is emptied into it
 * whenever it holds more than VCM_JSONW_DRAIN_BYTES and at vcm_jsonw_finish().
 */
#ifndef VCM_BASE_JSONW_H
#define VCM_BASE_JSONW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"

#define VCM_JSONW_DRAIN_BYTES ((size_t)64 * 1024)

typedef int (*vcm_jsonw_drain_fn)(void *context, const char *data, size_t len,
                                  struct vcm_error *err);

struct vcm_jsonw {
    struct vcm_buf *out;
    vcm_jsonw_drain_fn drain; /* may be NULL */
    void *drain_context;
    unsigned depth;
    bool has_members[VCM_LIMIT_JSON_DEPTH];
    bool after_key;
    int drain_rc;
    struct vcm_error drain_error;
};

void vcm_jsonw_init(struct vcm_jsonw *w, struct vcm_buf *out);
void vcm_jsonw_set_drain(struct vcm_jsonw *w, vcm_jsonw_drain_fn drain, void *context);

void vcm_jsonw_begin_object(struct vcm_jsonw *w);
void vcm_jsonw_end_object(struct vcm_jsonw *w);
void vcm_jsonw_begin_array(struct vcm_jsonw *w);
void vcm_jsonw_end_array(struct vcm_jsonw *w);

void vcm_jsonw_key(struct vcm_jsonw *w, const char *name);
void vcm_jsonw_string(struct vcm_jsonw *w, const char *text); /* NULL writes null */
void vcm_jsonw_slice(struct vcm_jsonw *w, struct vcm_slice text);
void vcm_jsonw_int(struct vcm_jsonw *w, int64_t value);
void vcm_jsonw_uint(struct vcm_jsonw *w, uint64_t value);
void vcm_jsonw_bool(struct vcm_jsonw *w, bool value);
void vcm_jsonw_null(struct vcm_jsonw *w);

/* The shortest decimal that reads back as the same double; NaN and infinities become null. */
void vcm_jsonw_number(struct vcm_jsonw *w, double value);

/* Members of an object: key and value in one call. */
void vcm_jsonw_member_string(struct vcm_jsonw *w, const char *name, const char *text);
void vcm_jsonw_member_slice(struct vcm_jsonw *w, const char *name, struct vcm_slice text);
void vcm_jsonw_member_int(struct vcm_jsonw *w, const char *name, int64_t value);
void vcm_jsonw_member_uint(struct vcm_jsonw *w, const char *name, uint64_t value);
void vcm_jsonw_member_bool(struct vcm_jsonw *w, const char *name, bool value);
void vcm_jsonw_member_null(struct vcm_jsonw *w, const char *name);

/* Writes text that is already JSON as one value, unchanged. */
void vcm_jsonw_raw(struct vcm_jsonw *w, struct vcm_slice json);

/* Drains the rest. VCM_OK, or the first fault of the buffer or the drain. */
int vcm_jsonw_finish(struct vcm_jsonw *w, struct vcm_error *err);

/* Appends `text` to `out` as a JSON string with its quotes: the one place that knows the
 * escaping. Page bytes depend on it (docs/FORMAT.md). */
void vcm_jsonw_escape(struct vcm_buf *out, struct vcm_slice text);

/* The same without the quotes, of text that is known to be valid, to `out`, which has room for
 * VCM_JSONW_ESCAPE_BYTES(text.len). Returns where it ends. */
#define VCM_JSONW_ESCAPE_BYTES(len) (6 * (len) + 16)
char *vcm_jsonw_escape_to(char *out, struct vcm_slice text);

#endif
