#include "api/page_view.h"

#include <stdlib.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/mark.h"
#include "api/names.h"
#include "api/residency.h"
#include "base/process.h"

#include "base/banned.h"

struct view {
    struct vcm_page_view public;
    uint32_t mark;
    char page_id[VCM_PAGE_ID_HEX + 1];
    struct vcm_view *view;
    unsigned forks; /* count of forks when it was opened */
};

void vcm_page_view_give_back(struct vcm_view *view, unsigned forks)
{
    if (view && forks == vcm_process_forks())
        vcm_view_release(view);
}

/* Opens a view of a page that was found by name. NOT_FOUND when it was removed since. */
static int open_found(struct vcm_page_view **out, struct vcm *vcm, const struct vcm_page_id *id,
                      struct vcm_error *err)
{
    *out = NULL;
    struct view *view = calloc(1, sizeof *view);
    if (!view)
        return vcm_error_memory(err);
    view->mark = VCM_MARK_HELD;
    view->forks = vcm_process_forks();
    int rc = vcm_view_open(&view->view, vcm->cache, id, VCM_VIEW_BUSY, err);
    vcm_page_id_to_hex(view->page_id, id);
    if (rc == VCM_NOT_FOUND && (!err || err->code == VCM_OK))
        rc = vcm_names_no_page(view->page_id, err);
    if (rc == VCM_OK) {
        view->public.page_id = view->page_id;
        view->public.data = vcm_view_bytes(view->view).data;
        view->public.bytes = vcm_view_bytes(view->view).len;
        *out = &view->public;
    } else {
        free(view);
    }
    return vcm_damage_note(vcm, rc, err);
}

int vcm_page_view_open(struct vcm_page_view **out, struct vcm *vcm, const char *name,
                       struct vcm_error *err)
{
    if (out)
        *out = NULL;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out), VCM_ARGUMENT(name));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"name", name});
    if (rc != VCM_OK)
        return rc;
    struct vcm_page_id *id = NULL;

    rc = vcm_residency_find(&id, vcm, &name, 1, err);
    if (rc == VCM_OK)
        rc = open_found(out, vcm, id, err);
    free(id);
    return rc;
}

void vcm_page_view_release(struct vcm_page_view *view)
{
    struct view *whole = (struct view *)view;

    if (!whole)
        return;
    vcm_mark_give_back(&whole->mark);
    vcm_page_view_give_back(whole->view, whole->forks);
    free(whole);
}

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
    vcm_kv_handle_read_end(txn);
    if (rc == VCM_NOT_FOUND && (!err || err->code == VCM_OK))
        rc = vcm_names_no_page(page, err);
    if (rc != VCM_OK || info.state != VCM_PAGE_RESIDENT)
        return rc;
    return open_found(out, vcm, &id, err);
}
