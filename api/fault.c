#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/residency.h"
#include "base/limits.h"
#include "vcm/fault.h"
#include "vcm/lock.h"
#include "vcm/rebuild.h"

#include "base/banned.h"

#define WORKERS    2u
#define LOCK_TRIES 3u

/* The frames of pages that are not resident, for a change that makes them so. */
struct frames {
    struct vcm_buf bytes;
    struct vcm_slice *slices;
};

static int gather(struct frames *frames, struct vcm *vcm, const struct vcm_page_id *ids,
                  size_t count, struct vcm_error *err)
{
    struct vcm_rebuild *rebuild = NULL;
    struct vcm_kv_txn *txn = NULL;
    size_t *starts = calloc(count + 1, sizeof *starts);

    vcm_buf_init(&frames->bytes, 16 * VCM_GIB);
    frames->slices = calloc(count, sizeof *frames->slices);
    int rc = starts && frames->slices ? VCM_OK : vcm_error_memory(err);
    if (rc == VCM_OK)
        rc = vcm_rebuild_open(&rebuild, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        struct vcm_page_info info;
        starts[i] = frames->bytes.len;
        rc = vcm_page_store_page(&info, txn, &ids[i], err);
        if (rc == VCM_NOT_FOUND)
            rc = VCM_OK; /* told by the change itself */
        else if (rc == VCM_OK && info.state != VCM_PAGE_RESIDENT)
            rc = vcm_rebuild_frame(&frames->bytes, rebuild, txn, &info, err);
        starts[i + 1] = frames->bytes.len;
    }
    for (size_t i = 0; rc == VCM_OK && i < count; i++)
        frames->slices[i] = vcm_slice_of(frames->bytes.data + starts[i], starts[i + 1] - starts[i]);
    vcm_kv_read_end(txn);
    vcm_rebuild_close(rebuild);
    free(starts);
    return rc;
}

static void release(struct frames *frames)
{
    vcm_buf_release(&frames->bytes);
    free(frames->slices);
    frames->slices = NULL;
}

/* A page that is evicted between being read and being locked is read again. */
static int lock_pages(struct vcm *vcm, const struct vcm_page_id *ids, size_t count,
                      const char *owner, const char *reason, uint64_t ttl_ms, struct vcm_error *err)
{
    int rc = VCM_STORE_BUSY;

    for (unsigned i = 0; rc == VCM_STORE_BUSY && i < LOCK_TRIES; i++) {
        struct frames frames = {.slices = NULL};
        vcm_error_reset(err);
        rc = gather(&frames, vcm, ids, count, err);
        if (rc == VCM_OK)
            rc = vcm_lock_take(vcm->store,
                               &(struct vcm_lock_request){
                                   .ids = ids,
                                   .frames = frames.slices,
                                   .count = (unsigned)count,
                                   .owner = owner ? owner : VCM_RESIDENCY_OWNER,
                                   .until = vcm_residency_until(ttl_ms),
                                   .reason = reason,
                               },
                               vcm->cancel, err);
        release(&frames);
    }
    return rc;
}

static int visit_outcomes(struct vcm *vcm, const struct vcm_page_id *ids, size_t count,
                          const struct vcm_fault_outcome *outcomes, vcm_page_outcome_fn visit,
                          void *context, struct vcm_error *err)
{
    static const char *const kinds[] = {
        [VCM_FAULT_HIT] = "hit", [VCM_FAULT_MINOR] = "minor", [VCM_FAULT_MAJOR] = "major"};
    struct vcm_kv_txn *txn = NULL;
    uint64_t now = (uint64_t)time(NULL);

    int rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        char hex[VCM_PAGE_ID_HEX + 1];
        struct vcm_page_info info;
        uint64_t until = 0;
        bool failed = outcomes[i].rc != VCM_OK;
        vcm_page_id_to_hex(hex, &ids[i]);
        vcm_damage_note(vcm, outcomes[i].rc, &outcomes[i].error);
        rc = vcm_page_store_page(&info, txn, &ids[i], err);
        if (rc == VCM_OK)
            rc = vcm_lock_until(&until, txn, &ids[i], now, err);
        if (rc == VCM_OK || rc == VCM_NOT_FOUND)
            rc = visit(context,
                       &(struct vcm_page_outcome){.page_id = hex,
                                                  .state = vcm_residency_state_name(
                                                      rc == VCM_OK ? info.state : VCM_PAGE_EVICTED),
                                                  .fault = failed ? NULL : kinds[outcomes[i].kind],
                                                  .locked_until = until,
                                                  .error = failed ? &outcomes[i].error : NULL},
                       err);
    }
    vcm_kv_read_end(txn);
    return rc;
}

