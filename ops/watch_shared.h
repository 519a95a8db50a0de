/*
 * watch_shared.h - shared by `watch` and `map --watch`. Private to ops/.
 */
#ifndef VCM_OPS_WATCH_SHARED_H
#define VCM_OPS_WATCH_SHARED_H

#include "base/defaults.h"
#include "ops/op.h"

/* The interval between polls of remotes. */
#define VCM_WATCH_POLL                                                                             \
    {                                                                                              \
        .name = "poll", .type = VCM_OP_TEXT, .placeholder = "DURATION",                            \
        .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_POLL_SECONDS) "s",                            \
        .summary = "interval between polls of remotes, in ms, s, m or h"                           \
    }

extern const struct vcm_result_member vcm_watch_event[]; /* over a struct vcm_page_event */

typedef void (*vcm_watch_put_fn)(struct vcm_jsonw *w, const struct vcm_map_result *map);

/* Watches until it is interrupted or the reader is gone. With `put_map` it begins with a mapping of
 * all rows and writes its document. */
int vcm_watch_shared_run(struct vcm_op_call *call, const struct vcm_map_options *options,
                         const char *poll, vcm_watch_put_fn put_map, struct vcm_error *err);

void vcm_watch_shared_print_event(struct vcm_print *out, const struct vcm_json *event);

#endif
