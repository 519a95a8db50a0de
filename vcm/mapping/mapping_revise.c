#include "vcm/mapping/mapping_revise.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "vcm/mapping/mapping_drop.h"
#include "vcm/mapping/mapping_former.h"

#include "base/banned.h"

/* After so many rows the memory of the store's map is released. */
#define TRIM_EACH 32

/* A row of the base that the new table does not have, or has at another place. */
struct former_row {
    uint32_t seq;
    struct vcm_page_id id;
    size_t value_at, value_len; /* in the revision's bytes */
};

struct revision {
    struct vcm_mapping *mapping;
    const struct vcm_scope *scope;
    struct former_row *rows; /* by seq */
    uint32_t row_count, row_max;
    struct vcm_buf bytes;
};

int vcm_mapping_revise_note(struct vcm_mapping *mapping, uint32_t origin, struct vcm_error *err)
{
    assert(mapping->mode == VCM_MAPPING_MODE_REVISING && vcm_mapping_mode_holds(mapping));
    int rc = vcm_array_reserve(&mapping->origins, &mapping->origin_capacity, mapping->next_page + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    mapping->origins[mapping->next_page] = origin;
    return VCM_OK;
}

bool vcm_mapping_revise_is_full(const struct vcm_mapping *mapping)
{
    const struct vcm_mapping_queue *queue = &mapping->queue;

    assert(mapping->mode == VCM_MAPPING_MODE_REVISING && vcm_mapping_mode_holds(mapping));
    return queue->bytes.len + queue->count * sizeof *queue->items >= VCM_LIMIT_BATCH_BYTES;
}

int vcm_mapping_revise_check_base(const struct vcm_mapping *mapping, struct vcm_kv_txn *txn,
                                  struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(64 * VCM_KIB);
    struct vcm_scope scope;

    assert(mapping->options.base && vcm_mapping_mode_holds(mapping));
    int rc = vcm_page_store_scope(&scope, txn, mapping->options.scope_id, err);
    if (rc == VCM_NOT_FOUND)
        return VCM_RETRY; /* the scope was dropped */
    if (rc != VCM_OK)
        return rc;
    vcm_scope_put(&value, &scope);
    vcm_scope_release(&scope);
    rc = vcm_buf_check(&value, "a scope's description", err);
    if (rc == VCM_OK && !vcm_slice_equal(vcm_buf_slice(&value), mapping->options.base->scope))
        rc = VCM_RETRY;
    vcm_buf_release(&value);
    return rc;
}

static bool is_unchanged(const struct vcm_mapping *mapping, uint32_t seq)
{
    return seq < mapping->next_page && mapping->origins[seq] == seq;
}

/* Copies a row of the base and deletes it with its holder and paths. The page stays. */
static int remove_row(struct revision *revision, struct vcm_transition *t, uint32_t seq,
                      struct vcm_error *err)
{
    const uint64_t number = revision->mapping->number;
    struct former_row *row = &revision->rows[revision->row_count];
    unsigned char row_bytes[VCM_ROW_KEY_BYTES], holder_bytes[VCM_HOLDER_KEY_BYTES];
    struct vcm_slice value, key = vcm_table_row_key(row_bytes, number, seq);
    uint32_t occurrences, first_seq;

    int rc = vcm_kv_get(&value, t->txn, VCM_TABLE_ROWS, key, err);
    if (rc == VCM_NOT_FOUND || (rc == VCM_OK && value.len < sizeof row->id.bytes))
        return vcm_table_malformed("a row of a page table", err);
    if (rc != VCM_OK)
        return rc;
    assert(revision->row_count < revision->row_max);
    assert(revision->row_count == 0 || row[-1].seq < seq);
    *row = (struct former_row){.seq = seq, .value_at = revision->bytes.len, .value_len = value.len};
    memcpy(row->id.bytes, value.data, sizeof row->id.bytes);
    vcm_buf_append_slice(&revision->bytes, value);
    if (revision->bytes.fault == VCM_BUF_TOO_LARGE)
        return VCM_RETRY; /* too much differs */
    rc = vcm_buf_check(&revision->bytes, "rows of a page table", err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_page_table_get_holder(&occurrences, &first_seq, t->txn, &row->id, number, err);
    if (rc == VCM_NOT_FOUND || (rc == VCM_OK && occurrences != 1))
        return VCM_RETRY; /* the base has the page several times */
    revision->row_count++;
    if (rc == VCM_OK)
        rc = vcm_kv_delete(t->txn, VCM_TABLE_HOLDERS,
                           vcm_table_holder_key(holder_bytes, &row->id, number), err);
    if (rc == VCM_OK)
        rc = vcm_kv_delete(t->txn, VCM_TABLE_ROWS, key, err);
    if (rc == VCM_OK)
        rc = vcm_page_table_delete_paths(
            t->txn, number, seq,
            vcm_slice_of(revision->bytes.data + row->value_at + sizeof row->id.bytes,
                         row->value_len - sizeof row->id.bytes),
            err);
    return rc;
}

static int remove_rows(struct revision *revision, struct vcm_transition *t, struct vcm_error *err)
{
    const struct vcm_mapping *mapping = revision->mapping;
    int rc = VCM_OK;

    revision->row_count = 0;
    vcm_buf_clear(&revision->bytes);
    for (uint32_t seq = 0; rc == VCM_OK && seq < mapping->options.base->pages; seq++) {
        if (is_unchanged(mapping, seq))
            continue;
        rc = remove_row(revision, t, seq, err);
        if (revision->row_count % TRIM_EACH == TRIM_EACH - 1)
            vcm_kv_trim(mapping->store->kv);
    }
    return rc;
}

static int compare_rows(const void *a, const void *b)
{
    const struct former_row *left = a, *right = b;
    return (left->seq > right->seq) - (left->seq < right->seq);
}

static int put_row(struct vcm_mapping *mapping, struct vcm_transition *t,
                   const struct vcm_mapping_queued *q, struct vcm_slice value,
                   struct vcm_error *err)
{
    int rc = vcm_mapping_row_write(mapping, t, q, value, err);

    if (rc != VCM_OK)
        return rc;
    return vcm_page_table_put_paths(
        t->txn, mapping->number, q->seq,
        vcm_slice_of(value.data + VCM_PAGE_ID_BYTES, value.len - VCM_PAGE_ID_BYTES), err);
}

/* Writes a page of the base at its new place. */
static int put_moved(struct revision *revision, struct vcm_transition *t, uint32_t seq,
                     struct vcm_error *err)
{
    const struct former_row wanted = {.seq = revision->mapping->origins[seq]};
    const struct former_row *row = revision->row_count == 0
                                       ? NULL
                                       : bsearch(&wanted, revision->rows, revision->row_count,
                                                 sizeof *revision->rows, compare_rows);

    if (!row)
        return VCM_RETRY; /* the new table has the page also where the base has it */
    const struct vcm_mapping_queued q = {
        .is_page = true, .is_known = true, .seq = seq, .info = {.id = row->id}};
    return put_row(revision->mapping, t, &q,
                   vcm_slice_of(revision->bytes.data + row->value_at, row->value_len), err);
}

static struct vcm_slice value_of(const struct vcm_mapping *mapping,
                                 const struct vcm_mapping_queued *q)
{
    return vcm_slice_of(mapping->queue.bytes.data + q->value_at, q->value_len);
}

static int put_rows(struct revision *revision, struct vcm_transition *t, struct vcm_error *err)
{
    struct vcm_mapping *mapping = revision->mapping;
    const struct vcm_mapping_queued *next = mapping->queue.items;
    unsigned written = 0;
    int rc = VCM_OK;

    for (uint32_t seq = 0; rc == VCM_OK && seq < mapping->next_page; seq++) {
        if (is_unchanged(mapping, seq))
            continue;
        if (mapping->origins[seq] != VCM_KNOWN_NONE) {
            rc = put_moved(revision, t, seq, err);
        } else {
            while (!next->is_page)
                next++;
            assert(next < mapping->queue.items + mapping->queue.count && next->seq == seq);
            rc = put_row(mapping, t, next, value_of(mapping, next), err);
            next++;
        }
        if (++written % TRIM_EACH == 0)
            vcm_kv_trim(mapping->store->kv);
    }
    return rc;
}

/* Writes the omissions that differ, which most do not, and deletes those beyond the last. */
static int put_omissions(struct revision *revision, struct vcm_transition *t, struct vcm_error *err)
{
    struct vcm_mapping *mapping = revision->mapping;
    unsigned char bytes[VCM_ROW_KEY_BYTES];
    struct vcm_slice former;
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < mapping->queue.count; i++) {
        const struct vcm_mapping_queued *q = &mapping->queue.items[i];
        if (q->is_page)
            continue;
        rc = vcm_kv_get(&former, t->txn, VCM_TABLE_OMISSIONS,
                        vcm_table_row_key(bytes, mapping->number, q->seq), err);
        if (rc == VCM_NOT_FOUND || (rc == VCM_OK && !vcm_slice_equal(former, value_of(mapping, q))))
            rc = vcm_mapping_row_write(mapping, t, q, value_of(mapping, q), err);
    }
    for (uint32_t number = mapping->next_omission; rc == VCM_OK; number++)
        rc = vcm_kv_delete(t->txn, VCM_TABLE_OMISSIONS,
                           vcm_table_row_key(bytes, mapping->number, number), err);
    return rc == VCM_NOT_FOUND && (!err || err->code == VCM_OK) ? VCM_OK : rc;
}

/* The pages of deleted rows that the new table does not have. */
static int release_pages(struct revision *revision, struct vcm_transition *t, struct vcm_error *err)
{
    struct vcm_mapping *mapping = revision->mapping;
    int rc = VCM_OK;

    for (uint32_t i = 0; rc == VCM_OK && i < revision->row_count; i++) {
        const struct vcm_page_id *id = &revision->rows[i].id;
        uint32_t occurrences, first_seq;
        rc = vcm_page_table_get_holder(&occurrences, &first_seq, t->txn, id, mapping->number, err);
        if (rc == VCM_NOT_FOUND) {
            mapping->batch.pages_dropped++;
            rc = vcm_mapping_drop_page(t, id, false, err);
        }
    }
    return rc;
}

static int revise_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct revision *revision = context;
    struct vcm_mapping *mapping = revision->mapping;

    memset(&mapping->batch, 0, sizeof mapping->batch);
    int rc = vcm_mapping_former_check(mapping, t->txn, err);
    if (rc == VCM_OK)
        rc = vcm_mapping_revise_check_base(mapping, t->txn, err);
    if (rc == VCM_OK)
        rc = remove_rows(revision, t, err);
    if (rc == VCM_OK)
        rc = put_rows(revision, t, err);
    if (rc == VCM_OK)
        rc = release_pages(revision, t, err);
    if (rc == VCM_OK)
        rc = put_omissions(revision, t, err);
    if (rc == VCM_OK)
        rc = vcm_mapping_put_scope(t->txn, revision->scope, err);
    if (rc == VCM_OK)
        rc = vcm_transition_sweep_orphans(t, err);
    if (rc == VCM_OK)
        rc = vcm_dictionary_sweep(t->txn, err);
    mapping->batch.pages_reused = mapping->next_page - mapping->batch.pages_created;
    return rc;
}

