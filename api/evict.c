#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/names.h"
#include "api/residency.h"
#include "base/limits.h"
#include "vcm/residency/pin.h"

#include "base/banned.h"

#define BATCH 256u

/* The pages to evict, collected before the first one is evicted. */
struct selection {
    struct vcm_kv_txn *txn;
    struct vcm_names_scope name;
    struct vcm_buf ids;
};

static int take_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct selection *selection = context;

    vcm_buf_append(&selection->ids, row->id.bytes, sizeof row->id.bytes);
    return vcm_buf_check(&selection->ids, "a list of pages", err);
}

static int take_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct selection *selection = context;

    if (selection->name.text[0] != '\0' &&
        !vcm_names_scope_matches(&selection->name, scope->scope_id))
        return VCM_OK;
    return vcm_page_table_each_row(selection->txn, scope->mapping, 0, take_row, selection, err);
}

static int select_pages(struct selection *selection, struct vcm *vcm,
                        const struct vcm_evict_query *query, struct vcm_error *err)
{
    struct vcm_page_id *named = NULL;

    if (query->count > 0) {
        int rc = vcm_residency_find(&named, vcm, query->pages, query->count, err);
        for (size_t i = 0; rc == VCM_OK && i < query->count; i++)
            vcm_buf_append(&selection->ids, named[i].bytes, sizeof named[i].bytes);
        free(named);
        return rc == VCM_OK ? vcm_buf_check(&selection->ids, "a list of pages", err) : rc;
    }
    int rc = vcm_handle_open_for_change(vcm, err);
    if (rc == VCM_OK && !vcm->store)
        return query->scope ? vcm_names_no_scope(query->scope, err) : VCM_OK;
    if (rc == VCM_OK)
        rc = vcm_page_store_read_begin(&selection->txn, vcm->store, err);
    if (rc == VCM_OK && query->scope)
        rc = vcm_names_find_scope(&selection->name, selection->txn, query->scope, true, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_each_scope(selection->txn, vcm_slice_of_string(selection->name.text),
                                       take_scope, selection, err);
    vcm_kv_handle_read_end(selection->txn);
    selection->txn = NULL;
    return rc;
}

static int report(struct vcm_evict_result *result, const struct vcm_pin_departure *departure,
                  bool is_named, vcm_page_outcome_fn visit, void *context, struct vcm_error *err)
{
    static const char *const hindrances[] = {[VCM_PIN_NONE] = NULL,
                                             [VCM_PIN_PINNED] = "pinned",
                                             [VCM_PIN_LOCKED] = "locked",
                                             [VCM_PIN_VIEWED] = "viewed",
                                             [VCM_PIN_VOLATILE] = "volatile"};
    char hex[VCM_PAGE_ID_HEX + 1];
    bool went = departure->before != departure->after;

    result->pages_compressed += went && departure->after == VCM_PAGE_COMPRESSED;
    result->pages_evicted += went && departure->after == VCM_PAGE_EVICTED;
    result->pages_stayed += departure->hindrance != VCM_PIN_NONE;
    if (!visit || !departure->is_known || (!is_named && departure->hindrance == VCM_PIN_NONE))
        return VCM_OK;
    vcm_page_id_to_hex(hex, &departure->id);
    return visit(context,
                 &(struct vcm_page_outcome){.page_id = hex,
                                            .state = vcm_residency_state_name(departure->after),
                                            .stays = hindrances[departure->hindrance]},
                 err);
}

static int send_down(struct vcm_evict_result *result, struct vcm *vcm,
                     const struct selection *selection, enum vcm_page_state target, bool is_named,
                     vcm_page_outcome_fn visit, void *context, struct vcm_error *err)
{
    struct vcm_pin_departure departures[BATCH];
    struct vcm_page_id ids[BATCH];
    int rc = VCM_OK;

    for (size_t at = 0; rc == VCM_OK && at < selection->ids.len;) {
        unsigned count = 0;
        for (; count < BATCH && at < selection->ids.len; at += sizeof ids[0].bytes)
            memcpy(ids[count++].bytes, selection->ids.data + at, sizeof ids[0].bytes);
        rc = vcm_pin_send_down(departures, vcm->store, ids, count, target, vcm->cancel, err);
        for (unsigned i = 0; rc == VCM_OK && i < count; i++)
            rc = report(result, &departures[i], is_named, visit, context, err);
    }
    return rc;
}

int vcm_evict(struct vcm_evict_result *result, struct vcm *vcm, const struct vcm_evict_query *query,
              vcm_page_outcome_fn visit, void *context, struct vcm_error *err)
{
    if (result)
        memset(result, 0, sizeof *result);
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(result), VCM_ARGUMENT(query));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"scope", query->scope}, {"target", query->target});
    if (rc == VCM_OK)
        rc = vcm_arguments_list("pages", query->pages, query->count, VCM_ARGUMENT_TEXTS, err);
    if (rc != VCM_OK)
        return rc;
    struct selection selection = {.ids = VCM_BUF_INIT(16 * VCM_GIB)};
    enum vcm_page_state target = VCM_PAGE_COMPRESSED;

    if ((query->count > 0) + (query->scope != NULL) + query->all != 1)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "give pages, a scope, or all");
    if (query->target && strcmp(query->target, "evicted") == 0)
        target = VCM_PAGE_EVICTED;
    else if (query->target && strcmp(query->target, "compressed") != 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "the target is 'compressed' or 'evicted', not '%s'", query->target);
    rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = select_pages(&selection, vcm, query, err);
    if (rc == VCM_OK)
        rc = send_down(result, vcm, &selection, target, query->count > 0, visit, context, err);
    vcm_buf_release(&selection.ids);
    return vcm_damage_note(vcm, rc, err);
}
