#include "ops/residency.h"

#include <time.h>

#include "base/text.h"

#include "base/banned.h"

#define DURATION_MAX_MS (UINT64_C(10) * 366 * 24 * 3600 * 1000)

static void put_error(struct vcm_jsonw *w, const struct vcm_error *error)
{
    vcm_jsonw_key(w, "error");
    if (!error) {
        vcm_jsonw_null(w);
        return;
    }
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "code", vcm_error_code_name(error->code));
    vcm_jsonw_member_string(w, "message", error->message);
    vcm_jsonw_end_object(w);
}

int vcm_residency_put_row(void *context, const struct vcm_page_outcome *page, struct vcm_error *err)
{
    struct vcm_residency_rows *rows = context;
    struct vcm_jsonw *w = rows->w;

    (void)err;
    if (page->error || page->stays)
        rows->bad++;
    else
        rows->good++;
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "page_id", page->page_id);
    vcm_jsonw_member_string(w, "state", page->state);
    if (rows->with_skip) {
        vcm_jsonw_member_string(w, "skipped", page->stays);
    } else if (page->locked_until > 0) {
        vcm_jsonw_member_uint(w, "locked_until", page->locked_until);
    } else {
        vcm_jsonw_member_null(w, "locked_until");
    }
    if (rows->with_fault) {
        vcm_jsonw_member_string(w, "fault", page->fault);
        put_error(w, page->error);
    }
    vcm_jsonw_end_object(w);
    return VCM_OK;
}

int vcm_residency_status(const struct vcm_residency_rows *rows)
{
    if (rows->bad == 0)
        return 0;
    return rows->good > 0 ? 3 : 1;
}

static void print_row(struct vcm_print *out, const struct vcm_json *page)
{
    const char *fault = vcm_json_get_text(page, "fault", NULL);
    const char *skipped = vcm_json_get_text(page, "skipped", NULL);
    const struct vcm_json *error = vcm_json_get(page, "error");
    int64_t until = vcm_json_get_int(page, "locked_until", 0);

    vcm_print_format(out, VCM_PRINT_PLAIN, "%.12s  %s", vcm_json_get_text(page, "page_id", ""),
                     vcm_json_get_text(page, "state", ""));
    if (fault)
        vcm_print_format(out, VCM_PRINT_PLAIN, ", %s%s", fault,
                         fault[0] == 'm' ? " fault" : ""); /* minor, major */
    if (until > 0) {
        char text[32];
        time_t at = (time_t)until;
        struct tm parts;
        if (localtime_r(&at, &parts) &&
            strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts) > 0)
            vcm_print_format(out, VCM_PRINT_PLAIN, ", locked until %s", text);
    }
    if (skipped)
        vcm_print_format(out, VCM_PRINT_WARNING, ", skipped: it is %s", skipped);
    if (error && error->kind == VCM_JSON_OBJECT)
        vcm_print_format(out, VCM_PRINT_BAD, "  %s", vcm_json_get_text(error, "message", ""));
    vcm_buf_append_byte(out->out, '\n');
}

void vcm_residency_print_rows(struct vcm_print *out, const struct vcm_json *document,
                              const struct vcm_op_call *call)
{
    for (const struct vcm_json *p = vcm_json_get(document, "pages")->first; p; p = p->next) {
        const struct vcm_json *error = vcm_json_get(p, "error");
        bool is_bad =
            vcm_json_get_text(p, "skipped", NULL) || (error && error->kind == VCM_JSON_OBJECT);
        if (!call->quiet || is_bad)
            print_row(out, p);
    }
}

int vcm_residency_duration(uint64_t *ms, const char *option, const char *text,
                           struct vcm_error *err)
{
    if (vcm_text_parse_duration(ms, text) && *ms > 0 && *ms <= DURATION_MAX_MS)
        return VCM_OK;
    *ms = 0;
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "%s takes a duration such as 500ms, 30s, 10m or 2h, not '%s'", option,
                         text);
}
