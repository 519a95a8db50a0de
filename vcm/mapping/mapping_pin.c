/*
 * Pins or unpins a scope: copies its table into one that is pinned, or is not.
 *
 * A scope is pinned by its row, which every map sets as the row says, and by a pin of its own,
 * which stays until it is taken away. Its table is pinned while it has one of them.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "vcm/residency/lock.h"
#include "vcm/mapping/mapping.h"
#include "vcm/mapping/mapping_former.h"
#include "vcm/residency/rebuild.h"
#include "vcm/store/table.h"
#include "vcm/residency/transition.h"

#include "base/banned.h"

struct copy {
    struct vcm_page_store *store;
    struct vcm_rebuild *rebuild;
    struct vcm_kv_txn *txn;
    struct vcm_mapping *to;
    struct vcm_scope former;
    struct vcm_scope scope; /* as it is to become; its texts are those of `former` */
};

static int copy_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct copy *copy = context;
    struct vcm_buf frame = VCM_BUF_INIT(VCM_LIMIT_FRAME_BYTES);
    struct vcm_page_built page = {.id = row->id};
    struct vcm_page_record *records = NULL;
    struct vcm_page_info info;

    int rc = vcm_page_store_page(&info, copy->txn, &row->id, err);
    if (rc == VCM_NOT_FOUND)
        return vcm_table_malformed("a row of a page table", err);
    if (rc == VCM_OK)
        rc = vcm_page_get_records(&records, &page.record_count, row->records, err);
    if (rc == VCM_OK)
        rc = vcm_rebuild_frame(&frame, copy->rebuild, copy->txn, &info, err);
    if (rc == VCM_OK) {
        page.records = records;
        page.tokens = info.tokens;
        page.is_volatile = info.is_volatile;
        page.frame = vcm_buf_slice(&frame);
        rc = vcm_mapping_add_page(copy->to, &page, err);
    }
    free(records);
    vcm_buf_release(&frame);
    return rc;
}

static int copy_omission(void *context, const struct vcm_page_omission *omission,
                         struct vcm_error *err)
{
    struct copy *copy = context;
    return vcm_mapping_add_omission(copy->to, omission, err);
}

struct need {
    struct copy *copy;
    uint64_t now_ms;
    uint64_t bytes; /* of pages that are neither pinned nor locked yet */
};

