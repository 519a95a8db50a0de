#include "vcm/store/page_find.h"

#include <stdlib.h>

#include "base/banned.h"

struct search {
    struct vcm_kv_txn *txn;
    uint64_t mapping;
    struct vcm_slice path; /* data NULL: every path */
    vcm_page_found_fn visit;
    void *context;
};

static int search_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    const struct search *search = context;
    struct vcm_page_record *records = NULL;
    uint32_t count = 0;

    int rc = vcm_page_get_records(&records, &count, row->records, err);
    for (uint32_t i = 0; rc == VCM_OK && i < count; i++) {
        if (search->path.data && !vcm_slice_equal(records[i].path, search->path))
            continue;
        rc = search->visit(search->context,
                           &(struct vcm_page_found){
                               .seq = row->seq,
                               .id = row->id,
                               .index = i,
                               .record = &records[i],
                           },
                           err);
    }
    free(records);
    return rc;
}

static int search_seq(void *context, uint32_t seq, struct vcm_error *err)
{
    struct search *search = context;
    struct vcm_page_row row;

    int rc = vcm_page_table_row(&row, search->txn, search->mapping, seq, err);
    if (rc == VCM_NOT_FOUND)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "the index of paths names a missing row");
    return rc == VCM_OK ? search_row(search, &row, err) : rc;
}

int vcm_page_find_path(struct vcm_kv_txn *txn, uint64_t mapping, struct vcm_slice path,
                       vcm_page_found_fn visit, void *context, struct vcm_error *err)
{
    struct search search = {txn, mapping, path, visit, context};

    return vcm_page_table_each_path(txn, mapping, path, search_seq, &search, err);
}

int vcm_page_find_each(struct vcm_kv_txn *txn, uint64_t mapping, vcm_page_found_fn visit,
                       void *context, struct vcm_error *err)
{
    struct search search = {.visit = visit, .context = context};

    return vcm_page_table_each_row(txn, mapping, 0, search_row, &search, err);
}
