#include "vcm/residency/group.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

struct group {
    struct vcm_kv_txn *txn;
    const struct vcm_page_id *id;
    vcm_group_fn visit;
    void *context;
    uint64_t mapping;
    uint32_t seq; /* of the page itself */
    bool before;  /* false: visit the rows after it; true: those before it */
    bool enough;  /* the walk was stopped */
    unsigned count;
};

static int visit_seq(void *context, uint32_t seq, struct vcm_error *err)
{
    struct group *group = context;
    struct vcm_page_info info;
    struct vcm_page_row row;

    assert(!group->enough && group->count < VCM_GROUP_PAGES_MAX);
    if (seq == group->seq || (seq < group->seq) != group->before)
        return VCM_OK;
    int rc = vcm_page_table_row(&row, group->txn, group->mapping, seq, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_page(&info, group->txn, &row.id, err);
    if (rc != VCM_OK || info.state != VCM_PAGE_EVICTED ||
        memcmp(&row.id, group->id, sizeof row.id) == 0)
        return rc;
    rc = group->visit(group->context, &info, err);
    if (rc == VCM_OK && ++group->count == VCM_GROUP_PAGES_MAX)
        rc = VCM_STOP;
    group->enough = rc == VCM_STOP;
    return rc;
}

static int visit_files(struct group *group, const struct vcm_page_record *records, uint32_t count,
                       struct vcm_error *err)
{
    int rc = VCM_OK;

    for (uint32_t i = 0; rc == VCM_OK && !group->enough && i < count; i++)
        if (records[i].parts > 1)
            rc = vcm_page_table_each_path(group->txn, group->mapping, records[i].path, visit_seq,
                                          group, err);
    return rc;
}

static int visit_holder(void *context, const struct vcm_page_holder *holder, struct vcm_error *err)
{
    struct group *group = context;
    struct vcm_page_record *records = NULL;
    struct vcm_page_row row;
    uint32_t count = 0;

    group->mapping = holder->mapping;
    group->seq = holder->first_seq;
    int rc = vcm_page_table_row(&row, group->txn, holder->mapping, holder->first_seq, err);
    if (rc == VCM_OK)
        rc = vcm_page_get_records(&records, &count, row.records, err);
    if (rc == VCM_OK)
        rc = visit_files(group, records, count, err);
    group->before = true;
    if (rc == VCM_OK)
        rc = visit_files(group, records, count, err);
    free(records);
    return rc == VCM_OK ? VCM_STOP : rc; /* the first holder is enough */
}

int vcm_group_each(struct vcm_kv_txn *txn, const struct vcm_page_id *id, vcm_group_fn visit,
                   void *context, struct vcm_error *err)
{
    struct group group = {.txn = txn, .id = id, .visit = visit, .context = context};

    return vcm_page_table_each_holder(txn, id, visit_holder, &group, err);
}
