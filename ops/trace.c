#include <errno.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/text.h"
#include "ops/page_rows.h"

#include "base/banned.h"

#define COUNT_MAX 1000000u /* accesses that are kept for the document */

enum { OUTPUT, DURATION, COUNT };
enum { FILE_NAME, CAPACITY };

static const struct vcm_op_param record_params[] = {
    [OUTPUT] = {.name = "output",
                .type = VCM_OP_TEXT,
                .hint = VCM_OP_HINT_FILE,
                .placeholder = "FILE",
                .default_text = "standard output",
                .summary = "write the trace to this file"},
    [DURATION] = {.name = "duration",
                  .type = VCM_OP_TEXT,
                  .placeholder = "DURATION",
                  .default_text = "until interrupted",
                  .summary = "how long to record, in ms, s, m or h"},
    [COUNT] = {.name = "count",
               .type = VCM_OP_NUMBER,
               .placeholder = "N",
               .min = 1,
               .max = INT64_MAX,
               .summary = "stop after this many reads"},
};

static const struct vcm_op_param replay_params[] = {
    [FILE_NAME] = {.name = "file",
                   .type = VCM_OP_TEXT,
                   .positional = true,
                   .required = true,
                   .hint = VCM_OP_HINT_FILE,
                   .placeholder = "FILE",
                   .summary = "a trace: lines of milliseconds, page id, bytes"},
    [CAPACITY] = {.name = "capacity",
                  .type = VCM_OP_TEXT,
                  .placeholder = "SIZE",
                  .default_text = "five sizes, up to half of the size of its pages",
                  .summary = "capacity of the cache in bytes, or with KiB, MiB, GiB"},
};

static const struct vcm_result_member access_members[] = {
    {.name = "ms",
     VCM_RESULT_FIELD(struct vcm_trace_access, ms),
     .summary = "milliseconds since the recording began"},
    {.name = "page_id",
     VCM_RESULT_FIELD(struct vcm_trace_access, page_id),
     .summary = "40 hex digits"},
    {.name = "bytes",
     VCM_RESULT_FIELD(struct vcm_trace_access, bytes),
     .summary = "size of the page"},
    {0},
};

static const struct vcm_result_member outcome_members[] = {
    {.name = "policy",
     VCM_RESULT_FIELD(struct vcm_trace_outcome, policy),
     .summary = "eviction policy, or optimum"},
    {.name = "capacity",
     VCM_RESULT_FIELD(struct vcm_trace_outcome, capacity),
     .summary = "capacity of the cache"},
    {.name = "hit_ratio",
     VCM_RESULT_FIELD(struct vcm_trace_outcome, hit_ratio),
     .summary = "share of reads that found the page resident"},
    {.name = "byte_hit_ratio",
     VCM_RESULT_FIELD(struct vcm_trace_outcome, byte_hit_ratio),
     .summary = "share of bytes that were resident"},
    {0},
};

static const struct vcm_result_member record_result[] = {
    {.name = "accesses",
     VCM_RESULT_FIELD(struct vcm_trace_recorded, accesses),
     .summary = "number of reads recorded"},
    {.name = "lost",
     VCM_RESULT_FIELD(struct vcm_trace_recorded, lost),
     .summary = "number of reads lost because they came faster than they could be recorded"},
    {.name = "output",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .summary = "name of the file, or null"},
    {.name = "trace",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = access_members,
     .nullable = true,
     .summary = "the reads; null if they are in a file"},
    {0},
};

static const struct vcm_result_member replay_result[] = {
    {.name = "accesses", .type = VCM_RESULT_INTEGER, .summary = "number of reads in the trace"},
    {.name = "policies",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = outcome_members,
     .summary = "hit ratios of each policy, and of the optimum, at each capacity"},
    {0},
};

static const char *const record_examples[] = {"vcm trace record --output reads.trace",
                                              "vcm trace record --duration 10m", NULL};
static const char *const replay_examples[] = {
    "vcm trace replay reads.trace", "vcm trace replay reads.trace --capacity 64MiB", NULL};

/* Where reads are written. */
struct sink {
    FILE *file; /* or a file */
    struct vcm_jsonw *w;
    const char *path;
    struct vcm_op_call *call;
};

