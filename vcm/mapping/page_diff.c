#include "vcm/mapping/page_diff.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"

#include "base/banned.h"

#define TABLE_BYTES_MAX (4 * VCM_GIB)

struct taking {
    struct vcm_page_diff_table *table;
    size_t capacity;
};

static int make_room(struct taking *taking, struct vcm_error *err)
{
    struct vcm_page_diff_table *table = taking->table;

    return vcm_array_reserve(&table->entries, &taking->capacity, (size_t)table->count + 1,
                             VCM_LIMIT_LIST_ENTRIES, err);
}

/* The parts of a file are neighbours, so its path is copied once. */
static int copy_paths(struct vcm_page_diff_entry *entry, struct vcm_arena *arena,
                      const struct vcm_page_record *records, uint32_t count, struct vcm_error *err)
{
    struct vcm_slice *paths = vcm_arena_alloc(arena, (count + 1) * sizeof *paths);

    if (!paths)
        return vcm_error_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && vcm_slice_equal(records[i].path, records[i - 1].path))
            continue;
        const char *copy = vcm_arena_copy(arena, records[i].path);
        if (!copy)
            return vcm_error_memory(err);
        paths[entry->path_count++] = vcm_slice_of(copy, records[i].path.len);
    }
    assert(entry->path_count <= count);
    entry->paths = paths;
    return VCM_OK;
}

static int take_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct taking *taking = context;
    struct vcm_page_record *records = NULL;
    struct vcm_page_diff_entry entry = {.id = row->id};
    uint32_t count = 0;

    int rc = make_room(taking, err);
    if (rc == VCM_OK)
        rc = vcm_page_get_records(&records, &count, row->records, err);
    if (rc == VCM_OK)
        rc = copy_paths(&entry, &taking->table->arena, records, count, err);
    if (rc == VCM_OK)
        taking->table->entries[taking->table->count++] = entry;
    free(records);
    return rc;
}

int vcm_page_diff_take(struct vcm_page_diff_table *out, struct vcm_kv_txn *txn, uint64_t mapping,
                       struct vcm_error *err)
{
    struct taking taking = {.table = out};

    memset(out, 0, sizeof *out);
    out->mapping = mapping;
    vcm_arena_init(&out->arena, TABLE_BYTES_MAX);
    return vcm_page_table_each_row(txn, mapping, 0, take_row, &taking, err);
}

void vcm_page_diff_release(struct vcm_page_diff_table *table)
{
    free(table->entries);
    vcm_arena_release(&table->arena);
    memset(table, 0, sizeof *table);
}

/* An entry's place when the entries are sorted by id. */
struct sorted {
    const struct vcm_page_diff_entry *entry;
};

static int compare_ids(const void *left, const void *right)
{
    const struct vcm_page_diff_entry *a = ((const struct sorted *)left)->entry;
    const struct vcm_page_diff_entry *b = ((const struct sorted *)right)->entry;
    int order = memcmp(&a->id, &b->id, sizeof a->id);

    /* Equal pages are in the order of the table, so that the first one is marked. */
    return order != 0 ? order : a < b ? -1 : a > b;
}

/* A table's entries by id; the caller frees. */
static int sort_entries(struct sorted **out, const struct vcm_page_diff_table *table,
                        struct vcm_error *err)
{
    *out = calloc(table->count + 1u, sizeof **out);
    if (!*out)
        return vcm_error_memory(err);
    for (uint32_t i = 0; i < table->count; i++)
        (*out)[i].entry = &table->entries[i];
    qsort(*out, table->count, sizeof **out, compare_ids);
    return VCM_OK;
}

/* Marks each entry of a table that the other does not have, where it occurs first. */
static void mark_missing(bool *marks, const struct vcm_page_diff_table *table,
                         const struct sorted *sorted, const struct sorted *others,
                         uint32_t other_count)
{
    uint32_t other = 0;

    for (uint32_t i = 0; i < table->count; i++) {
        const struct vcm_page_id *id = &sorted[i].entry->id;
        if (i > 0 && memcmp(id, &sorted[i - 1].entry->id, sizeof *id) == 0)
            continue;
        while (other < other_count && memcmp(&others[other].entry->id, id, sizeof *id) < 0)
            other++;
        marks[sorted[i].entry - table->entries] =
            other == other_count || memcmp(&others[other].entry->id, id, sizeof *id) != 0;
    }
}

/* A path of a dropped page. */
struct dropped_path {
    struct vcm_slice path;
    uint32_t index; /* of the page in its table */
    uint32_t next;  /* in the first of a run of equal paths: how many of the run are used */
};

