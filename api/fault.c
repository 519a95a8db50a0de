#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/fault_service.h"
#include "api/residency.h"
#include "base/clock.h"
#include "base/limits.h"
#include "vcm/residency/lock.h"

#include "base/banned.h"

#define LOCK_TRIES 3u

/* The frames of pages that are not resident, for the transaction that makes them resident. */
struct frames {
    struct vcm_loader *loader;
    struct vcm_slice *slices;
};

static int gather(struct frames *frames, struct vcm *vcm, const struct vcm_page_id *ids,
                  size_t count, struct vcm_error *err)
{
    frames->loader = NULL;
    frames->slices = calloc(count, sizeof *frames->slices);
    int rc = frames->slices ? VCM_OK : vcm_error_memory(err);
    if (rc == VCM_OK)
        rc = vcm_loader_open(&frames->loader, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_loader_gather_all(frames->loader, ids, count, err);
    for (size_t i = 0; rc == VCM_OK && i < count; i++)
        frames->slices[i] = vcm_loader_frame(frames->loader, &ids[i]);
    return rc;
}

static void release(struct frames *frames)
{
    vcm_loader_close(frames->loader);
    free(frames->slices);
}

static int lock_gathered(struct vcm *vcm, struct vcm_lock_request *request, struct vcm_error *err)
{
    struct frames frames;

    int rc = gather(&frames, vcm, request->ids, request->count, err);
    request->frames = frames.slices;
    if (rc == VCM_OK)
        rc = vcm_lock_take(vcm->store, request, vcm->cancel, err);
    release(&frames);
    return rc;
}

/* Retries when a page is evicted between reading it and locking it; all tries together wait
 * VCM_LIMIT_LOCK_TIMEOUT_MS for other writers. */
static int lock_pages(struct vcm *vcm, const struct vcm_page_id *ids, size_t count,
                      const char *owner, const char *reason, uint64_t ttl_ms, struct vcm_error *err)
{
    uint64_t deadline = vcm_clock_ms() + VCM_LIMIT_LOCK_TIMEOUT_MS;
    int rc = VCM_RETRY;

    for (unsigned i = 0; rc == VCM_RETRY && i < LOCK_TRIES; i++) {
        uint64_t now = vcm_clock_ms();
        rc = lock_gathered(vcm,
                           &(struct vcm_lock_request){
                               .ids = ids,
                               .count = (unsigned)count,
                               .owner = owner ? owner : VCM_RESIDENCY_OWNER,
                               .ttl_ms = ttl_ms,
                               .reason = reason,
                               .timeout_ms = now < deadline ? (unsigned)(deadline - now) : 0,
                           },
                           err);
    }
    return rc == VCM_RETRY ? vcm_error_set(err, VCM_STORE_BUSY,
                                           "a page was evicted again and again while it was to be "
                                           "locked; try again")
                           : rc;
}

/* The state of a page after the call. */
struct seen {
    enum vcm_page_state state;
    uint64_t locked_until; /* Unix seconds */
};

/* The pages of one call, in the order given. */
struct call {
    const struct vcm_fault_query *query;
    struct vcm *vcm; /* the handle whose store has them */
    const struct vcm_cancel *cancel;
    struct vcm_fault_queue *queue; /* NULL: the calling thread loads them */
    struct vcm_page_id *ids;
    struct vcm_loader_outcome *outcomes;
    struct seen *seen;
    uint64_t bytes;    /* sum over all pages */
    uint64_t began_ms; /* Unix time: a lock that the call took is reported even if it has expired */
};

/* The error of a page that was made resident and is not resident any more: it was evicted to make
 * room, or by another caller. */
static int gone_again(const struct call *call, const char *hex, struct vcm_error *err)
{
    struct vcm_page_store_limits limits;

    int rc = vcm_page_store_read_limits(&limits, call->vcm->store, err);
    if (rc != VCM_OK)
        return rc;
    if (call->bytes <= limits.capacity)
        return vcm_error_set(err, VCM_STORE_BUSY,
                             "page %s became resident and was evicted again; try again", hex);
    return vcm_error_set(err, VCM_STORE_FULL,
                         "page %s was evicted to make room for others: the requested pages need "
                         "%llu bytes and cache.capacity is %llu; raise it with 'vcm config set "
                         "cache.capacity SIZE', or request fewer",
                         hex, (unsigned long long)call->bytes, (unsigned long long)limits.capacity);
}

static int see_pages(struct call *call, struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;

    call->seen = calloc(call->query->count, sizeof *call->seen);
    if (!call->seen)
        return vcm_error_memory(err);
    int rc = vcm_page_store_read_begin(&txn, call->vcm->store, err);
    for (size_t i = 0; rc == VCM_OK && i < call->query->count; i++) {
        struct vcm_page_info info = {.state = VCM_PAGE_EVICTED};
        uint64_t until_ms = 0;
        rc = vcm_page_store_page(&info, txn, &call->ids[i], err);
        if (rc == VCM_OK)
            rc = vcm_lock_until(&until_ms, txn, &call->ids[i], call->began_ms, err);
        call->seen[i].locked_until = vcm_residency_seconds(until_ms);
        call->seen[i].state = info.state;
        call->bytes += info.bytes;
        rc = rc == VCM_NOT_FOUND ? VCM_OK : rc; /* the outcome reports it */
    }
    vcm_kv_handle_read_end(txn);
    return rc;
}

/* One thread of a handle at a time, so that all threads together use one reader slot of LMDB. */
static int see_in_turn(struct call *call, struct vcm *vcm, struct vcm_error *err)
{
    if (!vcm->faults)
        return see_pages(call, err);
    vcm_fault_service_enter(vcm->faults);
    int rc = see_pages(call, err);
    vcm_fault_service_leave(vcm->faults);
    return rc;
}

/* In a home that cannot be written a fault is answered and the page's state does not change; that
 * is not a failure. */
static bool is_read_only(const struct vcm_loader_outcome *outcome)
{
    int cause = outcome->error.sys_errno;

    return outcome->is_read && outcome->rc == VCM_IO_ERROR &&
           (cause == EACCES || cause == EPERM || cause == EROFS);
}

/* Another caller made the page resident while this one could not have the writers' lock. */
static bool is_resident_anyway(const struct vcm_loader_outcome *outcome, const struct seen *seen)
{
    return outcome->is_read && outcome->rc == VCM_STORE_BUSY && seen->state == VCM_PAGE_RESIDENT;
}

static int visit_pages(const struct call *call, vcm_page_outcome_fn visit, void *context,
                       struct vcm_error *err)
{
    static const char *const kinds[] = {
        [VCM_PAGE_RESIDENT] = "hit", [VCM_PAGE_COMPRESSED] = "minor", [VCM_PAGE_EVICTED] = "major"};
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < call->query->count; i++) {
        struct vcm_loader_outcome *outcome = &call->outcomes[i];
        char hex[VCM_PAGE_ID_HEX + 1];
        vcm_page_id_to_hex(hex, &call->ids[i]);
        vcm_damage_note(call->vcm, outcome->rc, &outcome->error);
        if (is_read_only(outcome) || is_resident_anyway(outcome, &call->seen[i]))
            outcome->rc = VCM_OK;
        else if (outcome->rc == VCM_OK && call->seen[i].state != VCM_PAGE_RESIDENT)
            outcome->rc = gone_again(call, hex, &outcome->error);
        rc = visit(context,
                   &(struct vcm_page_outcome){
                       .page_id = hex,
                       .state = vcm_residency_state_name(call->seen[i].state),
                       .fault = outcome->is_read ? kinds[outcome->was] : NULL,
                       .locked_until = call->seen[i].locked_until,
                       .error = outcome->rc != VCM_OK ? &outcome->error : NULL,
                   },
                   err);
    }
    return rc;
}

