#include "vcm/mapping/mapping_former.h"

#include <assert.h>

#include "base/limits.h"
#include "vcm/mapping/mapping_build.h"
#include "vcm/store/table.h"

#include "base/banned.h"

uint64_t vcm_mapping_former_revision(const struct vcm_scope *scope)
{
    return scope->scope_id.len > 0 ? vcm_scope_revision(scope) : 0;
}

/* *out is 0 when the scope is not mapped. */
static int read_revision(uint64_t *out, struct vcm_kv_txn *txn, struct vcm_slice scope_id,
                         struct vcm_error *err)
{
    struct vcm_scope scope;

    *out = 0;
    int rc = vcm_page_store_scope(&scope, txn, scope_id, err);
    if (rc != VCM_OK)
        return rc == VCM_NOT_FOUND ? VCM_OK : rc;
    *out = vcm_mapping_former_revision(&scope);
    vcm_scope_release(&scope);
    return VCM_OK;
}

int vcm_mapping_former_check(const struct vcm_mapping *mapping, struct vcm_kv_txn *txn,
                             struct vcm_error *err)
{
    uint64_t revision = 0;

    if (!mapping->options.former)
        return VCM_OK;
    int rc = read_revision(&revision, txn, mapping->options.scope_id, err);
    return rc == VCM_OK && revision != mapping->former_revision ? VCM_RETRY : rc;
}

int vcm_mapping_former_is_in_force(bool *out, struct vcm_page_store *store,
                                   struct vcm_slice scope_id, const struct vcm_scope *former,
                                   struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;
    uint64_t revision = 0;

    *out = false;
    int rc = vcm_page_store_read_begin(&txn, store, err);
    if (rc != VCM_OK)
        return rc;
    rc = read_revision(&revision, txn, scope_id, err);
    vcm_kv_handle_read_end(txn);
    *out = rc == VCM_OK && revision == vcm_mapping_former_revision(former);
    return rc;
}

struct replacement {
    uint64_t former;
    const struct vcm_scope *scope;
};

static int replace_change(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    const struct replacement *replacement = context;
    uint64_t revision = 0;

    int rc = read_revision(&revision, txn, replacement->scope->scope_id, err);
    if (rc != VCM_OK)
        return rc;
    return revision == replacement->former ? vcm_mapping_put_scope(txn, replacement->scope, err)
                                           : VCM_RETRY;
}

int vcm_mapping_former_replace(struct vcm_page_store *store, const struct vcm_scope *former,
                               const struct vcm_scope *scope, const struct vcm_cancel *cancel,
                               struct vcm_error *err)
{
    struct replacement replacement = {vcm_mapping_former_revision(former), scope};

    assert(scope->mapping == former->mapping && scope->pinned == former->pinned);
    return vcm_kv_handle_update(store->kv, replace_change, &replacement, VCM_LIMIT_LOCK_TIMEOUT_MS,
                                cancel, err);
}

int vcm_mapping_former_give_up(struct vcm_slice scope_id, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_STORE_BUSY,
                         "other processes keep changing scope '%.*s'; try again when they are done",
                         (int)scope_id.len, scope_id.data);
}