static int put_access(void *context, const struct vcm_trace_access *access, struct vcm_error *err)
{
    const struct sink *sink = context;

    if (!sink->file) {
        vcm_result_put(sink->w, access_members, access);
        return VCM_OK;
    }
    if (fprintf(sink->file, "%llu %s %llu\n", (unsigned long long)access->ms, access->page_id,
                (unsigned long long)access->bytes) < 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot write '%s'", sink->path);
    return VCM_OK;
}

static int stay(void *context, struct vcm_error *err)
{
    const struct sink *sink = context;

    return sink->call->emit_idle ? sink->call->emit_idle(sink->call->emit_context, err) : VCM_OK;
}

static int record(struct vcm_trace_recorded *done, struct sink *sink, uint64_t duration_ms,
                  struct vcm_error *err)
{
    struct vcm_op_call *call = sink->call;
    uint64_t count = vcm_op_number(call, COUNT, 0);

    if (!sink->file && (count == 0 || count > COUNT_MAX))
        count = COUNT_MAX;
    int rc = vcm_trace_record(done, call->vcm,
                              &(struct vcm_trace_record_options){
                                  .duration_ms = duration_ms,
                                  .count = count,
                                  .visit = put_access,
                                  .idle = stay,
                                  .context = sink,
                              },
                              err);
    if (rc == VCM_INTERRUPTED) {
        /* Interruption is the normal end of a recording. */
        vcm_error_reset(err);
        call->exit_status = VCM_OP_INTERRUPTED;
        rc = VCM_OK;
    }
    return rc;
}

static int run_record(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_buf list = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);
    struct vcm_trace_recorded done = {0, 0};
    struct vcm_jsonw w;
    struct sink sink = {.w = &w, .path = vcm_op_text(call, OUTPUT), .call = call};
    uint64_t duration_ms = 0;

    int rc = VCM_OK;
    if (vcm_op_is_set(call, DURATION))
        rc = vcm_page_rows_duration(&duration_ms, "--duration", vcm_op_text(call, DURATION), err);
    if (rc == VCM_OK && sink.path && !(sink.file = fopen(sink.path, "we")))
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot write '%s'", sink.path);
    vcm_jsonw_init(&w, &list);
    vcm_jsonw_begin_array(&w);
    if (rc == VCM_OK)
        rc = record(&done, &sink, duration_ms, err);
    vcm_jsonw_end_array(&w);
    if (sink.file && fclose(sink.file) != 0 && rc == VCM_OK)
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot write '%s'", sink.path);
    if (rc == VCM_OK)
        rc = vcm_jsonw_finish(&w, err);
    if (rc == VCM_OK) {
        vcm_jsonw_begin_object(call->out);
        vcm_result_put_members(call->out, record_result, &done);
        vcm_jsonw_member_string(call->out, "output", sink.path);
        vcm_jsonw_key(call->out, "trace");
        if (sink.path)
            vcm_jsonw_null(call->out);
        else
            vcm_jsonw_raw(call->out, vcm_buf_slice(&list));
        vcm_jsonw_end_object(call->out);
    }
    vcm_buf_release(&list);
    return rc;
}

/* Prints the trace, or the name of its file. */
static void print_record(struct vcm_print *out, const struct vcm_json *document,
                         const struct vcm_op_call *call)
{
    const char *path = vcm_json_get_text(document, "output", NULL);
    int64_t lost = vcm_json_get_int(document, "lost", 0);
    char number[VCM_PRINT_NUMBER_BYTES];

    if (path && !call->quiet)
        vcm_print_format(
            out, VCM_PRINT_PLAIN, "%s reads recorded in %s\n",
            vcm_print_count(number, (uint64_t)vcm_json_get_int(document, "accesses", 0)), path);
    if (lost > 0)
        vcm_print_format(out, VCM_PRINT_WARNING, "# %s reads were lost\n",
                         vcm_print_count(number, (uint64_t)lost));
    for (const struct vcm_json *a = path ? NULL : vcm_json_get(document, "trace")->first; a;
         a = a->next)
        vcm_print_format(
            out, VCM_PRINT_PLAIN, "%lld %s %lld\n", (long long)vcm_json_get_int(a, "ms", 0),
            vcm_json_get_text(a, "page_id", ""), (long long)vcm_json_get_int(a, "bytes", 0));
}

