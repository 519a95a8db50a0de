#include "base/defaults.h"
#include "base/text.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { CLONES_UNUSED };

static const struct vcm_op_param params[] = {
    [CLONES_UNUSED] =
        {.name = "clones-unused",
         .type = VCM_OP_TEXT,
         .placeholder = "DURATION",
         .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_UNUSED_HOURS) "h",
         .summary = "drop unused clones that were not fetched or read for this long, at least 1h"},
};

static const struct vcm_result_member pages_members[] = {
    {.name = "pages_dropped",
     VCM_RESULT_FIELD(struct vcm_gc_counts, pages_dropped),
     .summary = "pages that no scope referred to"},
    {.name = "bytes_before",
     VCM_RESULT_FIELD(struct vcm_gc_counts, bytes_before),
     .summary = "size of the store file before"},
    {.name = "bytes_after",
     VCM_RESULT_FIELD(struct vcm_gc_counts, bytes_after),
     .summary = "size of the store file after"},
    {0},
};

static const struct vcm_result_member clones_members[] = {
    {.name = "clones_dropped",
     VCM_RESULT_FIELD(struct vcm_gc_clone_counts, dropped),
     .summary = "clones of URLs that nothing referred to"},
    {.name = "clones_kept",
     VCM_RESULT_FIELD(struct vcm_gc_clone_counts, kept),
     .summary = "clones that remain"},
    {.name = "clone_bytes",
     VCM_RESULT_FIELD(struct vcm_gc_clone_counts, bytes),
     .summary = "size of the dropped clones"},
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
    .summary = "remove what no scope refers to and free disk space",
    .description =
        "Checks the store as 'vcm verify' does; a damaged one is not copied. Removes what killed "
        "processes left behind, pages that no scope holds, and unused "
        "compression dictionaries. Then it compacts the file: a copy without free space replaces "
        "it, which temporarily needs disk space for both. Other processes can read meanwhile. "
        "Clones of URLs that no scope uses are removed when they were not fetched or read for the "
        "time of --clones-unused; a clone that is needed later is fetched again.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_STORE,
            .title = "Collect garbage",
            .summary = "Frees the space of what nothing refers to any more, clones that are not "
                       "used among it.",
            .effects = VCM_OP_WRITES | VCM_OP_DESTROYS | VCM_OP_IDEMPOTENT,
        },
};
