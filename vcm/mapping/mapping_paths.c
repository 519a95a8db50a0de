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

/* Two paths of one page may have the same hash, and thereby the same key. The later one is written
 * last and stays, however qsort() orders equal keys. */
static int compare_paths(const void *a, const void *b)
{
    const struct vcm_mapping_path *left = a, *right = b;
    int order = memcmp(left->key, right->key, sizeof left->key);

    return order != 0 ? order : (left->at > right->at) - (left->at < right->at);
}

int vcm_mapping_paths_write(struct vcm_mapping_paths *paths, struct vcm_kv_txn *txn,
                            struct vcm_error *err)
{
    int rc = VCM_OK;

    assert(paths->count <= paths->capacity);
    if (paths->count > 1)
        qsort(paths->items, paths->count, sizeof *paths->items, compare_paths);
    for (size_t i = 0; rc == VCM_OK && i < paths->count; i++) {
        const struct vcm_mapping_path *item = &paths->items[i];
        assert(item->at + item->len <= paths->bytes.len);
        rc = vcm_kv_put(txn, VCM_TABLE_PATHS, vcm_slice_of(item->key, sizeof item->key),
                        vcm_slice_of(paths->bytes.data + item->at, item->len), err);
    }
    return rc;
}

void vcm_mapping_paths_clear(struct vcm_mapping_paths *paths)
{
    paths->count = 0;
    vcm_buf_clear(&paths->bytes);
}
