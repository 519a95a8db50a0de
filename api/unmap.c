#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "api/kb_internal.h"
#include "api/names.h"
#include "api/roster.h"
#include "base/limits.h"
#include "vcm/mapping/mapping.h"

#include "base/banned.h"

struct selection {
    struct vcm_names_scope name;
    struct vcm_buf ids; /* each followed by a NUL */
};

static int select_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct selection *selection = context;

    (void)err;
    if (vcm_names_scope_matches(&selection->name, scope->scope_id)) {
        vcm_buf_append_slice(&selection->ids, scope->scope_id);
        vcm_buf_append_byte(&selection->ids, '\0');
    }
    return VCM_OK;
}

static int find_scopes(struct selection *selection, struct vcm *vcm, const char *scope,
                       struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;

    int rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_names_find_scope(&selection->name, txn, scope, true, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_each_scope(txn, vcm_slice_of_string(selection->name.text), select_scope,
                                       selection, err);
    vcm_kv_handle_read_end(txn);
    return rc == VCM_OK ? vcm_buf_check(&selection->ids, "the list of scopes", err) : rc;
}

int vcm_unmap_one(struct vcm *vcm, const char *scope_id, struct vcm_error *err)
{
    int rc = vcm_handle_open_for_writing(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_roster_forget(NULL, vcm, scope_id, err);
    if (rc == VCM_OK)
        rc = vcm_mapping_drop_scope(vcm->store, vcm_slice_of_string(scope_id), vcm->cancel, err);
    if (rc == VCM_OK)
        vcm_kb_texts_forget_scope(vcm, scope_id);
    return rc;
}

int vcm_unmap_lost(bool *listed, struct vcm *vcm, const char *scope_id, struct vcm_error *err)
{
    bool exists = false;

    if (listed)
        *listed = false;
    int rc = vcm_handle_look_at_home(&exists, vcm, err);
    return rc == VCM_OK && exists ? vcm_roster_forget(listed, vcm, scope_id, err) : rc;
}

static int forget_lost(struct selection *selection, struct vcm *vcm, const char *scope,
                       struct vcm_error *err)
{
    bool listed;

    vcm_error_reset(err);
    int rc = vcm_unmap_lost(&listed, vcm, scope, err);
    if (rc == VCM_OK && !listed)
        rc = vcm_names_no_scope(scope, err);
    if (rc == VCM_OK) {
        vcm_kb_texts_forget_scope(vcm, scope);
        vcm_buf_append(&selection->ids, scope, strlen(scope) + 1);
        rc = vcm_buf_check(&selection->ids, "the list of scopes", err);
    }
    return rc;
}

int vcm_unmap(struct vcm *vcm, const char *scope, vcm_unmapped_fn visit, void *context,
              struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(scope));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"scope", scope});
    if (rc != VCM_OK)
        return rc;
    struct selection selection = {.ids = VCM_BUF_INIT(64 * VCM_MIB)};

    rc = vcm_handle_open_for_change(vcm, err);
    if (rc == VCM_OK)
        rc = vcm->store ? find_scopes(&selection, vcm, scope, err) : VCM_NOT_FOUND;
    bool lost = rc == VCM_NOT_FOUND;
    if (lost)
        rc = forget_lost(&selection, vcm, scope, err);
    for (size_t at = 0; rc == VCM_OK && at < selection.ids.len;) {
        const char *id = selection.ids.data + at;
        if (!lost)
            rc = vcm_unmap_one(vcm, id, err);
        if (rc == VCM_OK && visit)
            rc = visit(context, id, err);
        at += strlen(id) + 1;
    }
    vcm_buf_release(&selection.ids);
    return rc;
}