/* Whether to try to lock the page: it became resident, or only the writers' lock was busy, for
 * which taking a lock waits longer. */
static bool can_be_locked(const struct vcm_loader_outcome *outcome)
{
    return outcome->rc == VCM_OK || (outcome->is_read && outcome->rc == VCM_STORE_BUSY);
}

/* Locks all pages or none; a locked page is resident. */
static int lock_loaded(const struct call *call, struct vcm_error *err)
{
    const struct vcm_fault_query *query = call->query;
    size_t kept = 0;
    int rc = VCM_OK;

    struct vcm_page_id *ids = malloc(query->count * sizeof *ids);
    if (!ids)
        return vcm_error_memory(err);
    for (size_t i = 0; i < query->count; i++)
        if (can_be_locked(&call->outcomes[i]))
            ids[kept++] = call->ids[i];
    if (kept > 0)
        rc = lock_pages(call->vcm, ids, kept, query->owner, query->reason, query->lock_ms, err);
    for (size_t i = 0; rc == VCM_OK && i < query->count; i++)
        if (can_be_locked(&call->outcomes[i]))
            call->outcomes[i].rc = VCM_OK;
    free(ids);
    return rc;
}

static int load_here(const struct call *call, struct vcm_error *err)
{
    struct vcm_loader *loader = NULL;

    int rc = vcm_loader_open(&loader, call->vcm->store, err);
    if (rc == VCM_OK)
        vcm_loader_load(call->outcomes, loader, call->ids, call->query->count, NULL);
    vcm_loader_close(loader);
    return rc;
}

