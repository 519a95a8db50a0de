#include "vcm/residency/recorder.h"

#include "base/clock.h"
#include "vcm/store/table.h"

#include "base/banned.h"

#define BATCH   256u
#define TICK_MS 10u

struct recording {
    struct vcm_shm *shm;
    const struct vcm_recorder_options *options;
    uint64_t began_at;
    uint64_t cursor;
    uint64_t accesses, lost;
};

static bool is_full(const struct recording *r)
{
    return r->options->count > 0 && r->accesses >= r->options->count;
}

/* Passes new accesses on to the caller; *any: there were some. */
static int empty_ring(bool *any, struct recording *r, struct vcm_error *err)
{
    struct vcm_shm_access batch[BATCH];
    int rc = VCM_OK;

    unsigned count = vcm_shm_trace_read(batch, BATCH, &r->lost, &r->cursor, r->shm);
    *any = count > 0;
    for (unsigned i = 0; rc == VCM_OK && i < count && !is_full(r); i++) {
        batch[i].ms = batch[i].ms > r->began_at ? batch[i].ms - r->began_at : 0;
        rc = r->options->visit(r->options->context, &batch[i], err);
        r->accesses += rc == VCM_OK;
    }
    return rc;
}

static int record(struct recording *r, struct vcm_error *err)
{
    const struct vcm_recorder_options *options = r->options;

    for (;;) {
        bool any = false, is_over = options->duration_ms > 0 &&
                                    vcm_clock_ms() - r->began_at >= options->duration_ms;
        int rc = empty_ring(&any, r, err);
        if (rc != VCM_OK || is_full(r) || (is_over && !any))
            return rc;
        rc = vcm_cancel_check(options->cancel, err);
        if (rc == VCM_OK && options->idle)
            rc = options->idle(options->context, err);
        if (rc != VCM_OK)
            return rc;
        if (!any)
            vcm_clock_sleep_ms(TICK_MS);
    }
}

int vcm_recorder_run(uint64_t *accesses, uint64_t *lost, struct vcm_page_store *store,
                     const struct vcm_recorder_options *options, struct vcm_error *err)
{
    struct recording r = {.shm = store->shm, .options = options};

    *accesses = *lost = 0;
    if (!vcm_shm_is_shared(store->shm))
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "reads cannot be recorded in '%s', which cannot be written",
                             store->directory);
    int rc = vcm_shm_trace_start(&r.cursor, r.shm, err);
    if (rc != VCM_OK)
        return rc;
    r.began_at = vcm_clock_ms();
    vcm_log_write(store->log, VCM_LOG_DEBUG, "recording the reads of '%s'", store->directory);
    rc = record(&r, err);
    vcm_shm_trace_stop(r.shm);
    *accesses = r.accesses;
    *lost = r.lost;
    return rc;
}