int vcm_mapping_revise(struct vcm_mapping *mapping, struct vcm_scope *scope, struct vcm_error *err)
{
    struct revision revision = {.mapping = mapping, .scope = scope};
    uint32_t former = 0, later = 0;

    assert(mapping->mode == VCM_MAPPING_MODE_REVISING && vcm_mapping_mode_holds(mapping));
    for (uint32_t seq = 0; seq < mapping->options.base->pages; seq++)
        former += !is_unchanged(mapping, seq);
    for (uint32_t seq = 0; seq < mapping->next_page; seq++)
        later += !is_unchanged(mapping, seq);
    if (former > VCM_LIMIT_BATCH_PAGES || later > VCM_LIMIT_BATCH_PAGES)
        return VCM_RETRY; /* too much differs */
    revision.rows = calloc(former + 1u, sizeof *revision.rows);
    if (!revision.rows)
        return vcm_error_memory(err);
    revision.row_max = former;
    vcm_buf_init(&revision.bytes, VCM_LIMIT_BATCH_BYTES);
    scope->mapping = mapping->number;
    int rc = vcm_mapping_run(mapping, &mapping->queue, revise_change, &revision, err);
    vcm_buf_release(&revision.bytes);
    free(revision.rows);
    assert(mapping->mode == VCM_MAPPING_MODE_REVISING && vcm_mapping_mode_holds(mapping));
    return rc;
}

