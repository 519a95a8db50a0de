#include "vcm/residency/trace.h"

#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/handle.h"
#include "base/limits.h"
#include "base/path.h"
#include "vcm/residency/recorder.h"

#include "base/banned.h"

/* Percentages of the total size of the trace's pages. */
static const unsigned parts[] = {1, 5, 10, 25, 50};

struct recording {
    const struct vcm_trace_record_options *options;
};

static int pass_access(void *context, const struct vcm_shm_access *access, struct vcm_error *err)
{
    const struct recording *recording = context;
    char hex[VCM_PAGE_ID_HEX + 1];

    vcm_page_id_to_hex(hex, &access->id);
    return recording->options->visit(recording->options->context,
                                     &(struct vcm_trace_access){access->ms, hex, access->bytes},
                                     err);
}

static int pass_idle(void *context, struct vcm_error *err)
{
    const struct recording *recording = context;

    return recording->options->idle ? recording->options->idle(recording->options->context, err)
                                    : VCM_OK;
}

int vcm_trace_record(struct vcm_trace_recorded *out, struct vcm *vcm,
                     const struct vcm_trace_record_options *options, struct vcm_error *err)
{
    if (out)
        memset(out, 0, sizeof *out);
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out), VCM_ARGUMENT(options));
    if (rc == VCM_OK)
        rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(options->visit));
    if (rc != VCM_OK)
        return rc;
    struct recording recording = {options};

    rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_handle_open_for_reading(vcm, err);
    if (rc != VCM_OK || !vcm->store)
        return rc; /* no store, so no reads */
    return vcm_recorder_run(&out->accesses, &out->lost, vcm->store,
                            &(struct vcm_recorder_options){
                                .duration_ms = options->duration_ms,
                                .count = options->count,
                                .visit = pass_access,
                                .idle = pass_idle,
                                .context = &recording,
                                .cancel = vcm->cancel,
                            },
                            err);
}

/* Sorted by name, including the optimum. */
static const struct {
    const char *name;
    enum vcm_evict_policy policy; /* 0 for the optimum */
} replayed[] = {
    {"lfu", VCM_EVICT_LFU},       {"lru", VCM_EVICT_LRU},     {"optimum", 0},
    {"s3fifo", VCM_EVICT_S3FIFO}, {"sieve", VCM_EVICT_SIEVE},
};

static int replay(const struct vcm_trace *trace, const char *name, enum vcm_evict_policy policy,
                  uint64_t capacity, const struct vcm_cancel *cancel, vcm_trace_outcome_fn visit,
                  void *context, struct vcm_error *err)
{
    struct vcm_trace_result result;

    int rc = policy ? vcm_trace_replay(&result, trace, policy, capacity, cancel, err)
                    : vcm_trace_optimum(&result, trace, capacity, cancel, err);
    if (rc != VCM_OK)
        return rc;
    return visit(context,
                 &(struct vcm_trace_outcome){.policy = name,
                                             .capacity = capacity,
                                             .hit_ratio = result.hit_ratio,
                                             .byte_hit_ratio = result.byte_hit_ratio},
                 err);
}

static int replay_all(const struct vcm_trace *trace, uint64_t capacity,
                      const struct vcm_cancel *cancel, vcm_trace_outcome_fn visit, void *context,
                      struct vcm_error *err)
{
    uint64_t bytes = vcm_trace_bytes(trace), last = 0;
    int rc = VCM_OK;

    for (size_t i = 0; i < sizeof replayed / sizeof replayed[0]; i++) {
        if (capacity > 0)
            rc = replay(trace, replayed[i].name, replayed[i].policy, capacity, cancel, visit,
                        context, err);
        last = 0;
        for (size_t p = 0; rc == VCM_OK && capacity == 0 && p < sizeof parts / sizeof parts[0];
             p++) {
            uint64_t size = bytes / 100 * parts[p] + bytes % 100 * parts[p] / 100;
            if (size > last) /* a small trace gives equal or zero capacities */
                rc = replay(trace, replayed[i].name, replayed[i].policy, size, cancel, visit,
                            context, err);
            last = size;
        }
        if (rc != VCM_OK)
            return rc;
    }
    return VCM_OK;
}

int vcm_trace_replay_file(uint64_t *accesses, struct vcm *vcm, const char *path, uint64_t capacity,
                          vcm_trace_outcome_fn visit, void *context, struct vcm_error *err)
{
    if (accesses)
        *accesses = 0;
    int rc =
        VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(accesses), VCM_ARGUMENT(path), VCM_ARGUMENT(visit));
    if (rc != VCM_OK)
        return rc;
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_TRACE_BYTES);
    struct vcm_trace *trace = NULL;

    rc = vcm_path_read_file(&text, path, VCM_LIMIT_TRACE_BYTES, err);
    if (rc == VCM_OK)
        rc = vcm_trace_open(&trace, err);
    if (rc == VCM_OK)
        rc = vcm_error_wrap(err, vcm_trace_read(trace, vcm_buf_slice(&text), err), "%s", path);
    vcm_buf_release(&text);
    if (rc == VCM_OK) {
        *accesses = vcm_trace_accesses(trace);
        rc = replay_all(trace, capacity, vcm->cancel, visit, context, err);
    }
    vcm_trace_close(trace);
    return rc;
}