static int add_need(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct need *need = context;
    struct vcm_kv_txn *txn = need->copy->txn;
    struct vcm_page_info info;
    uint32_t first_seq = row->seq;
    uint64_t until = 0;

    int rc = vcm_page_table_first_seq(&first_seq, txn, &row->id, need->copy->scope.mapping, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_page(&info, txn, &row->id, err);
    if (rc == VCM_OK)
        rc = vcm_lock_until(&until, txn, &row->id, need->now_ms, err);
    if (rc == VCM_NOT_FOUND)
        return vcm_table_malformed("a row of a page table", err);
    if (rc == VCM_OK && first_seq == row->seq && until == 0 && !vcm_page_store_is_kept(&info))
        need->bytes += info.bytes;
    return rc;
}

/* Runs before any page is evicted, so that a refusal leaves the store as it was. */
static int check_room(struct copy *copy, struct vcm_error *err)
{
    struct need need = {.copy = copy, .now_ms = vcm_clock_wall_ms()};
    struct vcm_page_store_limits limits;
    struct vcm_page_totals totals;
    uint64_t locked = 0;

    int rc = vcm_page_store_read_limits(&limits, copy->store, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_totals(&totals, copy->txn, err);
    if (rc == VCM_OK)
        rc = vcm_lock_bytes(&locked, copy->txn, need.now_ms, err);
    if (rc == VCM_OK)
        rc = vcm_page_table_each_row(copy->txn, copy->scope.mapping, 0, add_need, &need, err);
    if (rc != VCM_OK)
        return rc;
    uint64_t needed = totals.pinned_bytes + locked + need.bytes;
    return needed > limits.capacity ? vcm_transition_too_much(needed, limits.capacity, err)
                                    : VCM_OK;
}

static int read_scope(struct copy *copy, struct vcm_buf *tokenizer, struct vcm_slice scope_id,
                      struct vcm_error *err)
{
    int rc = vcm_page_store_read_begin(&copy->txn, copy->store, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_scope(&copy->former, copy->txn, scope_id, err);
    copy->scope = copy->former;
    if (rc == VCM_NOT_FOUND)
        return vcm_error_set(err, VCM_NOT_FOUND, "no scope '%.*s' is mapped", (int)scope_id.len,
                             scope_id.data);
    return rc == VCM_OK ? vcm_page_store_tokenizer(tokenizer, copy->txn, err) : rc;
}

/* The read transaction on the old table stays open while the new one is written, so the old table
 * does not change under the copy. */
static int copy_table(struct copy *copy, const char *tokenizer, const struct vcm_cancel *cancel,
                      struct vcm_error *err)
{
    struct vcm_mapping_result result;

    int rc = copy->scope.pinned ? check_room(copy, err) : VCM_OK;
    if (rc == VCM_OK)
        rc = vcm_rebuild_open(&copy->rebuild, copy->store, err);
    if (rc == VCM_OK)
        rc = vcm_mapping_begin(&copy->to, copy->store,
                               &(struct vcm_mapping_options){.scope_id = copy->scope.scope_id,
                                                             .tokenizer = tokenizer,
                                                             .pinned = copy->scope.pinned,
                                                             .former = &copy->former,
                                                             .cancel = cancel},
                               err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_page_table_each_row(copy->txn, copy->scope.mapping, 0, copy_row, copy, err);
    if (rc == VCM_OK)
        rc = vcm_page_table_each_omission(copy->txn, copy->scope.mapping, copy_omission, copy, err);
    vcm_kv_handle_read_end(copy->txn);
    copy->txn = NULL;
    if (rc == VCM_OK)
        return vcm_mapping_commit(copy->to, &copy->scope, &result, err);
    vcm_mapping_abort(copy->to);
    return rc;
}

enum pin { PIN_OF_ROW, PIN_OF_ITS_OWN };

/* Who takes away the pin of a scope wants it unpinned: the row pins it again when it is mapped. */
static void set_pins(struct vcm_scope *scope, enum pin pin, bool pinned)
{
    if (pin == PIN_OF_ITS_OWN)
        scope->pinned_by_own = pinned;
    if (pin == PIN_OF_ROW || !pinned)
        scope->pinned_by_row = pinned;
    scope->pinned = scope->pinned_by_row || scope->pinned_by_own;
}

/* VCM_RETRY when the scope changed meanwhile. */
static int try_pin(struct vcm_page_store *store, struct vcm_slice scope_id, enum pin pin,
                   bool pinned, const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct vcm_buf tokenizer = VCM_BUF_INIT(64);
    struct copy copy = {.store = store};

    int rc = read_scope(&copy, &tokenizer, scope_id, err);
    if (rc == VCM_OK) {
        const struct vcm_scope *former = &copy.former;
        set_pins(&copy.scope, pin, pinned);
        if (copy.scope.pinned != former->pinned)
            rc = copy_table(&copy, vcm_buf_text(&tokenizer), cancel, err);
        else if (copy.scope.pinned_by_row != former->pinned_by_row ||
                 copy.scope.pinned_by_own != former->pinned_by_own)
            rc = vcm_mapping_former_replace(store, former, &copy.scope, cancel, err);
    }
    vcm_kv_handle_read_end(copy.txn);
    vcm_rebuild_close(copy.rebuild);
    vcm_scope_release(&copy.former);
    vcm_buf_release(&tokenizer);
    return rc;
}

static int set_pin(struct vcm_page_store *store, struct vcm_slice scope_id, enum pin pin,
                   bool pinned, const struct vcm_cancel *cancel, struct vcm_error *err)
{
    int rc = VCM_RETRY;

    for (unsigned i = 0; rc == VCM_RETRY && i < VCM_MAPPING_FORMER_TRIES; i++)
        rc = try_pin(store, scope_id, pin, pinned, cancel, err);
    return rc == VCM_RETRY ? vcm_mapping_former_give_up(scope_id, err) : rc;
}

int vcm_mapping_pin_set(struct vcm_page_store *store, struct vcm_slice scope_id, bool pinned,
                        const struct vcm_cancel *cancel, struct vcm_error *err)
{
    return set_pin(store, scope_id, PIN_OF_ITS_OWN, pinned, cancel, err);
}

int vcm_mapping_pin_set_by_row(struct vcm_page_store *store, struct vcm_slice scope_id, bool pinned,
                               const struct vcm_cancel *cancel, struct vcm_error *err)
{
    return set_pin(store, scope_id, PIN_OF_ROW, pinned, cancel, err);
}
