#include "ops/watch_shared.h"

#include <string.h>

#include "base/defaults.h"
#include "base/limits.h"
#include "base/text.h"

#include "base/banned.h"

#define POLL_DEFAULT_MS (VCM_DEFAULT_POLL_SECONDS * UINT64_C(1000))
#define POLL_MAX_MS     (24 * 60 * 60 * UINT64_C(1000))
#define FILES_SHOWN     4u

static const char *const events[] = {"page_added", "page_replaced", "page_invalidated", NULL};

const struct vcm_result_member vcm_watch_event[] = {
    {.name = "event",
     VCM_RESULT_FIELD(struct vcm_page_event, event),
     .choices = events,
     .summary = "what happened"},
    {.name = "scope_id",
     VCM_RESULT_FIELD(struct vcm_page_event, scope_id),
     .summary = "scope of the page"},
    {.name = "page_id",
     VCM_RESULT_FIELD(struct vcm_page_event, page_id),
     .summary = "the new page, or the invalidated one"},
    {.name = "old_page_id",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_page_event, old_page_id),
     .summary = "the replaced page, or null"},
    {.name = "paths",
     VCM_RESULT_STRINGS(struct vcm_page_event, paths, path_count),
     .summary = "files of that page"},
    {0},
};

struct stream {
    struct vcm_op_call *call;
    vcm_watch_put_fn put_map;
};

static int emit(const struct stream *stream, struct vcm_buf *document, struct vcm_jsonw *w,
                struct vcm_error *err)
{
    int rc = vcm_jsonw_finish(w, err);
    if (rc == VCM_OK)
        rc = stream->call->emit(stream->call->emit_context, vcm_buf_slice(document), err);
    vcm_buf_release(document);
    return rc;
}

static int put_mapped(void *context, const struct vcm_map_result *map, struct vcm_error *err)
{
    const struct stream *stream = context;
    struct vcm_buf document = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);
    struct vcm_jsonw w;

    if (!stream->put_map)
        return VCM_OK;
    vcm_jsonw_init(&w, &document);
    stream->put_map(&w, map);
    return emit(stream, &document, &w, err);
}

static int put_event(void *context, const struct vcm_page_event *event, struct vcm_error *err)
{
    const struct stream *stream = context;
    struct vcm_buf document = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);
    struct vcm_jsonw w;

    vcm_jsonw_init(&w, &document);
    vcm_result_put(&w, vcm_watch_event, event);
    return emit(stream, &document, &w, err);
}

static int listen_on(void *context, struct vcm_error *err)
{
    const struct stream *stream = context;

    return stream->call->emit_idle ? stream->call->emit_idle(stream->call->emit_context, err)
                                   : VCM_OK;
}

static int parse_poll(uint64_t *ms, const char *text, struct vcm_error *err)
{
    *ms = POLL_DEFAULT_MS;
    if (!text)
        return VCM_OK;
    if (!vcm_text_parse_duration(ms, text) || *ms == 0 || *ms > POLL_MAX_MS)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "--poll takes a duration such as 5s, 1m or 1h, up to 24h, not '%s'",
                             text);
    return VCM_OK;
}

int vcm_watch_shared_run(struct vcm_op_call *call, const struct vcm_map_options *options,
                         const char *poll, vcm_watch_put_fn put_map, struct vcm_error *err)
{
    struct stream stream = {.call = call, .put_map = put_map};
    struct vcm_watch_options watch = {
        .map = *options,
        .map_first = put_map != NULL,
        .mapped = put_mapped,
        .event = put_event,
        .idle = listen_on,
        .context = &stream,
    };

    int rc = parse_poll(&watch.poll_ms, poll, err);
    if (rc != VCM_OK)
        return rc;
    if (!call->emit)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "a watch does not end by itself; run it in a terminal");
    rc = vcm_watch(call->vcm, &watch, err);
    if (rc != VCM_INTERRUPTED)
        return rc;
    /* Interruption is the normal end of a watch. */
    vcm_error_reset(err);
    call->is_over = true;
    call->exit_status = VCM_OP_INTERRUPTED;
    return VCM_OK;
}

void vcm_watch_shared_print_event(struct vcm_print *out, const struct vcm_json *event)
{
    const char *kind = vcm_json_get_text(event, "event", "");
    const char *old = vcm_json_get_text(event, "old_page_id", NULL);
    const struct vcm_json *paths = vcm_json_get(event, "paths");
    unsigned shown = 0;

    vcm_print_format(out,
                     strcmp(kind, "page_added") == 0      ? VCM_PRINT_GOOD
                     : strcmp(kind, "page_replaced") == 0 ? VCM_PRINT_WARNING
                                                          : VCM_PRINT_BAD,
                     "%-16s", kind);
    vcm_print_format(out, VCM_PRINT_PLAIN, "  %s  %.12s", vcm_json_get_text(event, "scope_id", ""),
                     vcm_json_get_text(event, "page_id", ""));
    if (old)
        vcm_print_format(out, VCM_PRINT_DIM, " for %.12s", old);
    for (const struct vcm_json *p = paths->first; p && shown < FILES_SHOWN; p = p->next, shown++)
        vcm_print_format(out, VCM_PRINT_PLAIN, "%s%s", shown > 0 ? ", " : "  ", p->text.data);
    if (paths->count > shown)
        vcm_print_format(out, VCM_PRINT_PLAIN, " and %u more", paths->count - shown);
    vcm_buf_append_byte(out->out, '\n');
}
