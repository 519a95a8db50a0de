#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/names.h"
#include "api/residency.h"
#include "base/limits.h"
#include "vcm/mapping/mapping.h"
#include "vcm/residency/pin.h"

#include "base/banned.h"

/* What a name means: scopes or, if there are none, a page. */
struct meant {
    struct vcm_names_scope name;
    struct vcm_buf scopes; /* ids, each followed by a NUL, and whether it is pinned now */
    bool is_page;
    struct vcm_page_id page;
};

static int take_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct meant *meant = context;

    if (!vcm_names_scope_matches(&meant->name, scope->scope_id))
        return VCM_OK;
    vcm_buf_append_byte(&meant->scopes, scope->pinned ? '1' : '0');
    vcm_buf_append_slice(&meant->scopes, scope->scope_id);
    vcm_buf_append_byte(&meant->scopes, '\0');
    return vcm_buf_check(&meant->scopes, "the list of scopes", err);
}

static int find_page(struct meant *meant, struct vcm_kv_txn *txn, const char *name,
                     struct vcm_error *err)
{
    struct vcm_error no_page = {0};

    meant->is_page = true;
    int rc = vcm_names_find_page(&meant->page, txn, name, &no_page);
    if (rc == VCM_NOT_FOUND || rc == VCM_INVALID_ARGUMENT)
        return vcm_error_set(err, VCM_NOT_FOUND,
                             "no scope or page '%s'; 'vcm scopes' and 'vcm pages' list them", name);
    if (rc != VCM_OK && err)
        *err = no_page;
    return rc;
}

static int find_meant(struct meant *meant, struct vcm *vcm, const char *name, struct vcm_error *err)
{
    struct vcm_error no_scope = {0};
    struct vcm_kv_txn *txn = NULL;

    int rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_names_find_scope(&meant->name, txn, name, true, &no_scope);
    if (rc == VCM_OK)
        rc = vcm_page_store_each_scope(txn, vcm_slice_of_string(meant->name.text), take_scope,
                                       meant, err);
    else if (rc == VCM_NOT_FOUND)
        rc = find_page(meant, txn, name, err);
    else if (err)
        *err = no_scope;
    vcm_kv_handle_read_end(txn);
    return rc;
}

static int pass(vcm_pin_fn visit, void *context, const struct vcm_pin_outcome *outcome,
                struct vcm_error *err)
{
    return visit ? visit(context, outcome, err) : VCM_OK;
}

static int pin_page(struct vcm *vcm, const struct vcm_page_id *id, bool pinned, vcm_pin_fn visit,
                    void *context, struct vcm_error *err)
{
    struct vcm_buf frame = VCM_BUF_INIT(VCM_LIMIT_FRAME_BYTES);
    char hex[VCM_PAGE_ID_HEX + 1];
    bool changed = false;

    vcm_page_id_to_hex(hex, id);
    int rc = pinned ? vcm_fault_frame(&frame, vcm, id, err) : VCM_OK;
    if (rc == VCM_OK)
        rc =
            vcm_pin_page(&changed, vcm->store, id, vcm_buf_slice(&frame), pinned, vcm->cancel, err);
    vcm_buf_release(&frame);
    if (rc != VCM_OK)
        return rc;
    return pass(visit, context, &(struct vcm_pin_outcome){.page_id = hex, .changed = changed}, err);
}

static int pin_scopes(struct vcm *vcm, const struct vcm_buf *scopes, bool pinned, vcm_pin_fn visit,
                      void *context, struct vcm_error *err)
{
    int rc = vcm_handle_open_for_writing(vcm, err);

    for (size_t at = 0; rc == VCM_OK && at < scopes->len;) {
        bool changed = (scopes->data[at] == '1') != pinned;
        const char *id = scopes->data + at + 1;
        rc = vcm_mapping_pin_set(vcm->store, vcm_slice_of_string(id), pinned, vcm->cancel, err);
        if (rc == VCM_OK)
            rc = pass(visit, context, &(struct vcm_pin_outcome){.scope_id = id, .changed = changed},
                      err);
        else
            vcm_error_wrap(err, rc, "%s '%s'", pinned ? "pin" : "unpin", id);
        at += strlen(id) + 2;
    }
    return rc;
}

static int set_pinned(struct vcm *vcm, const char *name, bool pinned, vcm_pin_fn visit,
                      void *context, struct vcm_error *err)
{
    struct meant meant = {.scopes = VCM_BUF_INIT(64 * VCM_MIB)};

    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(name));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"name", name});
    if (rc == VCM_OK)
        rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_handle_open_for_change(vcm, err);
    if (rc == VCM_OK && !vcm->store)
        rc = vcm_names_no_scope(name, err);
    if (rc == VCM_OK)
        rc = find_meant(&meant, vcm, name, err);
    if (rc == VCM_OK && meant.is_page)
        rc = pin_page(vcm, &meant.page, pinned, visit, context, err);
    else if (rc == VCM_OK)
        rc = pin_scopes(vcm, &meant.scopes, pinned, visit, context, err);
    vcm_buf_release(&meant.scopes);
    return vcm_damage_note(vcm, rc, err);
}

int vcm_pin(struct vcm *vcm, const char *name, vcm_pin_fn visit, void *context,
            struct vcm_error *err)
{
    return set_pinned(vcm, name, true, visit, context, err);
}

int vcm_unpin(struct vcm *vcm, const char *name, vcm_pin_fn visit, void *context,
              struct vcm_error *err)
{
    return set_pinned(vcm, name, false, visit, context, err);
}