static int put_outcome(void *context, const struct vcm_trace_outcome *outcome,
                       struct vcm_error *err)
{
    struct vcm_jsonw *w = context;

    (void)err;
    vcm_result_put(w, outcome_members, outcome);
    return VCM_OK;
}

static int run_replay(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_buf list = VCM_BUF_INIT(1 * VCM_MIB);
    const char *size = vcm_op_text(call, CAPACITY);
    struct vcm_jsonw w;
    uint64_t capacity = 0, accesses = 0;

    if (size && (!vcm_text_parse_size(&capacity, size) || capacity == 0))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "--capacity takes a size such as 64MiB, not '%s'", size);
    vcm_jsonw_init(&w, &list);
    vcm_jsonw_begin_array(&w);
    int rc = vcm_trace_replay_file(&accesses, call->vcm, vcm_op_text(call, FILE_NAME), capacity,
                                   put_outcome, &w, err);
    vcm_jsonw_end_array(&w);
    if (rc == VCM_OK)
        rc = vcm_jsonw_finish(&w, err);
    if (rc == VCM_OK) {
        vcm_jsonw_begin_object(call->out);
        vcm_jsonw_member_uint(call->out, "accesses", accesses);
        vcm_jsonw_key(call->out, "policies");
        vcm_jsonw_raw(call->out, vcm_buf_slice(&list));
        vcm_jsonw_end_object(call->out);
    }
    vcm_buf_release(&list);
    return rc;
}

static void ratio_cell(struct vcm_print_table *table, const struct vcm_json *row, const char *key)
{
    const struct vcm_json *ratio = vcm_json_get(row, key);
    char text[32];

    snprintf(text, sizeof text, "%.2f %%", 100 * ratio->number);
    vcm_print_table_cell(table, VCM_PRINT_PLAIN, text);
}

static void print_replay(struct vcm_print *out, const struct vcm_json *document,
                         const struct vcm_op_call *call)
{
    static const char *const headings[] = {"POLICY", "CAPACITY", "HITS", "BYTES"};
    static const bool right[] = {false, true, true, true};
    char number[VCM_PRINT_NUMBER_BYTES];
    struct vcm_print_table table;

    (void)call;
    vcm_print_format(out, VCM_PRINT_PLAIN, "%s reads\n",
                     vcm_print_count(number, (uint64_t)vcm_json_get_int(document, "accesses", 0)));
    vcm_print_table_begin(&table, out, headings, right, VCM_OP_COUNT(headings));
    for (const struct vcm_json *p = vcm_json_get(document, "policies")->first; p; p = p->next) {
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(p, "policy", ""));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN,
                             vcm_print_bytes(number, (uint64_t)vcm_json_get_int(p, "capacity", 0)));
        ratio_cell(&table, p, "hit_ratio");
        ratio_cell(&table, p, "byte_hit_ratio");
    }
    vcm_print_table_end(&table);
}

const struct vcm_op vcm_op_trace_record = {
    .name = "trace record",
    .summary = "record which pages are read",
    .description = "Records every read of a page by any process that uses this home, until it is "
                   "interrupted (exit status 130) or a limit is reached. A trace has one line per "
                   "read: milliseconds since the beginning, page id, bytes. Without --output at "
                   "most a million reads are kept, and printed at the end.",
    .examples = record_examples,
    .params = record_params,
    .param_count = VCM_OP_COUNT(record_params),
    .result = record_result,
    .run = run_record,
    .print = print_record,
};

const struct vcm_op vcm_op_trace_replay = {
    .name = "trace replay",
    .summary = "replay a trace against every eviction policy",
    .description =
        "Simulates the store under each eviction policy, and under the optimal one that knows the "
        "future, and prints the share of reads and of bytes that found the page resident.",
    .examples = replay_examples,
    .params = replay_params,
    .param_count = VCM_OP_COUNT(replay_params),
    .result = replay_result,
    .run = run_replay,
    .print = print_replay,
};
