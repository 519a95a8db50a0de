#include "vcm/mapping/mapping_drop.h"

#include "base/limits.h"
#include "vcm/mapping/mapping.h"
#include "vcm/mapping/mapping_lock.h"
#include "vcm/store/table.h"
#include "vcm/residency/transition.h"

#include "base/banned.h"

/* How much one transaction deletes. Entries of a mapping are neighbours in their table; the page
 * and the holder of a row are anywhere, so a row costs more. */
#define DROP_BUDGET 8000u
#define ROW_COST    4u
/* After so many rows the memory of the store's map is released. */
#define TRIM_EACH 128u

struct drop {
    uint64_t mapping;
    uint64_t successor;
    bool pinned;
    uint64_t dropped; /* in the transaction under way */
    bool finished;
};

/* A holder of a mapping in any state counts: a page of a table that is being built must stay. */
static int page_is_held(bool *held, struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                        struct vcm_error *err)
{
    struct vcm_kv_cursor *cursor = NULL;
    struct vcm_slice key, value;

    *held = false;
    int rc = vcm_kv_cursor_open(&cursor, txn, VCM_TABLE_HOLDERS, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_kv_cursor_seek(&key, &value, cursor, vcm_table_id_key(id), err);
    if (rc == VCM_OK)
        *held = key.len >= sizeof id->bytes && memcmp(key.data, id->bytes, sizeof id->bytes) == 0;
    else if (rc == VCM_NOT_FOUND)
        rc = VCM_OK;
    vcm_kv_cursor_close(cursor);
    return rc;
}

static int count_other_holder(void *context, struct vcm_slice key, struct vcm_slice value,
                              struct vcm_error *err)
{
    uint64_t *others = context; /* [0] is the mapping that does not count, [1] the count */

    (void)value;
    if (key.len != VCM_HOLDER_KEY_BYTES)
        return vcm_table_malformed("a holder of a page", err);
    others[1] +=
        vcm_wire_load_be64((const unsigned char *)key.data + VCM_PAGE_ID_BYTES) != others[0];
    return VCM_OK;
}

int vcm_mapping_drop_is_only_holder(bool *only, struct vcm_kv_txn *txn,
                                    const struct vcm_page_id *id, uint64_t mapping,
                                    struct vcm_error *err)
{
    struct vcm_slice prefix = vcm_table_id_key(id);
    uint64_t others[2] = {mapping, 0};

    int rc =
        vcm_table_each(txn, VCM_TABLE_HOLDERS, prefix, prefix, count_other_holder, others, err);
    *only = others[1] == 0;
    return rc;
}

int vcm_mapping_drop_retire(struct vcm_kv_txn *txn, uint64_t mapping, struct vcm_error *err)
{
    char scope_id[VCM_LIMIT_SCOPE_ID_BYTES];
    struct vcm_mapping_info info;

    int rc = vcm_page_table_get_mapping(&info, txn, mapping, err);
    if (rc == VCM_NOT_FOUND || (rc == VCM_OK && info.scope_id.len > sizeof scope_id))
        return vcm_table_malformed("a mapping", err);
    if (rc != VCM_OK)
        return rc;
    memcpy(scope_id, info.scope_id.data, info.scope_id.len);
    info.scope_id.data = scope_id;
    info.state = VCM_MAPPING_DROPPING;
    return vcm_page_table_put_mapping(txn, mapping, &info, err);
}

static int note_worktree(void *context, const struct vcm_page_holder *holder, struct vcm_error *err)
{
    (void)err;
    *(bool *)context = *(bool *)context || vcm_scope_is_worktree(holder->scope_id);
    return VCM_OK;
}

/* A volatile page has lost a holder: what is held by commits alone can be rebuilt from them. */
static int settle_volatile(struct vcm_transition *t, struct vcm_page_info *info,
                           struct vcm_error *err)
{
    bool found = false;

    int rc = vcm_page_table_each_holder(t->txn, &info->id, note_worktree, &found, err);
    return rc == VCM_OK && !found ? vcm_transition_set_volatile(t, info, false, err) : rc;
}

int vcm_mapping_drop_page(struct vcm_transition *t, const struct vcm_page_id *id, bool pinned,
                          struct vcm_error *err)
{
    struct vcm_page_info info;
    bool held;

    int rc = vcm_page_store_page(&info, t->txn, id, err);
    if (rc == VCM_NOT_FOUND)
        return vcm_table_malformed("a row of a page table", err);
    if (rc == VCM_OK && pinned)
        rc = vcm_transition_pin(t, &info, -1, info.pinned, err);
    if (rc == VCM_OK)
        rc = page_is_held(&held, t->txn, id, err);
    if (rc == VCM_OK && held && info.is_volatile)
        return settle_volatile(t, &info, err);
    return rc == VCM_OK && !held ? vcm_transition_forget(t, &info, err) : rc;
}

/* Deletes the mapping's holder of the page. The holder counts all occurrences, so the first row of
 * the page that is dropped releases it, and later rows find no holder. */
static int release_page(struct drop *drop, struct vcm_transition *t, const struct vcm_page_id *id,
                        struct vcm_error *err)
{
    unsigned char key[VCM_HOLDER_KEY_BYTES];
    uint32_t occurrences, first_seq;

    int rc =
        vcm_kv_delete(t->txn, VCM_TABLE_HOLDERS, vcm_table_holder_key(key, id, drop->mapping), err);
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc == VCM_OK && drop->successor != 0)
        rc = vcm_page_table_get_holder(&occurrences, &first_seq, t->txn, id, drop->successor, err);
    else if (rc == VCM_OK)
        rc = VCM_NOT_FOUND;
    if (rc == VCM_NOT_FOUND) {
        drop->dropped++;
        rc = VCM_OK;
    }
    return rc == VCM_OK ? vcm_mapping_drop_page(t, id, drop->pinned, err) : rc;
}

