#include <stdlib.h>

#include "api/arguments.h"
#include "api/internal.h"
#include "api/names.h"
#include "api/residency.h"

#include "base/banned.h"

int vcm_page_view_open_hit(struct vcm_page_view **out, struct vcm *vcm, const char *page,
                           struct vcm_error *err)
{
    if (out)
        *out = NULL;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out), VCM_ARGUMENT(page));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"page", page});
    if (rc != VCM_OK)
        return rc;
    struct vcm_kv_txn *txn = NULL;
    struct vcm_page_info info = {0};
    struct vcm_page_id id;

    rc = vcm_handle_open_for_reading(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_names_check_page(page, err);
    if (rc == VCM_OK && !vcm->store)
        rc = vcm_names_no_page(page, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_names_find_page(&id, txn, page, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_page(&info, txn, &id, err);
    vcm_kv_read_end(txn);
    if (rc == VCM_NOT_FOUND && (!err || err->code == VCM_OK))
        rc = vcm_names_no_page(page, err);
    if (rc != VCM_OK || info.state != VCM_PAGE_RESIDENT)
        return rc;
    return vcm_page_view_of(out, vcm, &id, err);
}
