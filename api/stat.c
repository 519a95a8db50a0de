#include <stdio.h>
#include <string.h>

#include "api/damage.h"
#include "api/internal.h"
#include "base/limits.h"

#include "base/banned.h"

struct pin_count {
    struct vcm_stat *stat;
    struct vcm_kv_txn *txn;
    const struct vcm_scope *scope;
};

struct first_holder {
    struct vcm_kv_txn *txn;
    uint64_t mapping; /* of the first pinned scope that holds the page */
};

static int find_pinned_holder(void *context, const struct vcm_page_holder *holder,
                              struct vcm_error *err)
{
    struct first_holder *first = context;
    struct vcm_scope scope;

    int rc = vcm_page_store_scope(&scope, first->txn, holder->scope_id, err);
    bool pinned = rc == VCM_OK && scope.pinned;
    vcm_scope_release(&scope);
    if (!pinned)
        return rc;
    first->mapping = holder->mapping;
    return VCM_NOT_FOUND; /* enough */
}

/* Counts a page once: in the first pinned scope that holds it, at its first row there. */
static int count_pinned_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct pin_count *count = context;
    struct first_holder first = {.txn = count->txn};
    uint32_t first_seq = row->seq;

    int rc = vcm_page_store_each_holder(count->txn, &row->id, find_pinned_holder, &first, err);
    if (rc == VCM_OK && first.mapping == count->scope->mapping)
        rc = vcm_page_store_first_seq(&first_seq, count->txn, &row->id, first.mapping, err);
    if (rc == VCM_OK && first.mapping == count->scope->mapping && first_seq == row->seq)
        count->stat->pages_pinned++;
    return rc;
}

static int count_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct pin_count *count = context;

    count->stat->scopes++;
    if (!scope->pinned)
        return VCM_OK;
    count->scope = scope;
    return vcm_page_store_each_row(count->txn, scope->mapping, 0, count_pinned_row, count, err);
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
    if (rc == VCM_OK) {
        struct pin_count count = {.stat = out, .txn = txn};
        rc = vcm_page_store_each_scope(txn, vcm_slice_of("", 0), count_scope, &count, err);
    }
    vcm_kv_read_end(txn);
    if (rc == VCM_OK) {
        vcm_page_cache_counters(&counters, vcm->cache);
        out->pages = out->pages_resident = totals.pages;
        out->bytes_resident = totals.resident_bytes;
        out->tokens = totals.tokens;
        out->bytes_file = info.file_bytes;
        out->hits = counters.hits;
        out->minor_faults = counters.minor_faults;
        out->major_faults = counters.major_faults;
        out->evictions = counters.evictions;
        if (tokenizer.len > 0)
            snprintf(out->tokenizer, sizeof out->tokenizer, "%s", vcm_buf_text(&tokenizer));
    }
    vcm_buf_release(&tokenizer);
    return vcm_damage_note(vcm, rc, err);
}

int vcm_stat(struct vcm_stat *out, struct vcm *vcm, struct vcm_error *err)
{
    memset(out, 0, sizeof *out);
    int rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_handle_open_for_reading(vcm, err);
    if (rc != VCM_OK)
        return rc;
    out->home = vcm->home;
    out->format_version = VCM_PAGE_STORE_FORMAT;
    out->bytes_capacity = vcm_config_number(&vcm->config, "cache.capacity");
    out->policy = vcm_config_text(&vcm->config, "cache.policy");
    snprintf(out->tokenizer, sizeof out->tokenizer, "%s",
             vcm_config_text(&vcm->config, "tokenizer"));
    return vcm->store ? read_store(out, vcm, err) : VCM_OK;
}
