#include "api/residency.h"

#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "base/limits.h"
#include "vcm/residency/lock.h"

#include "base/banned.h"

static const char *const state_names[] = {
    [VCM_PAGE_RESIDENT] = "resident",
    [VCM_PAGE_COMPRESSED] = "compressed",
    [VCM_PAGE_EVICTED] = "evicted",
};

const char *vcm_residency_state_name(enum vcm_page_state state)
{
    return state_names[state];
}

int vcm_residency_find(struct vcm_page_id **out, struct vcm *vcm, const char *const *names,
                       size_t count, struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;
    int rc = VCM_OK;

    *out = NULL;
    if (count == 0 || count > VCM_LIMIT_LISTING_ROWS)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "give 1 to %u pages",
                             VCM_LIMIT_LISTING_ROWS);
    for (size_t i = 0; rc == VCM_OK && i < count; i++)
        rc = vcm_names_check_page(names[i], err);
    if (rc == VCM_OK)
        rc = vcm_handle_open_for_change(vcm, err);
    if (rc != VCM_OK)
        return rc;
    if (!vcm->store)
        return vcm_names_no_page(names[0], err);
    struct vcm_page_id *ids = calloc(count, sizeof *ids);
    if (!ids)
        return vcm_error_memory(err);
    rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    for (size_t i = 0; rc == VCM_OK && i < count; i++)
        rc = vcm_names_find_page(&ids[i], txn, names[i], err);
    vcm_kv_handle_read_end(txn);
    if (rc == VCM_OK)
        *out = ids;
    else
        free(ids);
    return rc;
}

int vcm_residency_visit(struct vcm *vcm, const struct vcm_page_id *ids, size_t count,
                        uint64_t now_ms, vcm_page_outcome_fn visit, void *context,
                        struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;

    if (!visit)
        return VCM_OK;
    int rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        char hex[VCM_PAGE_ID_HEX + 1];
        struct vcm_page_info info;
        uint64_t until_ms = 0;
        vcm_page_id_to_hex(hex, &ids[i]);
        rc = vcm_page_store_page(&info, txn, &ids[i], err);
        if (rc == VCM_NOT_FOUND)
            rc = vcm_names_no_page(hex, err);
        if (rc == VCM_OK)
            rc = vcm_lock_until(&until_ms, txn, &ids[i], now_ms, err);
        if (rc == VCM_OK)
            rc = visit(context,
                       &(struct vcm_page_outcome){.page_id = hex,
                                                  .state = vcm_residency_state_name(info.state),
                                                  .locked_until = vcm_residency_seconds(until_ms)},
                       err);
    }
    vcm_kv_handle_read_end(txn);
    return rc;
}

int vcm_residency_check_ttl(uint64_t ttl_ms, struct vcm_error *err)
{
    if (ttl_ms <= VCM_LIMIT_LOCK_TTL_MS)
        return VCM_OK;
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "a lock of %llu ms is too long; a lock lasts at most %lluh (ten years)",
                         (unsigned long long)ttl_ms,
                         (unsigned long long)(VCM_LIMIT_LOCK_TTL_MS / 3600000));
}

uint64_t vcm_residency_seconds(uint64_t until_ms)
{
    return until_ms / 1000 + (until_ms % 1000 > 0);
}
