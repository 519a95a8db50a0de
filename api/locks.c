#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "api/residency.h"
#include "vcm/residency/lock.h"

#include "base/banned.h"

struct listing {
    vcm_lock_entry_fn visit;
    void *context;
    uint64_t now;
};

static int pass_lock(void *context, const struct vcm_lock_info *lock, struct vcm_error *err)
{
    const struct listing *listing = context;
    char hex[VCM_PAGE_ID_HEX + 1];

    if (lock->until <= listing->now)
        return VCM_OK;
    char *owner = strndup(lock->owner.data, lock->owner.len);
    char *reason = strndup(lock->reason.data ? lock->reason.data : "", lock->reason.len);
    int rc = owner && reason ? VCM_OK : vcm_error_memory(err);
    vcm_page_id_to_hex(hex, &lock->id);
    if (rc == VCM_OK)
        rc = listing->visit(listing->context,
                            &(struct vcm_lock_entry){.page_id = hex,
                                                     .owner = owner,
                                                     .reason = vcm_handle_text_or_null(reason),
                                                     .locked_until = lock->until},
                            err);
    free(owner);
    free(reason);
    return rc;
}

int vcm_locks(struct vcm *vcm, const char *page, vcm_lock_entry_fn visit, void *context,
              struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"page", page});
    if (rc != VCM_OK)
        return rc;
    struct listing listing = {visit, context, (uint64_t)time(NULL)};
    struct vcm_page_id *id = NULL;
    struct vcm_kv_txn *txn = NULL;

    rc = page ? vcm_residency_find(&id, vcm, &page, 1, err) : vcm_handle_open_for_reading(vcm, err);
    if (rc != VCM_OK || !vcm->store)
        return rc;
    rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_lock_each(txn, id, pass_lock, &listing, err);
    vcm_kv_handle_read_end(txn);
    free(id);
    return rc;
}

struct own_lock {
    const char *owner;
    uint64_t until; /* 0 for none */
    char *reason;
};

static int find_own(void *context, const struct vcm_lock_entry *lock, struct vcm_error *err)
{
    struct own_lock *own = context;

    if (strcmp(lock->owner, own->owner) != 0)
        return VCM_OK;
    own->until = lock->locked_until;
    own->reason = lock->reason ? strdup(lock->reason) : NULL;
    return lock->reason && !own->reason ? vcm_error_memory(err) : VCM_OK;
}

int vcm_lock_extend(uint64_t *locked_until, struct vcm *vcm, const char *page, const char *owner,
                    uint64_t add_ms, struct vcm_error *err)
{
    if (locked_until)
        *locked_until = 0;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(locked_until), VCM_ARGUMENT(page));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"page", page}, {"owner", owner});
    if (rc != VCM_OK)
        return rc;
    struct own_lock own = {.owner = owner ? owner : VCM_RESIDENCY_OWNER};
    const char *const pages[] = {page};

    rc = vcm_locks(vcm, page, find_own, &own, err);
    if (rc == VCM_OK && own.until == 0)
        rc = vcm_error_set(err, VCM_NOT_FOUND, "'%s' has no lock on page %s", own.owner, page);
    if (rc == VCM_OK) {
        uint64_t left_ms = (own.until - (uint64_t)time(NULL)) * 1000;
        rc = vcm_lock(vcm,
                      &(struct vcm_lock_query){.pages = pages,
                                               .count = 1,
                                               .owner = own.owner,
                                               .reason = own.reason,
                                               .ttl_ms = left_ms + add_ms},
                      NULL, NULL, err);
    }
    free(own.reason);
    own.reason = NULL;
    if (rc == VCM_OK)
        rc = vcm_locks(vcm, page, find_own, &own, err);
    if (rc == VCM_OK)
        *locked_until = own.until;
    free(own.reason);
    return rc;
}