/* The pages that could be had, at the front of `ids`. */
static size_t keep_loaded(struct vcm_page_id *ids, const struct vcm_fault_outcome *outcomes,
                          size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (outcomes[i].rc == VCM_OK)
            ids[kept++] = ids[i];
    return kept;
}

static int load(struct vcm *vcm, struct vcm_fault_outcome *outcomes, const struct vcm_page_id *ids,
                const struct vcm_fault_query *query, struct vcm_error *err)
{
    struct vcm_fault_ticket *ticket = NULL;
    struct vcm_fault_queue *queue = NULL;

    int rc = vcm_fault_open(&queue, vcm->store, WORKERS, err);
    if (rc == VCM_OK)
        rc = vcm_fault_ask(&ticket, queue, ids, (unsigned)query->count, query->priority, err);
    if (rc == VCM_OK)
        vcm_fault_wait(outcomes, ticket);
    vcm_fault_close(queue);
    return rc;
}

int vcm_fault(struct vcm *vcm, const struct vcm_fault_query *query, vcm_page_outcome_fn visit,
              void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"owner", query->owner}, {"reason", query->reason});
    if (rc == VCM_OK)
        rc = vcm_arguments_list("pages", query->pages, query->count, VCM_ARGUMENT_TEXTS, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_fault_outcome *outcomes = NULL;
    struct vcm_page_id *ids = NULL, *locked = NULL;

    rc = vcm_handle_config_once(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_residency_find(&ids, vcm, query->pages, query->count, err);
    if (rc == VCM_OK) {
        outcomes = calloc(query->count, sizeof *outcomes);
        locked = malloc(query->count * sizeof *locked);
        rc = outcomes && locked ? VCM_OK : vcm_error_memory(err);
    }
    if (rc == VCM_OK)
        rc = load(vcm, outcomes, ids, query, err);
    if (rc == VCM_OK && query->lock_ms > 0) {
        memcpy(locked, ids, query->count * sizeof *locked);
        size_t count = keep_loaded(locked, outcomes, query->count);
        if (count > 0)
            rc = lock_pages(vcm, locked, count, query->owner, query->reason, query->lock_ms, err);
    }
    if (rc == VCM_OK)
        rc = visit_outcomes(vcm, ids, query->count, outcomes, visit, context, err);
    free(outcomes);
    free(locked);
    free(ids);
    return vcm_damage_note(vcm, rc, err);
}

int vcm_lock(struct vcm *vcm, const struct vcm_lock_query *query, vcm_page_outcome_fn visit,
             void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"owner", query->owner}, {"reason", query->reason});
    if (rc == VCM_OK)
        rc = vcm_arguments_list("pages", query->pages, query->count, VCM_ARGUMENT_TEXTS, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_page_id *ids = NULL;

    if (query->ttl_ms == 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "a lock needs a time, such as 10m");
    rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_residency_find(&ids, vcm, query->pages, query->count, err);
    if (rc == VCM_OK)
        rc = lock_pages(vcm, ids, query->count, query->owner, query->reason, query->ttl_ms, err);
    if (rc == VCM_OK)
        rc = vcm_residency_visit(vcm, ids, query->count, visit, context, err);
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
        rc = VCM_TEXTS(err, {"owner", query->owner}, {"reason", query->reason});
    if (rc == VCM_OK)
        rc = vcm_arguments_list("pages", query->pages, query->count, VCM_ARGUMENT_TEXTS, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_page_id *ids = NULL;
    const char *owner = query->force ? NULL : query->owner ? query->owner : VCM_RESIDENCY_OWNER;

    rc = vcm_residency_find(&ids, vcm, query->pages, query->count, err);
    if (rc == VCM_OK)
        rc = vcm_lock_release(released, vcm->store, ids, (unsigned)query->count, owner, vcm->cancel,
                              err);
    if (rc == VCM_OK)
        rc = vcm_residency_visit(vcm, ids, query->count, visit, context, err);
    free(ids);
    return vcm_damage_note(vcm, rc, err);
}

int vcm_residency_frame(struct vcm_buf *out, struct vcm *vcm, const struct vcm_page_id *id,
                        struct vcm_error *err)
{
    struct frames frames = {.slices = NULL};

    int rc = gather(&frames, vcm, id, 1, err);
    if (rc == VCM_OK) {
        vcm_buf_append_slice(out, frames.slices[0]);
        rc = vcm_buf_check(out, "a frame", err);
    }
    release(&frames);
    return rc;
}
