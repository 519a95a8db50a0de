#include "vcm/mapping/known.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/limits.h"
#include "vcm/residency/rebuild.h"
#include "vcm/store/table.h"

#include "base/banned.h"

#define NAMES_BYTES_MAX (48 * VCM_MIB)
/* After so many rows the memory of the store's map is released. */
#define TRIM_EACH 256

struct known_page {
    struct vcm_page_id id;
    uint32_t seq;
    uint32_t first; /* record */
    uint32_t count;
};

struct vcm_known {
    struct vcm_page_store *store;
    struct vcm_rebuild *rebuild;
    struct vcm_arena names; /* the slices of records point into it */
    struct vcm_page_record *records;
    uint32_t *page_of; /* for each record, its index in `pages` */
    uint32_t record_count;
    size_t record_capacity;
    struct known_page *pages;
    uint32_t page_count;
    size_t page_capacity;
    uint32_t *slots; /* of first parts: record number plus one, 0 for none; open addressing */
    uint32_t slot_mask;
    uint32_t frame_page; /* index of the page whose frame is in `frame` */
    struct vcm_buf frame;
    struct vcm_known_base base;
    struct vcm_buf scope; /* base.scope points into it */
    bool pinned;
    struct vcm_slice commit;
    struct vcm_page_omission *omissions;
    uint32_t omission_count;
    size_t omission_capacity;
    struct vcm_known_tree record_tree, omission_tree;
    bool is_part; /* rows or omissions were not copied, or a path is not that of the source */
    bool knows_directories;
};

static int grow(struct vcm_known *known, uint32_t count, struct vcm_error *err)
{
    int rc = vcm_array_reserve(&known->pages, &known->page_capacity, known->page_count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    size_t capacity = known->record_capacity, needed = (size_t)known->record_count + count;
    rc = vcm_array_reserve(&known->records, &capacity, needed, VCM_LIMIT_LIST_ENTRIES, err);
    if (rc == VCM_OK)
        rc = vcm_array_reserve(&known->page_of, &known->record_capacity, needed,
                               VCM_LIMIT_LIST_ENTRIES, err);
    return rc;
}

/* The rest of the table is not copied. */
static int stop_at_limit(struct vcm_known *known)
{
    known->is_part = true;
    return VCM_STOP;
}

/* The records point into a copy of the row's bytes. */
static int add_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct vcm_known *known = context;
    struct vcm_page_record *records = NULL;
    uint32_t count = 0;

    if (known->names.used + row->records.len + 64 > NAMES_BYTES_MAX)
        return stop_at_limit(known);
    const char *copy = vcm_arena_copy(&known->names, row->records);
    if (!copy)
        return vcm_error_memory(err);
    int rc = vcm_page_get_records(&records, &count, vcm_slice_of(copy, row->records.len), err);
    if (rc == VCM_OK && known->record_count + count > VCM_KNOWN_RECORDS_MAX)
        rc = stop_at_limit(known);
    if (rc == VCM_OK)
        rc = grow(known, count, err);
    if (rc == VCM_OK && count > 0) {
        memcpy(known->records + known->record_count, records, count * sizeof *records);
        for (uint32_t i = 0; i < count; i++)
            known->page_of[known->record_count + i] = known->page_count;
        known->pages[known->page_count++] = (struct known_page){
            .id = row->id, .seq = row->seq, .first = known->record_count, .count = count};
        known->record_count += count;
        assert(known->record_count <= known->record_capacity);
        assert(known->page_count <= known->page_capacity);
    }
    free(records);
    /* Rows are stored among frames, and reading a row maps the frames around it. */
    if (row->seq % TRIM_EACH == TRIM_EACH - 1)
        vcm_kv_trim(known->store->kv);
    return rc;
}

static uint64_t hash_of(struct vcm_slice path, struct vcm_slice content_id)
{
    return vcm_hash_checksum(path, vcm_hash_checksum(content_id, 0));
}

/* Whether a file begins with this record and all its parts were copied. */
static bool is_whole(const struct vcm_known *known, uint32_t number)
{
    const struct vcm_page_record *first = &known->records[number];

    if (first->part != 1 || first->parts == 0 || known->record_count - number < first->parts)
        return false;
    for (uint32_t i = 1; i < first->parts; i++) {
        const struct vcm_page_record *part = &known->records[number + i];
        if (part->part != i + 1 || !vcm_slice_equal(part->path, first->path) ||
            !vcm_slice_equal(part->content_id, first->content_id))
            return false;
    }
    return true;
}

