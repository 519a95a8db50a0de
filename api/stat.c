#include <stdio.h>
#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/handle.h"
#include "base/clock.h"
#include "base/limits.h"
#include "vcm/residency/lock.h"

#include "base/banned.h"

static int count_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    (void)scope;
    (void)err;
    ++*(uint64_t *)context;
    return VCM_OK;
}

static int read_store(struct vcm_stat *out, struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_buf tokenizer = VCM_BUF_INIT(sizeof out->tokenizer - 1);
    struct vcm_page_cache_counters counters;
    struct vcm_page_totals totals;
    struct vcm_kv_info info;
    struct vcm_kv_txn *txn = NULL;

    int rc = vcm_page_store_file_info(&info, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_totals(&totals, txn, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_tokenizer(&tokenizer, txn, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_each_scope(txn, vcm_slice_of("", 0), count_scope, &out->scopes, err);
    if (rc == VCM_OK)
        rc = vcm_lock_pages(&out->pages_locked, txn, vcm_clock_wall_ms(), err);
    vcm_kv_handle_read_end(txn);
    if (rc == VCM_OK) {
        vcm_page_cache_counters(&counters, vcm->store);
        out->pages = totals.pages;
        out->pages_resident = totals.resident;
        out->pages_compressed = totals.compressed;
        out->pages_evicted = totals.pages - totals.resident - totals.compressed;
        out->pages_pinned = totals.pinned;
        out->bytes_resident = totals.resident_bytes;
        out->bytes_compressed = totals.compressed_bytes;
        out->tokens = totals.tokens;
        out->bytes_file = info.file_bytes;
        out->hits = counters.hits;
        out->minor_faults = counters.minor_faults;
        out->major_faults = counters.major_faults;
        out->evictions = counters.evictions;
        out->private_answers = counters.private_answers;
        if (tokenizer.len > 0)
            snprintf(out->tokenizer, sizeof out->tokenizer, "%s", vcm_buf_text(&tokenizer));
    }
    vcm_buf_release(&tokenizer);
    return vcm_damage_note(vcm, rc, err);
}

int vcm_stat(struct vcm_stat *out, struct vcm *vcm, struct vcm_error *err)
{
    if (out)
        memset(out, 0, sizeof *out);
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out));
    if (rc != VCM_OK)
        return rc;
    enum vcm_evict_policy policy;

    rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_handle_open_for_reading(vcm, err);
    if (rc != VCM_OK)
        return rc;
    out->home = vcm->home;
    out->format_version = VCM_PAGE_STORE_FORMAT;
    out->bytes_capacity = vcm_config_number(&vcm->config, "cache.capacity");
    if (vcm_evict_policy_of(&policy, vcm_config_text(&vcm->config, "cache.policy")))
        out->policy =
            vcm_evict_policy_name(policy); /* a static string: the configuration is released */
    snprintf(out->tokenizer, sizeof out->tokenizer, "%s",
             vcm_config_text(&vcm->config, "tokenizer"));
    return vcm->store ? read_store(out, vcm, err) : VCM_OK;
}
