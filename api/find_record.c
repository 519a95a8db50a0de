#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/handle.h"
#include "api/names.h"
#include "base/hash.h"
#include "base/limits.h"

#include "base/banned.h"

/* The state of a search, scope by scope and page by page. */
struct search {
    struct vcm *vcm;
    struct vcm_kv_txn *txn;
    const struct vcm_record_query *query;
    struct vcm_page_id wanted;
    struct vcm_names_scope scope;
    const struct vcm_scope *current;
    char scope_id[VCM_LIMIT_SCOPE_ID_BYTES + 1];
    uint64_t passed;
    struct vcm_error unread; /* of the first page that could not be read */
    vcm_find_fn visit;
    void *context;
};

static int pass_record(struct search *search, const struct vcm_page_row *row, uint32_t index,
                       const struct vcm_page_record *record, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_TREE_PATH_BYTES);
    char page_id[VCM_PAGE_ID_HEX + 1];

    vcm_page_id_to_hex(page_id, &row->id);
    vcm_buf_append_slice(&path, record->path);
    int rc = vcm_buf_check(&path, "a path", err);
    if (rc == VCM_OK)
        rc = search->visit(search->context,
                           &(struct vcm_find_entry){
                               .page_id = page_id,
                               .scope_id = search->scope_id,
                               .seq = row->seq,
                               .record = index,
                               .path = vcm_buf_text(&path),
                               .part = record->part,
                               .parts = record->parts,
                               .start_line = record->start_line,
                               .end_line = record->end_line,
                           },
                           err);
    search->passed++;
    vcm_buf_release(&path);
    return rc;
}

static int search_frame(struct search *search, const struct vcm_page_row *row,
                        struct vcm_slice frame, struct vcm_error *err)
{
    const char *path = search->query->path;
    struct vcm_page_record *records = NULL;
    struct vcm_page_id id;
    struct vcm_slice value;
    uint32_t count = 0;

    int rc = vcm_page_get_records(&records, &count, row->records, err);
    for (uint32_t i = 0; rc == VCM_OK && i < count && vcm_page_next_value(&value, &frame); i++) {
        if (path && !vcm_slice_equal(records[i].path, vcm_slice_of_string(path)))
            continue;
        vcm_page_record_id_of(&id, value);
        if (memcmp(&id, &search->wanted, sizeof id) == 0)
            rc = pass_record(search, row, i, &records[i], err);
    }
    free(records);
    return rc;
}

/* A page whose source is gone cannot be searched. That is reported only when nothing is found. */
static int search_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct search *search = context;
    struct vcm_page_cache_frame frame = {0};
    struct vcm_error why = {0};

    int rc = vcm_cancel_check(search->vcm->cancel, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_page_cache_peek(&frame, search->vcm->cache, search->txn, &row->id, &why);
    if (rc == VCM_OK)
        rc = search_frame(search, row, frame.bytes, err);
    else if (rc == VCM_NOT_FOUND && why.code == VCM_OK)
        rc = vcm_error_set(err, VCM_STORE_CORRUPT, "row %u of scope '%s' names a missing page",
                           row->seq, search->scope_id);
    else if (rc == VCM_NOT_FOUND || rc == VCM_IO_ERROR) {
        if (search->unread.code == VCM_OK)
            search->unread = why;
        rc = VCM_OK;
    } else if (err) {
        *err = why;
    }
    vcm_page_cache_release(&frame);
    return rc;
}

static int search_seq(void *context, uint32_t seq, struct vcm_error *err)
{
    struct search *search = context;
    struct vcm_page_row row;

    int rc = vcm_page_table_row(&row, search->txn, search->current->mapping, seq, err);
    if (rc == VCM_NOT_FOUND)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "the index of paths names a missing row");
    return rc == VCM_OK ? search_row(search, &row, err) : rc;
}

static int search_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct search *search = context;
    const struct vcm_record_query *query = search->query;

    if ((query->scope && !vcm_names_scope_matches(&search->scope, scope->scope_id)) ||
        scope->scope_id.len > VCM_LIMIT_SCOPE_ID_BYTES)
        return VCM_OK;
    memcpy(search->scope_id, scope->scope_id.data, scope->scope_id.len);
    search->scope_id[scope->scope_id.len] = '\0';
    search->current = scope;
    if (query->path)
        return vcm_page_table_each_path(search->txn, scope->mapping,
                                        vcm_slice_of_string(query->path), search_seq, search, err);
    return vcm_page_table_each_row(search->txn, scope->mapping, 0, search_row, search, err);
}

static int no_record(const struct search *search, struct vcm_error *err)
{
    const struct vcm_record_query *query = search->query;

    if (search->unread.code == VCM_OK)
        return vcm_error_set(err, VCM_NOT_FOUND, "no page%s%s holds record %s",
                             query->scope ? " of scope " : "", query->scope ? query->scope : "",
                             query->record);
    if (err)
        *err = search->unread;
    return (int)search->unread.code;
}

static int run_search(struct search *search, struct vcm_error *err)
{
    int rc = vcm_page_store_read_begin(&search->txn, search->vcm->store, err);

    if (rc == VCM_OK && search->query->scope)
        rc = vcm_names_find_scope(&search->scope, search->txn, search->query->scope, true, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_each_scope(search->txn, vcm_slice_of("", 0), search_scope, search, err);
    vcm_kv_handle_read_end(search->txn);
    return rc == VCM_OK && search->passed == 0 ? no_record(search, err) : rc;
}

int vcm_find_record(struct vcm *vcm, const struct vcm_record_query *query, vcm_find_fn visit,
                    void *context, struct vcm_error *err)
{
    struct search search = {.vcm = vcm, .query = query, .visit = visit, .context = context};

    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"record", query->record}, {"scope", query->scope},
                       {"path", query->path});
    if (rc == VCM_OK &&
        (!query->record || strlen(query->record) != VCM_PAGE_ID_HEX ||
         !vcm_hash_from_hex(search.wanted.bytes, query->record, sizeof search.wanted.bytes)))
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is no record id, which has %d digits",
                           query->record ? query->record : "", VCM_PAGE_ID_HEX);
    if (rc == VCM_OK)
        rc = vcm_handle_open_for_reading(vcm, err);
    if (rc != VCM_OK)
        return rc;
    if (!vcm->store)
        return query->scope ? vcm_names_no_scope(query->scope, err) : no_record(&search, err);
    return vcm_damage_note(vcm, run_search(&search, err), err);
}