static int make_index(struct vcm_known *known, struct vcm_error *err)
{
    uint32_t slots = 64;

    while (slots < 2 * known->record_count)
        slots *= 2;
    known->slots = calloc(slots, sizeof *known->slots);
    if (!known->slots)
        return vcm_error_memory(err);
    known->slot_mask = slots - 1;
    for (uint32_t i = 0; i < known->record_count; i++) {
        if (!is_whole(known, i))
            continue;
        uint64_t hash = hash_of(known->records[i].path, known->records[i].content_id);
        uint32_t at = (uint32_t)hash & known->slot_mask;
        while (known->slots[at] != 0)
            at = (at + 1) & known->slot_mask;
        known->slots[at] = i + 1;
    }
    return VCM_OK;
}

static bool copy_slice(struct vcm_slice *slice, struct vcm_arena *arena)
{
    slice->data = vcm_arena_copy(arena, *slice);
    return slice->data != NULL;
}

static int add_omission(void *context, const struct vcm_page_omission *omission,
                        struct vcm_error *err)
{
    struct vcm_known *known = context;
    struct vcm_page_omission copy = *omission;

    if (!vcm_slice_equal(copy.path, copy.raw_path) ||
        known->omission_count == VCM_KNOWN_RECORDS_MAX || known->names.used > NAMES_BYTES_MAX)
        return stop_at_limit(known);
    int rc = vcm_array_reserve(&known->omissions, &known->omission_capacity,
                               known->omission_count + 1, VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    if (!copy_slice(&copy.path, &known->names) || !copy_slice(&copy.content_id, &known->names) ||
        !copy_slice(&copy.reason, &known->names))
        return stop_at_limit(known);
    copy.raw_path = copy.path;
    known->omissions[known->omission_count++] = copy;
    return vcm_known_tree_add(&known->omission_tree, copy.path, err);
}

/* Indexes the directories, which saves walking the unchanged ones; a failure is not an error. A
 * directory is taken as a whole, so the whole table has to be copied, with the source's paths. */
static void load_directories(struct vcm_known *known, struct vcm_kv_txn *txn,
                             const struct vcm_scope *former)
{
    struct vcm_error ignored = {0};
    int rc = VCM_OK;

    for (uint32_t i = 0; rc == VCM_OK && !known->is_part && i < known->record_count; i++) {
        known->is_part = known->records[i].path_lossy;
        rc = vcm_known_tree_add(&known->record_tree, known->records[i].path, &ignored);
    }
    if (rc == VCM_OK && !known->is_part)
        rc = vcm_page_table_each_omission(txn, former->mapping, add_omission, known, &ignored);
    struct vcm_slice commit = former->commit;
    known->knows_directories =
        rc == VCM_OK && !known->is_part && copy_slice(&commit, &known->names);
    if (known->knows_directories)
        known->commit = commit;
}

static int load(struct vcm_known *known, bool *useful, const struct vcm_scope *scope,
                struct vcm_error *err)
{
    struct vcm_scope former = {0};
    struct vcm_kv_txn *txn = NULL;

    *useful = false;
    int rc = vcm_page_store_read_begin(&txn, known->store, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_page_store_scope(&former, txn, scope->scope_id, err);
    bool exists = rc == VCM_OK;
    if (rc == VCM_NOT_FOUND)
        rc = VCM_OK;
    if (exists && memcmp(former.fingerprint, scope->fingerprint, sizeof former.fingerprint) == 0) {
        rc = vcm_page_table_each_row(txn, former.mapping, 0, add_row, known, err);
        vcm_scope_put(&known->scope, &former);
        known->base = (struct vcm_known_base){.mapping = former.mapping,
                                              .pages = (uint32_t)former.pages,
                                              .scope = vcm_buf_slice(&known->scope)};
        known->pinned = former.pinned;
        if (rc == VCM_OK)
            rc = vcm_buf_check(&known->scope, "a scope's description", err);
        *useful = rc == VCM_OK && known->record_count > 0;
        if (*useful)
            load_directories(known, txn, &former);
    }
    vcm_kv_handle_read_end(txn);
    vcm_kv_trim(known->store->kv); /* the table is not read again */
    vcm_scope_release(&former);
    return rc;
}

int vcm_known_open(struct vcm_known **out, struct vcm_page_store *store,
                   const struct vcm_scope *scope, struct vcm_error *err)
{
    struct vcm_known *known = calloc(1, sizeof *known);
    bool useful = false;

    *out = NULL;
    if (!known)
        return vcm_error_memory(err);
    known->store = store;
    known->frame_page = VCM_KNOWN_NONE;
    vcm_known_tree_init(&known->record_tree);
    vcm_known_tree_init(&known->omission_tree);
    vcm_arena_init(&known->names, 2 * NAMES_BYTES_MAX);
    vcm_buf_init(&known->frame, VCM_LIMIT_FRAME_BYTES);
    vcm_buf_init(&known->scope, 64 * VCM_KIB);
    int rc = load(known, &useful, scope, err);
    if (rc == VCM_OK && useful)
        rc = make_index(known, err);
    if (rc == VCM_OK && useful)
        *out = known;
    else
        vcm_known_close(known);
    return rc;
}

void vcm_known_close(struct vcm_known *known)
{
    if (!known)
        return;
    vcm_rebuild_close(known->rebuild);
    vcm_arena_release(&known->names);
    vcm_buf_release(&known->frame);
    vcm_buf_release(&known->scope);
    free(known->records);
    free(known->page_of);
    free(known->pages);
    free(known->slots);
    free(known->omissions);
    vcm_known_tree_release(&known->record_tree);
    vcm_known_tree_release(&known->omission_tree);
    free(known);
}

const struct vcm_known_base *vcm_known_base(const struct vcm_known *known)
{
    return known->pinned ? NULL : &known->base;
}

uint32_t vcm_known_find(const struct vcm_known *known, struct vcm_slice path,
                        struct vcm_slice content_id)
{
    uint32_t at = (uint32_t)hash_of(path, content_id) & known->slot_mask;

