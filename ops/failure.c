#include "ops/failure.h"

#include "base/banned.h"

static void put_code(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_error *err = from;

    vcm_jsonw_string(w, vcm_error_code_name(err->code));
}

static void put_message(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_error *err = from;
    struct vcm_buf message = VCM_BUF_INIT(4096);

    if (err->context[0] != '\0')
        vcm_buf_append_format(&message, "%s: ", err->context);
    vcm_buf_append_string(&message, err->message);
    vcm_jsonw_string(w, vcm_buf_text(&message));
    vcm_buf_release(&message);
}

static void put_details(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_error *err = from;
    struct vcm_buf details = VCM_BUF_INIT(4096);

    vcm_buf_append_format(&details, "{%s}", err->details);
    vcm_jsonw_raw(w, vcm_buf_slice(&details));
    vcm_buf_release(&details);
}

static void put_retryable(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_error *err = from;

    vcm_jsonw_bool(w, vcm_error_retryable(err->code));
}

static const struct vcm_result_member error_members[] = {
    {.name = "code",
     .type = VCM_RESULT_TEXT,
     .choices = VCM_ERROR_CODES,
     .put = put_code,
     .summary = "kind of failure"},
    {.name = "message",
     .type = VCM_RESULT_TEXT,
     .put = put_message,
     .summary = "one line: what failed, where, and what to do"},
    {.name = "details",
     .type = VCM_RESULT_OBJECT,
     .is_open = true,
     .put = put_details,
     .summary = "for programs, such as the candidates of an ambiguous name; may be empty"},
    {.name = "retryable",
     .type = VCM_RESULT_BOOL,
     .put = put_retryable,
     .summary = "whether the same call may succeed later"},
    {0},
};

const struct vcm_result_member vcm_failure_result[] = {
    {.name = "error", VCM_RESULT_GROUP(error_members), .summary = "why the call failed"},
    {0},
};

const struct vcm_result_member vcm_failure_cause[] = {
    {.name = "code",
     .type = VCM_RESULT_TEXT,
     .choices = VCM_ERROR_CODES,
     .put = put_code,
     .summary = "kind of failure"},
    {.name = "message",
     VCM_RESULT_FIELD(struct vcm_error, message),
     .summary = "one line: what failed"},
    {0},
};

void vcm_failure_put(struct vcm_jsonw *w, const struct vcm_error *err)
{
    vcm_result_put(w, vcm_failure_result, err);
}