/* Deletes entries of one table that belong to the mapping until *budget is used up. */
static int drop_entries(struct drop *drop, struct vcm_transition *t, enum vcm_table table,
                        unsigned *budget, struct vcm_error *err)
{
    const unsigned cost = table == VCM_TABLE_ROWS ? ROW_COST : 1;
    struct vcm_kv_cursor *cursor = NULL;
    struct vcm_slice key, value;
    unsigned char start[VCM_ROW_KEY_BYTES];
    int rc = VCM_OK;

    while (rc == VCM_OK && *budget > 0) {
        struct vcm_page_id id;
        rc = vcm_kv_cursor_open(&cursor, t->txn, table, err);
        if (rc != VCM_OK)
            return rc;
        rc = vcm_kv_cursor_seek(&key, &value, cursor, vcm_table_row_key(start, drop->mapping, 0),
                                err);
        if (rc == VCM_OK && (key.len < VCM_ROW_KEY_BYTES || memcmp(key.data, start, 8) != 0))
            rc = VCM_NOT_FOUND;
        if (rc == VCM_OK && table == VCM_TABLE_ROWS) {
            if (value.len < sizeof id.bytes)
                rc = vcm_table_malformed("a row of a page table", err);
            else
                memcpy(id.bytes, value.data, sizeof id.bytes);
        }
        if (rc == VCM_OK)
            rc = vcm_kv_cursor_delete(cursor, err);
        vcm_kv_cursor_close(cursor);
        if (rc == VCM_OK && table == VCM_TABLE_ROWS)
            rc = release_page(drop, t, &id, err);
        if (table == VCM_TABLE_ROWS && *budget / ROW_COST % TRIM_EACH == 0)
            vcm_kv_trim(t->store->kv);
        *budget -= cost < *budget ? cost : *budget;
    }
    return rc == VCM_NOT_FOUND && (!err || err->code == VCM_OK) ? VCM_OK : rc;
}

struct selection {
    struct vcm_kv_txn *txn;
    vcm_mapping_needs_fn needs;
    void *context;
    struct vcm_buf rows; /* seq and page id of those that are not needed */
};

