#include "ops/page_rows.h"

#include <time.h>

#include "base/limits.h"
#include "base/text.h"
#include "ops/shared.h"

#include "base/banned.h"

const struct vcm_result_member vcm_page_rows_state[] = {
    {.name = "page_id",
     VCM_RESULT_FIELD(struct vcm_page_outcome, page_id),
     .summary = "40 hex digits"},
    {.name = "state",
     VCM_RESULT_FIELD(struct vcm_page_outcome, state),
     .choices = vcm_shared_states,
     .summary = "state after the call"},
    {0},
};

const struct vcm_result_member vcm_residency_page[] = {
    {VCM_RESULT_SPLICE_GROUP(vcm_page_rows_state)},
    {.name = "locked_until",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_page_outcome, locked_until),
     .summary = "end of the lock in Unix seconds, or null"},
    {0},
};

int vcm_page_rows_put(void *context, const struct vcm_page_outcome *page, struct vcm_error *err)
{
    struct vcm_page_rows *rows = context;

    (void)err;
    if (page->error || page->stays)
        rows->bad++;
    else
        rows->good++;
    vcm_result_put(rows->w, rows->members, page);
    return VCM_OK;
}

int vcm_page_rows_status(const struct vcm_page_rows *rows)
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

void vcm_page_rows_print(struct vcm_print *out, const struct vcm_json *document,
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

int vcm_page_rows_duration(uint64_t *ms, const char *option, const char *text,
                           struct vcm_error *err)
{
    if (vcm_text_parse_duration(ms, text) && *ms > 0 && *ms <= VCM_LIMIT_LOCK_TTL_MS)
        return VCM_OK;
    *ms = 0;
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "%s takes a duration such as 500ms, 30s, 10m or 2h, of at most %lluh (ten "
                         "years), not '%s'",
                         option, (unsigned long long)(VCM_LIMIT_LOCK_TTL_MS / 3600000), text);
}
