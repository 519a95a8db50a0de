#include "vcm/check/salvage.h"

#include "base/limits.h"
#include "base/path.h"
#include "vcm/store/table.h"

#include "base/banned.h"

/* After so many damaged values in a row the rest of a table is given up. */
#define DAMAGED_MAX 1000u

struct salvage {
    const struct vcm_salvage_visitor *visitor;
    struct vcm_kv_txn *txn;
};

typedef int (*visit_fn)(const struct salvage *salvage, struct vcm_slice key, struct vcm_slice value,
                        struct vcm_error *err);

/* Only the pin of its own: the row's is set when the scope is mapped again. */
static int visit_scope(const struct salvage *salvage, struct vcm_slice key, struct vcm_slice value,
                       struct vcm_error *err)
{
    struct vcm_scope scope;

    if (vcm_scope_get(&scope, value, NULL) != VCM_OK)
        return VCM_OK;
    int rc =
        scope.pinned_by_own ? salvage->visitor->scope(salvage->visitor->context, key, err) : VCM_OK;
    vcm_scope_release(&scope);
    return rc;
}

static int visit_lock(const struct salvage *salvage, struct vcm_slice key, struct vcm_slice value,
                      struct vcm_error *err)
{
    struct vcm_lock_info lock;

    if (vcm_lock_get(&lock, key, value, NULL) != VCM_OK)
        return VCM_OK;
    return salvage->visitor->lock(salvage->visitor->context, &lock, err);
}

static int visit_page(const struct salvage *salvage, struct vcm_slice key, struct vcm_slice value,
                      struct vcm_error *err)
{
    struct vcm_page_info info;
    struct vcm_page_id id;

    (void)value;
    if (key.len != sizeof id.bytes)
        return VCM_OK;
    memcpy(id.bytes, key.data, sizeof id.bytes);
    if (vcm_page_store_page(&info, salvage->txn, &id, NULL) != VCM_OK || !info.pinned)
        return VCM_OK;
    return salvage->visitor->page(salvage->visitor->context, &id, err);
}

static int each_value(const struct salvage *salvage, enum vcm_table table, visit_fn visit,
                      struct vcm_error *err)
{
    const struct vcm_salvage_visitor *visitor = salvage->visitor;
    struct vcm_kv_cursor *cursor = NULL;
    struct vcm_slice key, value;
    unsigned damaged = 0;

    int rc = vcm_kv_cursor_open(&cursor, salvage->txn, table, err);
    if (rc != VCM_OK)
        return rc;
    int at = vcm_kv_cursor_seek(&key, &value, cursor, vcm_slice_of("", 0), NULL);
    while (rc == VCM_OK && (at == VCM_OK || (at == VCM_STORE_CORRUPT && damaged < DAMAGED_MAX))) {
        damaged = at == VCM_OK ? 0 : damaged + 1;
        if (at == VCM_OK)
            rc = visit(salvage, key, value, err);
        if (rc == VCM_OK)
            rc = visitor->alive(visitor->context, err);
        at = vcm_kv_cursor_next(&key, &value, cursor, NULL);
    }
    vcm_kv_cursor_close(cursor);
    return rc;
}

int vcm_salvage_run(const char *directory, const struct vcm_salvage_visitor *visitor,
                    struct vcm_error *err)
{
    struct vcm_buf lock = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct salvage salvage = {.visitor = visitor};
    struct vcm_kv *kv = NULL;

    vcm_path_join(&lock, directory, VCM_PAGE_STORE_LOCK);
    int rc = vcm_buf_check(&lock, "the path of the store", err);
    if (rc == VCM_OK)
        rc = vcm_kv_handle_open(&kv,
                                &(struct vcm_kv_options){
                                    .directory = directory,
                                    .lock_path = vcm_buf_text(&lock),
                                    .tables = vcm_table_names,
                                    .read_only = true,
                                    .salvage = true,
                                },
                                err);
    if (rc == VCM_OK)
        rc = vcm_kv_handle_read_begin(&salvage.txn, kv, err);
    /* The largest table, in which damage is most likely, comes last. */
    if (rc == VCM_OK)
        rc = each_value(&salvage, VCM_TABLE_SCOPES, visit_scope, err);
    if (rc == VCM_OK)
        rc = each_value(&salvage, VCM_TABLE_LOCKS, visit_lock, err);
    if (rc == VCM_OK)
        rc = each_value(&salvage, VCM_TABLE_PAGES, visit_page, err);
    vcm_kv_handle_read_end(salvage.txn);
    vcm_kv_handle_close(kv);
    vcm_buf_release(&lock);
    return rc;
}
