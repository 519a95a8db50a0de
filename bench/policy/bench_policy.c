/*
 * bench_policy.c - replays traces against every policy and the optimum, for bench/policy/bench.py.
 *
 *     bench_policy <trace>...
 *
 * Prints one JSON object a trace. The cache sizes are parts of the bytes of all pages in the trace.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/path.h"
#include "vcm/residency/trace.h"

#include "base/banned.h"

/* Chosen before anything was measured. */
static const unsigned sizes_percent[] = {1, 2, 5, 10, 20};
#define SIZES (sizeof sizes_percent / sizeof sizes_percent[0])

static void print_ratios(const char *policy, const struct vcm_trace_result *result)
{
    printf(",\"%s\":[%.6f,%.6f]", policy, result->hit_ratio, result->byte_hit_ratio);
}

static int print_size(const struct vcm_trace *trace, unsigned percent, struct vcm_error *err)
{
    uint64_t capacity = vcm_trace_bytes(trace) * percent / 100;
    struct vcm_trace_result result;

    printf("{\"percent\":%u,\"capacity\":%" PRIu64, percent, capacity);
    for (enum vcm_evict_policy i = VCM_EVICT_SIEVE; i < VCM_EVICT_POLICY_END; i++) {
        int rc = vcm_trace_replay(&result, trace, i, capacity, NULL, err);
        if (rc != VCM_OK)
            return rc;
        print_ratios(vcm_evict_policy_name(i), &result);
    }
    int rc = vcm_trace_optimum(&result, trace, capacity, NULL, err);
    print_ratios("optimum", &result);
    printf("}");
    return rc;
}

static int bench(const char *path, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_TRACE_BYTES);
    struct vcm_trace *trace = NULL;

    int rc = vcm_path_read_file(&text, path, VCM_LIMIT_TRACE_BYTES, err);
    if (rc == VCM_OK)
        rc = vcm_trace_open(&trace, err);
    if (rc == VCM_OK)
        rc = vcm_trace_read(trace, vcm_buf_slice(&text), err);
    if (rc == VCM_OK)
        printf("{\"default\":\"%s\",\"accesses\":%" PRIu64 ",\"pages\":%" PRIu64
               ",\"bytes\":%" PRIu64 ",\"sizes\":[",
               vcm_evict_policy_name(VCM_EVICT_DEFAULT), vcm_trace_accesses(trace),
               vcm_trace_pages(trace), vcm_trace_bytes(trace));
    for (size_t i = 0; rc == VCM_OK && i < SIZES; i++) {
        printf("%s", i > 0 ? "," : "");
        rc = print_size(trace, sizes_percent[i], err);
    }
    printf("]}\n");
    vcm_trace_close(trace);
    vcm_buf_release(&text);
    return rc;
}

int main(int argc, char **argv)
{
    struct vcm_error err = {0};

    for (int i = 1; i < argc; i++)
        if (bench(argv[i], &err) != VCM_OK) {
            fprintf(stderr, "bench_policy: %s: %s\n", argv[i], err.message);
            return 1;
        }
    return 0;
}