struct diff {
    const struct vcm_page_diff_table *before, *after;
    bool *dropped; /* for each entry of `before`; cleared when a new page replaces it */
    bool *created; /* for each entry of `after` */
    struct dropped_path *paths;
    size_t path_count;
};

static int compare_slices(struct vcm_slice a, struct vcm_slice b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter > 0 ? memcmp(a.data, b.data, shorter) : 0;

    return order != 0 ? order : a.len < b.len ? -1 : a.len > b.len;
}

static int compare_paths(const void *left, const void *right)
{
    const struct dropped_path *a = left, *b = right;
    int order = compare_slices(a->path, b->path);

    return order != 0 ? order : a->index < b->index ? -1 : a->index > b->index;
}

static int index_paths(struct diff *diff, struct vcm_error *err)
{
    size_t count = 0;

    for (uint32_t i = 0; i < diff->before->count; i++)
        count += diff->dropped[i] ? diff->before->entries[i].path_count : 0;
    diff->paths = calloc(count + 1, sizeof *diff->paths);
    if (!diff->paths)
        return vcm_error_memory(err);
    for (uint32_t i = 0; i < diff->before->count; i++)
        for (uint32_t p = 0; diff->dropped[i] && p < diff->before->entries[i].path_count; p++)
            diff->paths[diff->path_count++] =
                (struct dropped_path){.path = diff->before->entries[i].paths[p], .index = i};
    assert(diff->path_count == count);
    qsort(diff->paths, diff->path_count, sizeof *diff->paths, compare_paths);
    return VCM_OK;
}

/* The first dropped page with this path that no new page replaces yet, or UINT32_MAX. */
static uint32_t first_free(struct diff *diff, struct vcm_slice path)
{
    size_t low = 0, high = diff->path_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_slices(diff->paths[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    struct dropped_path *run = &diff->paths[low];
    for (size_t at = low + (low < diff->path_count ? run->next : 0);
         at < diff->path_count && vcm_slice_equal(diff->paths[at].path, path); at++) {
        if (diff->dropped[diff->paths[at].index])
            return diff->paths[at].index;
        run->next++;
    }
    return UINT32_MAX;
}

static int report(struct diff *diff, vcm_page_change_fn visit, void *context, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (uint32_t i = 0; rc == VCM_OK && i < diff->after->count; i++) {
        if (!diff->created[i])
            continue;
        struct vcm_page_change change = {.kind = VCM_PAGE_ADDED, .page = &diff->after->entries[i]};
        uint32_t best = UINT32_MAX;
        for (uint32_t p = 0; p < change.page->path_count; p++) {
            uint32_t index = first_free(diff, change.page->paths[p]);
            best = index < best ? index : best;
        }
        if (best != UINT32_MAX) {
            assert(diff->dropped[best]);
            diff->dropped[best] = false;
            change.kind = VCM_PAGE_REPLACED;
            change.old = &diff->before->entries[best];
        }
        rc = visit(context, &change, err);
    }
    for (uint32_t i = 0; rc == VCM_OK && i < diff->before->count; i++)
        if (diff->dropped[i])
            rc = visit(context,
                       &(struct vcm_page_change){.kind = VCM_PAGE_INVALIDATED,
                                                 .page = &diff->before->entries[i]},
                       err);
    return rc;
}

int vcm_page_diff(const struct vcm_page_diff_table *before, const struct vcm_page_diff_table *after,
                  vcm_page_change_fn visit, void *context, struct vcm_error *err)
{
    struct sorted *olds = NULL, *news = NULL;
    struct diff diff = {.before = before, .after = after};

    int rc = sort_entries(&olds, before, err);
    if (rc == VCM_OK)
        rc = sort_entries(&news, after, err);
    diff.dropped = calloc(before->count + 1u, sizeof *diff.dropped);
    diff.created = calloc(after->count + 1u, sizeof *diff.created);
    if (rc == VCM_OK && (!diff.dropped || !diff.created))
        rc = vcm_error_memory(err);
    if (rc == VCM_OK) {
        mark_missing(diff.dropped, before, olds, news, after->count);
        mark_missing(diff.created, after, news, olds, before->count);
        rc = index_paths(&diff, err);
    }
    if (rc == VCM_OK)
        rc = report(&diff, visit, context, err);
    free(olds);
    free(news);
    free(diff.dropped);
    free(diff.created);
    free(diff.paths);
    return rc;
}
