#include "ops/op.h"

#include "base/banned.h"

static const struct vcm_op_key result[] = {
    {"pages_dropped", "pages that no scope referred to any more"},
    {"bytes_before", "size of the file before"},
    {"bytes_after", "size of the file now"},
    {NULL, NULL},
};

static const char *const examples[] = {"vcm gc", NULL};

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_gc_counts done;

    int rc = vcm_gc(&done, call->vcm, err);
    vcm_jsonw_begin_object(call->out);
    vcm_jsonw_member_uint(call->out, "pages_dropped", done.pages_dropped);
    vcm_jsonw_member_uint(call->out, "bytes_before", done.bytes_before);
    vcm_jsonw_member_uint(call->out, "bytes_after", done.bytes_after);
    vcm_jsonw_end_object(call->out);
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
}

const struct vcm_op vcm_op_gc = {
    .name = "gc",
    .summary = "drop what no scope refers to and give space back",
    .description =
        "Drops what processes that died have left, pages that nobody holds and dictionaries that "
        "nothing needs. Then the file is copied without its holes, and the copy takes its place: "
        "that needs room on the disk for both. Others go on reading meanwhile.",
    .examples = examples,
    .result = result,
    .run = run,
    .print = print,
};
