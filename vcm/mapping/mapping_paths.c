#include "vcm/mapping/mapping_paths.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "vcm/store/table.h"

#include "base/banned.h"

struct vcm_mapping_path {
    unsigned char key[VCM_PATH_KEY_BYTES];
    uint32_t len;
    size_t at; /* in the buffer */
};

void vcm_mapping_paths_init(struct vcm_mapping_paths *paths)
{
    *paths = (struct vcm_mapping_paths){0};
    vcm_buf_init(&paths->bytes, VCM_MAPPING_PATHS_BYTES + 2 * VCM_LIMIT_FRAME_BYTES);
}

void vcm_mapping_paths_release(struct vcm_mapping_paths *paths)
{
    free(paths->items);
    vcm_buf_release(&paths->bytes);
    *paths = (struct vcm_mapping_paths){0};
}

static int keep(struct vcm_mapping_paths *paths, uint64_t mapping, uint32_t seq,
                struct vcm_slice path, struct vcm_error *err)
{
    assert(path.len <= UINT32_MAX);
    int rc = vcm_array_reserve(&paths->items, &paths->capacity, paths->count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_mapping_path *item = &paths->items[paths->count++];
    *item = (struct vcm_mapping_path){.len = (uint32_t)path.len, .at = paths->bytes.len};
    vcm_page_table_path_key(item->key, mapping, path, seq);
    vcm_buf_append_slice(&paths->bytes, path);
    return vcm_buf_check(&paths->bytes, "the paths of a page table", err);
}

int vcm_mapping_paths_add(struct vcm_mapping_paths *paths, uint64_t mapping, uint32_t seq,
                          struct vcm_slice records, struct vcm_error *err)
{
    struct vcm_page_record *list = NULL;
    uint32_t count;

    int rc = vcm_page_get_records(&list, &count, records, err);
    for (uint32_t i = 0; rc == VCM_OK && i < count; i++)
        if (i == 0 || !vcm_slice_equal(list[i].path,
                                       list[i - 1].path)) /* not a later part of the same file */
            rc = keep(paths, mapping, seq, list[i].path, err);
    free(list);
    return rc;
}

size_t vcm_mapping_paths_bytes(const struct vcm_mapping_paths *paths)
{
    return paths->bytes.len + paths->count * sizeof *paths->items;
}

/* Two paths of one page may have the same hash, and thereby the same key. They stay in the order of
 * the page, however qsort() orders equal keys. */
static int compare_paths(const void *a, const void *b)
{
    const struct vcm_mapping_path *left = a, *right = b;
    int order = memcmp(left->key, right->key, sizeof left->key);

    return order != 0 ? order : (left->at > right->at) - (left->at < right->at);
}

static bool same_key(const struct vcm_mapping_path *a, const struct vcm_mapping_path *b)
{
    return memcmp(a->key, b->key, sizeof a->key) == 0;
}

/* Writes the entry of `count` paths with one key, which it joins as put_path() of page_table.c
 * does.
 */
static int write_entry(const struct vcm_mapping_paths *paths, const struct vcm_mapping_path *items,
                       size_t count, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_slice entry = vcm_slice_of(paths->bytes.data + items->at, items->len);
    struct vcm_buf joined = VCM_BUF_INIT(2 * VCM_LIMIT_FRAME_BYTES);
    int rc = VCM_OK;

    for (size_t i = 1; rc == VCM_OK && i < count; i++) {
        struct vcm_slice path = vcm_slice_of(paths->bytes.data + items[i].at, items[i].len);
        if (vcm_page_table_has_path(entry, path))
            continue;
        if (joined.len == 0)
            vcm_buf_append_slice(&joined, entry);
        vcm_buf_append_byte(&joined, '\0');
        vcm_buf_append_slice(&joined, path);
        rc = vcm_buf_check(&joined, "the paths of a page", err);
        entry = vcm_buf_slice(&joined);
    }
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, VCM_TABLE_PATHS, vcm_slice_of(items->key, sizeof items->key), entry,
                        err);
    vcm_buf_release(&joined);
    return rc;
}

int vcm_mapping_paths_write(struct vcm_mapping_paths *paths, struct vcm_kv_txn *txn,
                            struct vcm_error *err)
{
    int rc = VCM_OK;

    assert(paths->count <= paths->capacity);
    if (paths->count > 1)
        qsort(paths->items, paths->count, sizeof *paths->items, compare_paths);
    for (size_t i = 0, end; rc == VCM_OK && i < paths->count; i = end) {
        const struct vcm_mapping_path *item = &paths->items[i];
        assert(item->at + item->len <= paths->bytes.len);
        for (end = i + 1; end < paths->count && same_key(item, &paths->items[end]); end++) {
        }
        rc = write_entry(paths, item, end - i, txn, err);
    }
    return rc;
}

void vcm_mapping_paths_clear(struct vcm_mapping_paths *paths)
{
    paths->count = 0;
    vcm_buf_clear(&paths->bytes);
}