static int select_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct selection *selection = context;
    bool needed = true;

    int rc = selection->needs(&needed, selection->context, selection->txn, &row->id, err);
    if (rc != VCM_OK || needed)
        return rc;
    vcm_buf_append(&selection->rows, &row->seq, sizeof row->seq);
    vcm_buf_append(&selection->rows, row->id.bytes, sizeof row->id.bytes);
    return vcm_buf_check(&selection->rows, "rows of a page table", err);
}

int vcm_mapping_drop_rows(uint64_t *dropped, struct vcm_transition *t, uint64_t mapping,
                          vcm_mapping_needs_fn needs, void *context, struct vcm_error *err)
{
    struct selection selection = {t->txn, needs, context, VCM_BUF_INIT(VCM_GIB)};
    struct drop drop = {.mapping = mapping};
    struct vcm_mapping_info info;
    unsigned char key[VCM_ROW_KEY_BYTES];
    struct vcm_page_id id;
    uint32_t seq;

    int rc = vcm_page_table_get_mapping(&info, t->txn, mapping, err);
    if (rc == VCM_NOT_FOUND)
        rc = vcm_table_malformed("a mapping", err);
    drop.pinned = rc == VCM_OK && info.pinned;
    if (rc == VCM_OK)
        rc = vcm_page_table_each_row(t->txn, mapping, 0, select_row, &selection, err);
    for (size_t at = 0; rc == VCM_OK && at < selection.rows.len; at += sizeof seq + sizeof id) {
        memcpy(&seq, selection.rows.data + at, sizeof seq);
        memcpy(&id, selection.rows.data + at + sizeof seq, sizeof id);
        rc = vcm_kv_delete(t->txn, VCM_TABLE_ROWS, vcm_table_row_key(key, mapping, seq), err);
        if (rc == VCM_OK)
            rc = release_page(&drop, t, &id, err);
    }
    *dropped = drop.dropped;
    vcm_buf_release(&selection.rows);
    return rc;
}

static int drop_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    static const enum vcm_table tables[] = {VCM_TABLE_ROWS, VCM_TABLE_OMISSIONS, VCM_TABLE_PATHS};
    struct drop *drop = context;
    struct vcm_mapping_info info;
    unsigned budget = DROP_BUDGET;
    unsigned char key[8];

    drop->dropped = 0;
    drop->finished = true;
    /* The caller found the mapping unfinished in an earlier transaction. Since then its builder may
     * have published it, or another process may have dropped it. */
    int rc = vcm_page_table_get_mapping(&info, t->txn, drop->mapping, err);
    if (rc == VCM_NOT_FOUND || (rc == VCM_OK && info.state == VCM_MAPPING_IN_FORCE))
        return VCM_OK;
    drop->finished = false;
    drop->pinned = info.pinned;
    for (size_t i = 0; rc == VCM_OK && budget > 0 && i < sizeof tables / sizeof tables[0]; i++)
        rc = drop_entries(drop, t, tables[i], &budget, err);
    if (rc != VCM_OK || budget == 0)
        return rc;
    drop->finished = true;
    vcm_wire_store_be64(key, drop->mapping);
    rc = vcm_kv_delete(t->txn, VCM_TABLE_MAPPINGS, vcm_slice_of(key, sizeof key), err);
    if (rc == VCM_OK)
        rc = vcm_transition_sweep_orphans(t, err);
    return rc == VCM_OK ? vcm_dictionary_sweep(t->txn, err) : rc;
}

int vcm_mapping_drop(uint64_t *dropped, struct vcm_page_store *store, uint64_t mapping,
                     uint64_t successor, unsigned timeout_ms, const struct vcm_cancel *cancel,
                     struct vcm_error *err)
{
    struct drop drop = {.mapping = mapping, .successor = successor};
    int rc = VCM_OK;

    *dropped = 0;
    while (rc == VCM_OK && !drop.finished) {
        rc = vcm_transition_run(store, drop_change, &drop, timeout_ms, cancel, err);
        vcm_kv_trim(store->kv);
        if (rc == VCM_OK)
            *dropped += drop.dropped;
    }
    return rc;
}