    assert(known->slots);
    for (; known->slots[at] != 0; at = (at + 1) & known->slot_mask) {
        const struct vcm_page_record *record = &known->records[known->slots[at] - 1];
        if (vcm_slice_equal(record->path, path) && vcm_slice_equal(record->content_id, content_id))
            return known->slots[at] - 1;
    }
    return VCM_KNOWN_NONE;
}

bool vcm_known_directory(struct vcm_known_directory_items *out, const struct vcm_known *known,
                         struct vcm_slice directory)
{
    if (!known->knows_directories ||
        !vcm_known_tree_find(&out->records, &known->record_tree, directory) ||
        !vcm_known_tree_find(&out->omissions, &known->omission_tree, directory))
        return false;
    assert(out->records.end <= known->record_count);
    assert(out->omissions.end <= known->omission_count);
    for (uint32_t i = out->omissions.first; i < out->omissions.end; i++)
        if (vcm_outcome_is_retried(known->omissions[i].outcome))
            return false;
    return out->records.end > out->records.first || out->omissions.end > out->omissions.first;
}

struct vcm_slice vcm_known_commit(const struct vcm_known *known)
{
    return known->commit;
}

const struct vcm_page_omission *vcm_known_omission(const struct vcm_known *known, uint32_t number)
{
    assert(number < known->omission_count);
    return &known->omissions[number];
}

const struct vcm_page_record *vcm_known_record(const struct vcm_known *known, uint32_t number)
{
    assert(number < known->record_count);
    return &known->records[number];
}

bool vcm_known_page(struct vcm_page_id *id, uint32_t *seq, const struct vcm_known *known,
                    uint32_t number, uint32_t count)
{
    assert(number < known->record_count);
    const struct known_page *page = &known->pages[known->page_of[number]];

    assert(page->first <= number && number < page->first + page->count);
    *id = page->id;
    *seq = page->seq;
    return page->first == number && page->count == count;
}

static int read_frame(struct vcm_known *known, uint32_t page, struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;
    struct vcm_page_info info;
    int rc = VCM_OK;

    if (known->frame_page == page)
        return VCM_OK;
    known->frame_page = VCM_KNOWN_NONE;
    vcm_buf_clear(&known->frame);
    if (!known->rebuild)
        rc = vcm_rebuild_open(&known->rebuild, known->store, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_read_begin(&txn, known->store, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_page_store_page(&info, txn, &known->pages[page].id, err);
    if (rc == VCM_NOT_FOUND)
        rc = vcm_error_set(err, VCM_NOT_FOUND,
                           "a page of the former page table is no longer in the store");
    if (rc == VCM_OK)
        rc = vcm_rebuild_frame(&known->frame, known->rebuild, txn, &info, err);
    vcm_kv_handle_read_end(txn);
    if (rc == VCM_OK)
        known->frame_page = page;
    return rc;
}

int vcm_known_value(struct vcm_buf *out, struct vcm_known *known, uint32_t number,
                    struct vcm_error *err)
{
    assert(number < known->record_count);
    uint32_t page = known->page_of[number];
    struct vcm_slice value = {NULL, 0};

    int rc = read_frame(known, page, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_slice rest = vcm_buf_slice(&known->frame);
    for (uint32_t i = known->pages[page].first; i <= number; i++)
        if (!vcm_page_next_value(&value, &rest))
            return vcm_error_set(err, VCM_STORE_CORRUPT, "a page has fewer records than its table");
    if (value.len != known->records[number].bytes)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "a page's records are not those of its table");
    vcm_buf_append_slice(out, value);
    return vcm_buf_check(out, "a page", err);
}
