#include "vcm/mapping/gc.h"

#include "base/limits.h"
#include "vcm/mapping/mapping.h"
#include "vcm/residency/transition.h"

#include "base/banned.h"

static int count_pages(uint64_t *pages, struct vcm_page_store *store, struct vcm_error *err)
{
    struct vcm_page_totals totals;
    struct vcm_kv_txn *txn = NULL;

    int rc = vcm_page_store_read_begin(&txn, store, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_totals(&totals, txn, err);
    if (rc == VCM_OK)
        *pages = totals.pages;
    vcm_kv_handle_read_end(txn);
    return rc;
}

static int sweep(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    (void)context;
    int rc = vcm_transition_sweep_orphans(t, err);
    return rc == VCM_OK ? vcm_dictionary_sweep(t->txn, err) : rc;
}

int vcm_gc_run(struct vcm_gc_result *out, struct vcm_page_store *store,
               const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct vcm_kv_compacted compacted = {0, 0};
    uint64_t before = 0, after = 0;

    *out = (struct vcm_gc_result){0, 0, 0};
    int rc = count_pages(&before, store, err);
    if (rc == VCM_OK)
        rc = vcm_mapping_clear(store, cancel, err);
    if (rc == VCM_OK)
        rc = vcm_transition_run(store, sweep, NULL, VCM_LIMIT_LOCK_TIMEOUT_MS, cancel, err);
    if (rc == VCM_OK)
        rc = count_pages(&after, store, err);
    if (rc == VCM_OK)
        rc = vcm_kv_compact(&compacted, store->kv, VCM_LIMIT_LOCK_TIMEOUT_MS, cancel, err);
    if (rc != VCM_OK)
        return rc;
    /* A mapping at the same time may have added more pages than were dropped. */
    out->pages_dropped = before > after ? before - after : 0;
    out->bytes_before = compacted.bytes_before;
    out->bytes_after = compacted.bytes_after;
    return VCM_OK;
}
