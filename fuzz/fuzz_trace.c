/*
 * fuzz_trace.c - a trace is read or refused, and whatever is read can be replayed: no policy and
 * not the optimum has a hit on a first access, and with room for everything all the others are
 * hits.
 */
#include "fuzz/check.h"
#include "vcm/residency/trace.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const struct vcm_trace *trace, uint64_t capacity)
{
    uint64_t again = vcm_trace_accesses(trace) - vcm_trace_pages(trace);
    struct vcm_trace_result result;
    struct vcm_error err = {0};

    for (enum vcm_evict_policy i = VCM_EVICT_SIEVE; i < VCM_EVICT_POLICY_END; i++) {
        FUZZ_CHECK(vcm_trace_replay(&result, trace, i, capacity, NULL, &err) == VCM_OK);
        FUZZ_CHECK(result.hits <= again && result.hit_bytes <= result.bytes);
        FUZZ_CHECK(capacity < vcm_trace_bytes(trace) || result.hits == again);
    }
    FUZZ_CHECK(vcm_trace_optimum(&result, trace, capacity, NULL, &err) == VCM_OK);
    FUZZ_CHECK(result.hits <= again && result.hit_bytes <= result.bytes);
    FUZZ_CHECK(capacity < vcm_trace_bytes(trace) || result.hits == again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_trace *trace = NULL;
    struct vcm_error err = {0};

    FUZZ_CHECK(vcm_trace_open(&trace, &err) == VCM_OK);
    int rc = vcm_trace_read(trace, vcm_slice_of(data, size), &err);
    FUZZ_CHECK(rc == (int)err.code);
    FUZZ_CHECK(rc == VCM_OK || rc == VCM_INVALID_ARGUMENT);
    FUZZ_CHECK(vcm_trace_pages(trace) <= vcm_trace_accesses(trace));
    replay(trace, 0);
    replay(trace, vcm_trace_bytes(trace) / 3);
    replay(trace, vcm_trace_bytes(trace));
    vcm_trace_close(trace);
    return 0;
}
