#include <stdio.h>
#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/handle.h"
#include "base/clock.h"

#include "base/banned.h"

#define TICK_MS    50u
#define SCOPES_MAX 8u

struct largest {
    struct vcm_top_scope scopes[SCOPES_MAX];
    unsigned count;
};

/* Keeps the largest scopes by bytes; equal ones in the order of their names, in which they are
 * visited. */
static int consider_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct largest *largest = context;
    unsigned at = largest->count;

    (void)err;
    while (at > 0 && largest->scopes[at - 1].bytes < scope->bytes)
        at--;
    if (at == SCOPES_MAX)
        return VCM_OK;
    if (largest->count < SCOPES_MAX)
        largest->count++;
    memmove(&largest->scopes[at + 1], &largest->scopes[at],
            (largest->count - 1 - at) * sizeof largest->scopes[0]);
    struct vcm_top_scope *kept = &largest->scopes[at];
    *kept = (struct vcm_top_scope){
        .pages = scope->pages, .bytes = scope->bytes, .tokens = scope->tokens};
    snprintf(kept->scope_id, sizeof kept->scope_id, "%.*s", (int)scope->scope_id.len,
             scope->scope_id.data);
    return VCM_OK;
}

/* The sample points into `largest`. */
static int take_sample(struct vcm_top_sample *sample, struct largest *largest, struct vcm *vcm,
                       struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;

    memset(sample, 0, sizeof *sample);
    largest->count = 0;
    int rc = vcm_stat(&sample->stat, vcm, err);
    if (rc != VCM_OK || !vcm->store)
        return rc;
    rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_each_scope(txn, vcm_slice_of("", 0), consider_scope, largest, err);
    vcm_kv_handle_read_end(txn);
    sample->scopes = largest->scopes;
    sample->scope_count = largest->count;
    return vcm_damage_note(vcm, rc, err);
}

static int wait_for_next(struct vcm *vcm, const struct vcm_top_options *options,
                         struct vcm_error *err)
{
    uint64_t began = vcm_clock_ms(), passed = 0;

    while (passed < options->interval_ms) {
        uint64_t left = options->interval_ms - passed;
        int rc = vcm_cancel_check(vcm->cancel, err);
        if (rc == VCM_OK && options->idle)
            rc = options->idle(options->context, err);
        if (rc != VCM_OK)
            return rc;
        vcm_clock_sleep_ms(left < TICK_MS ? left : TICK_MS);
        passed = vcm_clock_ms() - began;
    }
    return vcm_cancel_check(vcm->cancel, err);
}

int vcm_top(struct vcm *vcm, const struct vcm_top_options *options, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(options));
    if (rc == VCM_OK)
        rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(options->visit));
    if (rc != VCM_OK)
        return rc;
    uint64_t faults = 0, at = 0;

    for (uint64_t taken = 0; options->count == 0 || taken < options->count; taken++) {
        struct vcm_top_sample sample;
        struct largest largest;
        rc = taken > 0 ? wait_for_next(vcm, options, err) : VCM_OK;
        if (rc == VCM_OK)
            rc = take_sample(&sample, &largest, vcm, err);
        if (rc != VCM_OK)
            return rc;
        uint64_t now = vcm_clock_ms(), seen = sample.stat.minor_faults + sample.stat.major_faults;
        /* The counters restart at 0 when the shared file was lost. */
        sample.has_rate = taken > 0 && now > at && seen >= faults;
        if (sample.has_rate)
            sample.faults_per_second = (double)(seen - faults) * 1000 / (double)(now - at);
        faults = seen;
        at = now;
        rc = options->visit(options->context, &sample, err);
        if (rc != VCM_OK)
            return rc;
    }
    return VCM_OK;
}