/* Queues a row of the base, read now. The commit checks that the base has not changed since it was
 * read first. */
static int copy_base_row(struct vcm_mapping *mapping, uint64_t base, uint32_t origin, uint32_t seq,
                         struct vcm_error *err)
{
    struct vcm_mapping_queued q = {.is_page = true, .is_known = true, .seq = seq};
    unsigned char key[VCM_ROW_KEY_BYTES];
    struct vcm_kv_txn *txn = NULL;
    struct vcm_slice value;

    int rc = vcm_page_store_read_begin(&txn, mapping->store, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_kv_get(&value, txn, VCM_TABLE_ROWS, vcm_table_row_key(key, base, origin), err);
    if (rc == VCM_NOT_FOUND)
        rc = VCM_RETRY;
    else if (rc == VCM_OK && value.len < sizeof q.info.id.bytes)
        rc = vcm_table_malformed("a row of a page table", err);
    if (rc == VCM_OK) {
        memcpy(q.info.id.bytes, value.data, sizeof q.info.id.bytes);
        q.value_at = mapping->queue.bytes.len;
        q.value_len = value.len;
        vcm_buf_append_slice(&mapping->queue.bytes, value);
    }
    vcm_kv_handle_read_end(txn);
    return rc == VCM_OK ? vcm_mapping_enqueue(mapping, &q, err) : rc;
}

static int queue_again(struct vcm_mapping *mapping, const struct vcm_buf *bytes,
                       const struct vcm_mapping_queued *queued, struct vcm_error *err)
{
    struct vcm_buf *to = &mapping->queue.bytes;
    struct vcm_mapping_queued q = *queued;

    q.frame_at = to->len;
    vcm_buf_append(to, bytes->data + queued->frame_at, queued->frame_len);
    q.value_at = to->len;
    vcm_buf_append(to, bytes->data + queued->value_at, queued->value_len);
    return vcm_mapping_enqueue(mapping, &q, err);
}

int vcm_mapping_revise_give_up(struct vcm_mapping *mapping, struct vcm_error *err)
{
    const uint64_t base = mapping->number;
    struct vcm_mapping_queue queue = mapping->queue;
    size_t at = 0;

    assert(mapping->mode == VCM_MAPPING_MODE_REVISING && vcm_mapping_mode_holds(mapping));
    vcm_mapping_queue_init(&mapping->queue);
    int rc = vcm_mapping_start(mapping, err);
    for (uint32_t seq = 0; rc == VCM_OK && seq < mapping->next_page; seq++) {
        if (mapping->origins[seq] != VCM_KNOWN_NONE) {
            rc = copy_base_row(mapping, base, mapping->origins[seq], seq, err);
            continue;
        }
        while (!queue.items[at].is_page)
            at++;
        assert(at < queue.count && queue.items[at].seq == seq);
        rc = queue_again(mapping, &queue.bytes, &queue.items[at++], err);
    }
    for (size_t i = 0; rc == VCM_OK && i < queue.count; i++)
        if (!queue.items[i].is_page)
            rc = queue_again(mapping, &queue.bytes, &queue.items[i], err);
    vcm_mapping_queue_release(&queue);
    assert(rc != VCM_OK || mapping->mode == VCM_MAPPING_MODE_WRITING);
    assert(vcm_mapping_mode_holds(mapping));
    return rc;
}
