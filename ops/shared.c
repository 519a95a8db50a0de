#include "ops/shared.h"

#include <string.h>

#include "base/limits.h"
#include "base/outcome.h"
#include "base/text.h"

#include "base/banned.h"

int vcm_shared_timeout(unsigned *ms, const char *text, struct vcm_error *err)
{
    uint64_t duration = 0;

    *ms = 0;
    if (!text)
        return VCM_OK;
    if (!vcm_text_parse_duration(&duration, text) || duration == 0 || duration > INT32_MAX)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "--timeout takes a duration such as 500ms, 30s or 10m, not '%s'",
                             text);
    *ms = (unsigned)duration;
    return VCM_OK;
}

const struct vcm_result_member vcm_shared_coverage[] = {
    {.name = "tracked",
     VCM_RESULT_FIELD(struct vcm_coverage, tracked),
     .summary = "entries of the tree; the sum of the others"},
#define COUNT(NAME, outcome, number, retried, meaning, remedy)                                     \
    {.name = #outcome, VCM_RESULT_FIELD(struct vcm_coverage, outcome), .summary = (meaning)},
    VCM_OUTCOME_LIST(COUNT)
#undef COUNT
        {0},
};

const char *const vcm_shared_states[] = {"resident", "compressed", "evicted", NULL};

static const char *const kb_statuses[] = {"ingested", "skipped_already_present", "failed",
                                          "removed", NULL};

const struct vcm_result_member vcm_shared_kb_file[] = {
    {.name = "path",
     VCM_RESULT_FIELD(struct vcm_kb_file, path),
     .summary = "relative to the root of its repository, else absolute"},
    {.name = "status",
     VCM_RESULT_FIELD(struct vcm_kb_file, status),
     .choices = kb_statuses,
     .summary = "its outcome"},
    {.name = "data_type",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_kb_file, data_type),
     .summary = "its profile, else its format; null if that is not known"},
    {.name = "chunks", VCM_RESULT_FIELD(struct vcm_kb_file, chunks), .summary = "number of chunks"},
    {.name = "message",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_kb_file, message),
     .summary = "why it failed, or null"},
    {0},
};

void vcm_shared_print_coverage(struct vcm_print *out, const struct vcm_json *coverage)
{
    char number[VCM_PRINT_NUMBER_BYTES];
    bool first = true;

    for (const struct vcm_json *member = coverage ? coverage->first : NULL; member;
         member = member->next) {
        bool is_sum = strcmp(member->key.data, "tracked") == 0;
        if (is_sum || (member->integer == 0 && strcmp(member->key.data, "paged") != 0))
            continue;
        vcm_print_format(out, VCM_PRINT_PLAIN, "%s%s %s", first ? "" : ", ",
                         vcm_print_count(number, (uint64_t)member->integer), member->key.data);
        first = false;
    }
}

void vcm_shared_count_cell(struct vcm_print_table *table, const struct vcm_json *object,
                           const char *key)
{
    char number[VCM_PRINT_NUMBER_BYTES];
    vcm_print_table_cell(table, VCM_PRINT_PLAIN,
                         vcm_print_count(number, (uint64_t)vcm_json_get_int(object, key, 0)));
}

struct vcm_jsonw *vcm_shared_list_begin(struct vcm_shared_list *list)
{
    vcm_buf_init(&list->text, VCM_LIMIT_JSON_BYTES);
    vcm_jsonw_init(&list->writer, &list->text);
    vcm_jsonw_begin_array(&list->writer);
    return &list->writer;
}

int vcm_shared_list_end(struct vcm_shared_list *list, struct vcm_jsonw *out, const char *key,
                        int rc, struct vcm_error *err)
{
    vcm_jsonw_end_array(&list->writer);
    if (rc == VCM_OK)
        rc = vcm_jsonw_finish(&list->writer, err);
    vcm_jsonw_key(out, key);
    vcm_jsonw_raw(out, rc == VCM_OK ? vcm_buf_slice(&list->text) : vcm_slice_of_string("[]"));
    vcm_buf_release(&list->text);
    return rc;
}

enum vcm_print_style vcm_shared_status_style(const char *status)
{
    if (strcmp(status, "error") == 0)
        return VCM_PRINT_BAD;
    if (strcmp(status, "partial") == 0 || strcmp(status, "warning") == 0)
        return VCM_PRINT_WARNING;
    return VCM_PRINT_GOOD;
}

int vcm_shared_put_document(void *context, const char *json, size_t len, struct vcm_error *err)
{
    struct vcm_op_call *call = context;

    (void)err;
    vcm_jsonw_raw(call->out, vcm_slice_of(json, len));
    return VCM_OK;
}

static const char *const gaps[] = {"binary",  "too_large", "too_costly", "too_many_symbols",
                                   "missing", "no_ctags",  "damaged",    NULL};

const struct vcm_result_member vcm_shared_gap_members[] = {
    {.name = "file_path", .type = VCM_RESULT_TEXT, .summary = "path, relative to the root"},
    {.name = "reason",
     .type = VCM_RESULT_TEXT,
     .choices = gaps,
     .summary = "why its symbols are incomplete"},
    {0},
};

void vcm_shared_print_incomplete(struct vcm_print *out, const struct vcm_json *incomplete)
{
    unsigned long without_ctags = 0;

    for (const struct vcm_json *f = incomplete->first; f; f = f->next) {
        const char *reason = vcm_json_get_text(f, "reason", "");
        if (strcmp(reason, "no_ctags") == 0)
            without_ctags++;
        else
            vcm_print_format(out, VCM_PRINT_WARNING, "%s: not read whole: %s\n",
                             vcm_json_get_text(f, "file_path", ""), reason);
    }
    if (without_ctags > 0)
        vcm_print_format(out, VCM_PRINT_WARNING,
                         "%lu %s not read: ctags did not answer; 'vcm doctor' shows why\n",
                         without_ctags, without_ctags == 1 ? "file was" : "files were");
}
