#include <stdlib.h>
#include <string.h>

#include "base/defaults.h"
#include "base/limits.h"
#include "ops/page_rows.h"
#include "ops/stat.h"

#include "base/banned.h"

#define BAR_CELLS 30u

enum { INTERVAL, COUNT };

static const struct vcm_op_param params[] = {
    [INTERVAL] = {.name = "interval",
                  .type = VCM_OP_TEXT,
                  .placeholder = "DURATION",
                  .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_TOP_SECONDS) "s",
                  .summary = "time between samples, in ms, s, m or h"},
    [COUNT] = {.name = "count",
               .type = VCM_OP_NUMBER,
               .placeholder = "N",
               .default_text = "until interrupted",
               .min = 1,
               .max = INT64_MAX,
               .summary = "stop after this many samples"},
};

static const struct vcm_result_member scope_members[] = {
    {.name = "scope_id", VCM_RESULT_FIELD(struct vcm_top_scope, scope_id), .summary = "its id"},
    {.name = "pages",
     VCM_RESULT_FIELD(struct vcm_top_scope, pages),
     .summary = "number of pages of the scope"},
    {.name = "bytes",
     VCM_RESULT_FIELD(struct vcm_top_scope, bytes),
     .summary = "size of its pages"},
    {.name = "tokens",
     VCM_RESULT_FIELD(struct vcm_top_scope, tokens),
     .summary = "tokens of its pages"},
    {0},
};

static void put_rate(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_top_sample *sample = from;

    if (sample->has_rate)
        vcm_jsonw_number(w, sample->faults_per_second);
    else
        vcm_jsonw_null(w);
}

static const struct vcm_result_member result[] = {
    {VCM_RESULT_SPLICE(struct vcm_top_sample, stat, vcm_stat_result)},
    {.name = "faults_per_second",
     .type = VCM_RESULT_NUMBER,
     .nullable = true,
     .put = put_rate,
     .summary = "minor and major faults since the previous sample; null in the first"},
    {.name = "largest",
     VCM_RESULT_STRUCTS(struct vcm_top_sample, scopes, scope_count, scope_members),
     .summary = "the largest scopes, largest first"},
    {0},
};

static const char *const examples[] = {"vcm top", "vcm top --interval 10s --json", NULL};

static int show(void *context, const struct vcm_top_sample *sample, struct vcm_error *err)
{
    struct vcm_op_call *call = context;
    struct vcm_buf document = VCM_BUF_INIT(1 * VCM_MIB);
    struct vcm_jsonw w;

    vcm_jsonw_init(&w, &document);
    vcm_result_put(&w, result, sample);
    int rc = vcm_jsonw_finish(&w, err);
    if (rc == VCM_OK)
        rc = call->emit(call->emit_context, vcm_buf_slice(&document), err);
    vcm_buf_release(&document);
    return rc;
}

static int stay(void *context, struct vcm_error *err)
{
    const struct vcm_op_call *call = context;

    return call->emit_idle ? call->emit_idle(call->emit_context, err) : VCM_OK;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_top_options options = {
        .interval_ms = VCM_DEFAULT_TOP_SECONDS * UINT64_C(1000),
        .count = vcm_op_number(call, COUNT, 0),
        .visit = show,
        .idle = stay,
        .context = call,
    };

    int rc = VCM_OK;
    if (vcm_op_is_set(call, INTERVAL))
        rc = vcm_page_rows_duration(&options.interval_ms, "--interval", vcm_op_text(call, INTERVAL),
                                    err);
    if (rc != VCM_OK)
        return rc;
    if (!call->emit || (!call->is_watched && options.count == 0))
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "top does not end by itself; run it in a terminal, or with --json or "
                             "--count N");
    rc = vcm_top(call->vcm, &options, err);
    if (rc == VCM_INTERRUPTED) {
        vcm_error_reset(err);
        call->exit_status = VCM_OP_INTERRUPTED;
        rc = VCM_OK;
    }
    call->is_over = rc == VCM_OK;
    return rc;
}

static uint64_t count_of(const struct vcm_json *object, const char *key)
{
    return (uint64_t)vcm_json_get_int(object, key, 0);
}

static void append_ratio(struct vcm_buf *text, const struct vcm_json *document)
{
    const struct vcm_json *ratio = vcm_json_get(document, "hit_ratio");

    if (ratio->kind == VCM_JSON_NULL)
        vcm_buf_append_string(text, "-");
    else
        vcm_buf_append_format(text, "%.1f %%", 100 * ratio->number);
}

static void append_rate(struct vcm_buf *text, const struct vcm_json *document)
{
    const struct vcm_json *rate = vcm_json_get(document, "faults_per_second");

    if (rate->kind == VCM_JSON_NULL)
        vcm_buf_append_string(text, "-");
    else
        vcm_buf_append_format(text, "%.1f", rate->number);
}