static int load(struct call *call, struct vcm_error *err)
{
    struct vcm_fault_queue_ticket *ticket = NULL;

    call->outcomes = calloc(call->query->count, sizeof *call->outcomes);
    if (!call->outcomes)
        return vcm_error_memory(err);
    if (!call->queue)
        return load_here(call, err);
    int rc = vcm_fault_queue_ask(&ticket, call->queue, call->ids, (unsigned)call->query->count,
                                 call->query->priority, err);
    if (rc == VCM_OK)
        vcm_fault_queue_wait(call->outcomes, ticket, call->cancel);
    return rc == VCM_OK ? vcm_cancel_check(call->cancel, err) : rc;
}

static int find(struct call *call, struct vcm *vcm, struct vcm_error *err)
{
    const struct vcm_fault_query *query = call->query;

    if (vcm->faults)
        return vcm_fault_service_find(&call->ids, &call->vcm, &call->queue, vcm->faults, query,
                                      err);
    call->vcm = vcm;
    int rc = vcm_handle_config_once(vcm, err);
    return rc == VCM_OK ? vcm_residency_find(&call->ids, vcm, query->pages, query->count, err) : rc;
}

static int check_texts(const char *const *pages, size_t count, const char *owner,
                       const char *reason, struct vcm_error *err)
{
    int rc = VCM_TEXTS(err, {"owner", owner}, {"reason", reason});

    return rc == VCM_OK ? vcm_arguments_list("pages", pages, count, VCM_ARGUMENT_TEXTS, err) : rc;
}

int vcm_fault(struct vcm *vcm, const struct vcm_fault_query *query, vcm_page_outcome_fn visit,
              void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = check_texts(query->pages, query->count, query->owner, query->reason, err);
    if (rc == VCM_OK)
        rc = vcm_residency_check_ttl(query->lock_ms, err);
    if (rc != VCM_OK)
        return rc;
    struct call call = {.query = query, .cancel = vcm->cancel, .began_ms = vcm_clock_wall_ms()};

    rc = find(&call, vcm, err);
    if (rc == VCM_OK)
        rc = load(&call, err);
    if (rc == VCM_OK && query->lock_ms > 0)
        rc = lock_loaded(&call, err);
    if (rc == VCM_OK)
        rc = see_in_turn(&call, vcm, err);
    if (rc == VCM_OK)
        rc = visit_pages(&call, visit, context, err);
    free(call.seen);
    free(call.outcomes);
    free(call.ids);
    return vcm_damage_note(vcm, rc, err);
}

int vcm_lock(struct vcm *vcm, const struct vcm_lock_query *query, vcm_page_outcome_fn visit,
             void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query));
    if (rc == VCM_OK)
        rc = check_texts(query->pages, query->count, query->owner, query->reason, err);
    if (rc == VCM_OK)
        rc = vcm_residency_check_ttl(query->ttl_ms, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_page_id *ids = NULL;
    uint64_t began_ms = vcm_clock_wall_ms();

    if (query->ttl_ms == 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "a lock needs a time, such as 10m");
    rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_residency_find(&ids, vcm, query->pages, query->count, err);
    if (rc == VCM_OK)
        rc = lock_pages(vcm, ids, query->count, query->owner, query->reason, query->ttl_ms, err);
    if (rc == VCM_OK)
        rc = vcm_residency_visit(vcm, ids, query->count, began_ms, visit, context, err);
    free(ids);
    return vcm_damage_note(vcm, rc, err);
}

int vcm_unlock(uint64_t *released, struct vcm *vcm, const struct vcm_lock_query *query,
               vcm_page_outcome_fn visit, void *context, struct vcm_error *err)
{
    if (released)
        *released = 0;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(released), VCM_ARGUMENT(query));
    if (rc == VCM_OK)
        rc = check_texts(query->pages, query->count, query->owner, query->reason, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_page_id *ids = NULL;
    const char *owner = query->force ? NULL : query->owner ? query->owner : VCM_RESIDENCY_OWNER;

    rc = vcm_residency_find(&ids, vcm, query->pages, query->count, err);
    if (rc == VCM_OK)
        rc = vcm_lock_release(released, vcm->store, ids, (unsigned)query->count, owner, vcm->cancel,
                              err);
    if (rc == VCM_OK)
        rc = vcm_residency_visit(vcm, ids, query->count, vcm_clock_wall_ms(), visit, context, err);
    free(ids);
    return vcm_damage_note(vcm, rc, err);
}

int vcm_fault_frame(struct vcm_buf *out, struct vcm *vcm, const struct vcm_page_id *id,
                    struct vcm_error *err)
{
    struct frames frames;

    int rc = gather(&frames, vcm, id, 1, err);
    if (rc == VCM_OK) {
        vcm_buf_append_slice(out, frames.slices[0]);
        rc = vcm_buf_check(out, "a frame", err);
    }
    release(&frames);
    return rc;
}