struct search {
    int lock_fd;
    uint64_t found; /* 0 for none */
};

/* Finds one abandoned mapping, in a read transaction of its own. */
static int find_abandoned(struct search *search, struct vcm_page_store *store,
                          struct vcm_error *err)
{
    struct vcm_kv_cursor *cursor = NULL;
    struct vcm_kv_txn *txn = NULL;
    struct vcm_slice key, value;

    search->found = 0;
    int rc = vcm_kv_handle_read_begin(&txn, store->kv, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_kv_cursor_open(&cursor, txn, VCM_TABLE_MAPPINGS, err);
    if (rc == VCM_OK)
        rc = vcm_kv_cursor_seek(&key, &value, cursor, vcm_slice_of("", 0), err);
    while (rc == VCM_OK && search->found == 0) {
        if (key.len != 8 || value.len < 1) {
            rc = vcm_table_malformed("a mapping", err);
            break;
        }
        uint64_t number = vcm_wire_load_be64((const unsigned char *)key.data);
        enum vcm_mapping_state state = (unsigned char)value.data[0];
        if (state != VCM_MAPPING_IN_FORCE && vcm_mapping_lock_is_free(search->lock_fd, number))
            search->found = number;
        else
            rc = vcm_kv_cursor_next(&key, &value, cursor, err);
    }
    vcm_kv_cursor_close(cursor);
    vcm_kv_handle_read_end(txn);
    return rc == VCM_NOT_FOUND && (!err || err->code == VCM_OK) ? VCM_OK : rc;
}

int vcm_mapping_drop_abandoned(struct vcm_page_store *store, int lock_fd,
                               const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct search search = {.lock_fd = lock_fd};
    int rc;

    do {
        uint64_t dropped;
        rc = find_abandoned(&search, store, err);
        if (rc == VCM_OK && search.found != 0) {
            vcm_log_write(store->log, VCM_LOG_INFO,
                          "dropping page table %llu, which a process left unfinished",
                          (unsigned long long)search.found);
            rc = vcm_mapping_drop(&dropped, store, search.found, 0, VCM_LIMIT_LOCK_TIMEOUT_MS,
                                  cancel, err);
        }
    } while (rc == VCM_OK && search.found != 0);
    return rc;
}

struct removal {
    struct vcm_slice scope_id;
    uint64_t mapping;
};

static int remove_change(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct removal *removal = context;
    struct vcm_scope scope;

    int rc = vcm_page_store_scope(&scope, txn, removal->scope_id, err);
    if (rc == VCM_NOT_FOUND)
        return vcm_error_set(err, VCM_NOT_FOUND, "no scope '%.*s' is mapped",
                             (int)removal->scope_id.len, removal->scope_id.data);
    if (rc != VCM_OK)
        return rc;
    removal->mapping = scope.mapping;
    vcm_scope_release(&scope);
    rc = vcm_mapping_drop_retire(txn, removal->mapping, err);
    return rc == VCM_OK ? vcm_kv_delete(txn, VCM_TABLE_SCOPES, removal->scope_id, err) : rc;
}

int vcm_mapping_drop_scope(struct vcm_page_store *store, struct vcm_slice scope_id,
                           const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct removal removal = {.scope_id = scope_id};
    uint64_t dropped;

    int rc = vcm_kv_handle_update(store->kv, remove_change, &removal, VCM_LIMIT_LOCK_TIMEOUT_MS,
                                  cancel, err);
    if (rc != VCM_OK)
        return rc;
    /* The scope is removed, whether this succeeds or not: the next mapping drops what it leaves. */
    struct vcm_error ignored = {0};
    if (vcm_mapping_drop(&dropped, store, removal.mapping, 0, VCM_MAPPING_CLEANUP_TIMEOUT_MS, NULL,
                         &ignored) != VCM_OK)
        vcm_log_write(store->log, VCM_LOG_WARNING, "the removed page table is not dropped yet: %s",
                      ignored.message);
    return VCM_OK;
}