/* Prints a line per sample, for a pipe or a file. */
static void print_line(struct vcm_print *out, const struct vcm_json *document)
{
    const struct vcm_json *pages = vcm_json_get(document, "pages");
    char number[VCM_PRINT_NUMBER_BYTES];
    struct vcm_buf text = VCM_BUF_INIT(1024);

    vcm_buf_append_format(
        &text, "resident %llu (%s), compressed %llu, evicted %llu, hits ",
        (unsigned long long)count_of(pages, "resident"),
        vcm_print_bytes(number, count_of(vcm_json_get(document, "bytes"), "resident")),
        (unsigned long long)count_of(pages, "compressed"),
        (unsigned long long)count_of(pages, "evicted"));
    append_ratio(&text, document);
    vcm_buf_append_string(&text, ", faults/s ");
    append_rate(&text, document);
    vcm_print_format(out, VCM_PRINT_PLAIN, "%s\n", vcm_buf_text(&text));
    vcm_buf_release(&text);
}

static void print_field(struct vcm_print *out, const char *label, const char *value)
{
    vcm_print_format(out, VCM_PRINT_BOLD, "%-11s", label);
    vcm_print_format(out, VCM_PRINT_PLAIN, " %s\n", value);
}

static void print_bar(struct vcm_print *out, uint64_t used, uint64_t whole)
{
    char bar[BAR_CELLS + 1], a[VCM_PRINT_NUMBER_BYTES], b[VCM_PRINT_NUMBER_BYTES];
    double part = whole > 0 ? (double)used / (double)whole : 0;
    unsigned filled = part >= 1 ? BAR_CELLS : (unsigned)(part * BAR_CELLS);

    memset(bar, ' ', BAR_CELLS);
    memset(bar, '#', filled);
    bar[BAR_CELLS] = '\0';
    vcm_print_format(out, VCM_PRINT_BOLD, "%-11s", "memory");
    vcm_print_format(out, VCM_PRINT_PLAIN, " [");
    vcm_print_format(out, part > 0.9 ? VCM_PRINT_WARNING : VCM_PRINT_GOOD, "%s", bar);
    vcm_print_format(out, VCM_PRINT_PLAIN, "] %s of %s\n", vcm_print_bytes(a, used),
                     vcm_print_bytes(b, whole));
}

static void print_largest(struct vcm_print *out, const struct vcm_json *scopes)
{
    static const char *const headings[] = {"SCOPE", "PAGES", "TOKENS", "BYTES"};
    static const bool right[] = {false, true, true, true};
    char number[VCM_PRINT_NUMBER_BYTES];
    struct vcm_print_table table;

    if (!scopes->first)
        return;
    vcm_print_text(out, VCM_PRINT_PLAIN, "\n");
    vcm_print_table_begin(&table, out, headings, right, VCM_OP_COUNT(headings));
    for (const struct vcm_json *s = scopes->first; s; s = s->next) {
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(s, "scope_id", ""));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN,
                             vcm_print_count(number, count_of(s, "pages")));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN,
                             vcm_print_count(number, count_of(s, "tokens")));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN,
                             vcm_print_bytes(number, count_of(s, "bytes")));
    }
    vcm_print_table_end(&table);
}

static void print_screen(struct vcm_print *out, const struct vcm_json *document)
{
    const struct vcm_json *pages = vcm_json_get(document, "pages");
    const struct vcm_json *bytes = vcm_json_get(document, "bytes");
    char number[VCM_PRINT_NUMBER_BYTES];
    struct vcm_buf text = VCM_BUF_INIT(1024);

    print_field(out, "home", vcm_json_get_text(document, "home", ""));
    print_bar(out, count_of(bytes, "resident"), count_of(bytes, "capacity"));
    print_field(out, "resident", vcm_print_count(number, count_of(pages, "resident")));
    vcm_buf_append_string(&text, vcm_print_count(number, count_of(pages, "compressed")));
    vcm_buf_append_format(&text, " (%s)", vcm_print_bytes(number, count_of(bytes, "compressed")));
    print_field(out, "compressed", vcm_buf_text(&text));
    print_field(out, "evicted", vcm_print_count(number, count_of(pages, "evicted")));
    vcm_buf_clear(&text);
    append_ratio(&text, document);
    print_field(out, "hit ratio", vcm_buf_text(&text));
    vcm_buf_clear(&text);
    append_rate(&text, document);
    print_field(out, "faults/s", vcm_buf_text(&text));
    print_field(out, "policy", vcm_json_get_text(document, "policy", ""));
    print_largest(out, vcm_json_get(document, "largest"));
    vcm_buf_release(&text);
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    const char *terminal = getenv("TERM");

    (void)call;
    if (!out->terminal || !terminal || strcmp(terminal, "dumb") == 0) {
        print_line(out, document);
        return;
    }
    vcm_buf_append_string(out->out, "\033[H\033[2J"); /* clear the screen */
    print_screen(out, document);
}

const struct vcm_op vcm_op_top = {
    .name = "top",
    .summary = "watch the activity of the store",
    .description =
        "Shows at intervals what 'vcm stat' counts, the rate of faults, and the largest "
        "scopes. On a terminal it redraws the screen: q quits, space pauses and goes on, ? "
        "shows the keys. With --json it prints an object per sample. Without a terminal it "
        "refuses, unless --count is given: it then prints a line per sample. Ends when it is "
        "interrupted (exit status 130), after --count samples, or when its reader is gone.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .is_stream = true,
    .is_screen = true,
    .run = run,
    .print = print,
};
