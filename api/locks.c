#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "api/residency.h"
#include "base/clock.h"
#include "vcm/residency/lock.h"

#include "base/banned.h"

struct walk {
    uint64_t now_ms;
    vcm_lock_fn visit;
    void *context;
};

static int pass_in_force(void *context, const struct vcm_lock_info *lock, struct vcm_error *err)
{
    const struct walk *walk = context;

    return lock->until_ms > walk->now_ms ? walk->visit(walk->context, lock, err) : VCM_OK;
}

/* The locks in force on one page, or on all pages for NULL. */
static int each_lock(struct vcm *vcm, const char *page, vcm_lock_fn visit, void *context,
                     struct vcm_error *err)
{
    struct walk walk = {vcm_clock_wall_ms(), visit, context};
    struct vcm_page_id *id = NULL;
    struct vcm_kv_txn *txn = NULL;

    int rc =
        page ? vcm_residency_find(&id, vcm, &page, 1, err) : vcm_handle_open_for_reading(vcm, err);
    if (rc != VCM_OK || !vcm->store)
        return rc;
    rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_lock_each(txn, id, pass_in_force, &walk, err);
    vcm_kv_handle_read_end(txn);
    free(id);
    return rc;
}

struct listing {
    vcm_lock_entry_fn visit;
    void *context;
};

static int pass_lock(void *context, const struct vcm_lock_info *lock, struct vcm_error *err)
{
    const struct listing *listing = context;
    char hex[VCM_PAGE_ID_HEX + 1];

    char *owner = strndup(lock->owner.data, lock->owner.len);
    char *reason = strndup(lock->reason.data ? lock->reason.data : "", lock->reason.len);
    int rc = owner && reason ? VCM_OK : vcm_error_memory(err);
    vcm_page_id_to_hex(hex, &lock->id);
    if (rc == VCM_OK)
        rc = listing->visit(
            listing->context,
            &(struct vcm_lock_entry){.page_id = hex,
                                     .owner = owner,
                                     .reason = vcm_handle_text_or_null(reason),
                                     .locked_until = vcm_residency_seconds(lock->until_ms)},
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
    return rc == VCM_OK ? each_lock(vcm, page, pass_lock, &(struct listing){visit, context}, err)
                        : rc;
}

struct own_lock {
    const char *owner;
    uint64_t until_ms; /* 0 for none */
    char *reason;
};

static int find_own(void *context, const struct vcm_lock_info *lock, struct vcm_error *err)
{
    struct own_lock *own = context;

    if (!vcm_slice_equal(lock->owner, vcm_slice_of_string(own->owner)))
        return VCM_OK;
    own->until_ms = lock->until_ms;
    if (lock->reason.len == 0)
        return VCM_OK;
    own->reason = strndup(lock->reason.data, lock->reason.len);
    return own->reason ? VCM_OK : vcm_error_memory(err);
}

/* Locks again, until `add_ms` after the end of the lock. */
static int extend(struct vcm *vcm, const char *page, const struct own_lock *own, uint64_t add_ms,
                  struct vcm_error *err)
{
    uint64_t now_ms = vcm_clock_wall_ms();
    uint64_t left_ms = own->until_ms > now_ms ? own->until_ms - now_ms : 0;

    if (own->until_ms == 0)
        return vcm_error_set(err, VCM_NOT_FOUND, "'%s' has no lock on page %s", own->owner, page);
    return vcm_lock(vcm,
                    &(struct vcm_lock_query){.pages = &page,
                                             .count = 1,
                                             .owner = own->owner,
                                             .reason = own->reason,
                                             .ttl_ms = left_ms + add_ms},
                    NULL, NULL, err);
}

int vcm_lock_extend(uint64_t *locked_until, struct vcm *vcm, const char *page, const char *owner,
                    uint64_t add_ms, struct vcm_error *err)
{
    if (locked_until)
        *locked_until = 0;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(locked_until), VCM_ARGUMENT(page));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"page", page}, {"owner", owner});
    if (rc == VCM_OK)
        rc = vcm_residency_check_ttl(add_ms, err);
    if (rc != VCM_OK)
        return rc;
    struct own_lock own = {.owner = owner ? owner : VCM_RESIDENCY_OWNER};

    rc = each_lock(vcm, page, find_own, &own, err);
    if (rc == VCM_OK)
        rc = extend(vcm, page, &own, add_ms, err);
    free(own.reason);
    own.reason = NULL;
    if (rc == VCM_OK)
        rc = each_lock(vcm, page, find_own, &own, err);
    if (rc == VCM_OK)
        *locked_until = vcm_residency_seconds(own.until_ms);
    free(own.reason);
    return rc;
}
