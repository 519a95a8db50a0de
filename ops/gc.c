#include "base/defaults.h"
#include "base/text.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { CLONES_UNUSED };

static const struct vcm_op_param params[] = {
    [CLONES_UNUSED] = {.name = "clones-unused",
                       .type = VCM_OP_TEXT,
                       .placeholder = "DURATION",
                       .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_UNUSED_HOURS) "h",
                       .summary = "drop clones that nothing refers to and that were not fetched or "
                                  "read for so long; 1h at the least"},
};

static const struct vcm_result_member pages_members[] = {
    {.name = "pages_dropped",
     VCM_RESULT_FIELD(struct vcm_gc_counts, pages_dropped),
     .summary = "pages that no scope referred to any more"},
    {.name = "bytes_before",
     VCM_RESULT_FIELD(struct vcm_gc_counts, bytes_before),
     .summary = "size of the file before"},
    {.name = "bytes_after",
     VCM_RESULT_FIELD(struct vcm_gc_counts, bytes_after),
     .summary = "size of the file now"},
    {0},
};

static const struct vcm_result_member clones_members[] = {
    {.name = "clones_dropped",
     VCM_RESULT_FIELD(struct vcm_gc_clone_counts, dropped),
     .summary = "clones of URLs that nothing referred to any more"},
    {.name = "clones_kept",
     VCM_RESULT_FIELD(struct vcm_gc_clone_counts, kept),
     .summary = "clones that are still there"},
    {.name = "clone_bytes",
     VCM_RESULT_FIELD(struct vcm_gc_clone_counts, bytes),
     .summary = "size of those that were dropped"},
    {0},
};

struct counts {
    struct vcm_gc_counts pages;
    struct vcm_gc_clone_counts clones;
};

static const struct vcm_result_member result[] = {
    {VCM_RESULT_SPLICE(struct counts, pages, pages_members)},
    {VCM_RESULT_SPLICE(struct counts, clones, clones_members)},
    {0},
};

static const char *const examples[] = {"vcm gc", "vcm gc --clones-unused 24h", NULL};

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const char *text = vcm_op_text(call, CLONES_UNUSED);
    struct counts done = {0};
    uint64_t unused_ms = 0;

    if (text && (!vcm_text_parse_duration(&unused_ms, text) || unused_ms == 0))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "--clones-unused takes a duration such as 24h, not '%s'", text);
    int rc = vcm_gc_clones(&done.clones, call->vcm, unused_ms, err);
    if (rc == VCM_OK)
        rc = vcm_gc(&done.pages, call->vcm, err);
    vcm_result_put(call->out, result, &done);
    return rc;
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    char pages[VCM_PRINT_NUMBER_BYTES], before[VCM_PRINT_NUMBER_BYTES],
        after[VCM_PRINT_NUMBER_BYTES];

    if (call->quiet)
        return;
    vcm_print_format(
        out, VCM_PRINT_PLAIN, "%s pages dropped; the file had %s and has %s\n",
        vcm_print_count(pages, (uint64_t)vcm_json_get_int(document, "pages_dropped", 0)),
        vcm_print_bytes(before, (uint64_t)vcm_json_get_int(document, "bytes_before", 0)),
        vcm_print_bytes(after, (uint64_t)vcm_json_get_int(document, "bytes_after", 0)));
    int64_t dropped = vcm_json_get_int(document, "clones_dropped", 0);
    if (dropped > 0)
        vcm_print_format(
            out, VCM_PRINT_PLAIN, "%lld unused %s of %s dropped, %lld kept\n", (long long)dropped,
            dropped == 1 ? "clone" : "clones",
            vcm_print_bytes(before, (uint64_t)vcm_json_get_int(document, "clone_bytes", 0)),
            (long long)vcm_json_get_int(document, "clones_kept", 0));
}

const struct vcm_op vcm_op_gc = {
    .name = "gc",
    .summary = "drop what no scope refers to and give space back",
    .description =
        "Drops what processes that died have left, pages that nobody holds and dictionaries that "
        "nothing needs. Then the file is copied without its holes, and the copy takes its place: "
        "that needs room on the disk for both. Others go on reading meanwhile. Clones of URLs that "
        "no scope comes from are dropped when they were neither fetched nor read for so long; one "
        "that is wanted again is fetched again.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
};
