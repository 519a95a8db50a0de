#include "vcm/mapping/mapping_spool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "base/clock.h"
#include "base/limits.h"
#include "vcm/residency/lock.h"
#include "vcm/mapping/mapping_drop.h"

#include "base/banned.h"

void vcm_mapping_spool_init(struct vcm_mapping_spool *spool)
{
    *spool = (struct vcm_mapping_spool){.fd = -1};
}

void vcm_mapping_spool_release(struct vcm_mapping_spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    free(spool->batches);
    free(spool->pages);
    vcm_mapping_spool_init(spool);
}

int vcm_mapping_spool_is_due(bool *due, const struct vcm_mapping *mapping,
                             const struct vcm_transition *t, struct vcm_error *err)
{
    uint64_t bytes = t->totals.resident_bytes;
    int rc = VCM_OK;

    assert(mapping->mode == VCM_MAPPING_MODE_PINNING && vcm_mapping_mode_holds(mapping));
    for (size_t i = 0; rc == VCM_OK && i < mapping->queue.count; i++) {
        const struct vcm_mapping_queued *q = &mapping->queue.items[i];
        struct vcm_page_info there;
        if (!q->is_page)
            continue;
        rc = vcm_page_store_page(&there, t->txn, &q->info.id, err);
        if (rc == VCM_NOT_FOUND || (rc == VCM_OK && there.state != VCM_PAGE_RESIDENT)) {
            bytes += q->info.bytes;
            rc = VCM_OK;
        }
    }
    *due = rc == VCM_OK && bytes > t->limits.capacity;
    return rc;
}

static int io_error(const struct vcm_mapping *mapping, int code, struct vcm_error *err)
{
    return vcm_error_sys(err, VCM_IO_ERROR, code,
                         "cannot use a temporary file for pinned pages in '%s'",
                         mapping->store->directory);
}

/* Not every file system supports O_TMPFILE; the others get a file that is unlinked at once. */
static int open_file(struct vcm_mapping *mapping, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    int fd = open(mapping->store->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
        vcm_buf_append_string(&path, mapping->store->directory);
        vcm_buf_append_string(&path, "/spool.XXXXXX");
        fd = vcm_buf_check(&path, "the path of the store", err) == VCM_OK
                 ? mkostemp(path.data, O_CLOEXEC)
                 : -1;
        if (fd >= 0)
            unlink(path.data);
    }
    int code = errno;
    vcm_buf_release(&path);
    if (fd < 0)
        return io_error(mapping, code, err);
    assert(mapping->spool.fd == -1);
    mapping->spool.fd = fd;
    return VCM_OK;
}

static int put(struct vcm_mapping *mapping, uint64_t at, const void *data, size_t len,
               struct vcm_error *err)
{
    int failure = vcm_io_write_at(mapping->spool.fd, vcm_slice_of(data, len), at);

    return failure == 0 ? VCM_OK : io_error(mapping, failure, err);
}

static int get(struct vcm_mapping *mapping, uint64_t at, void *data, size_t len,
               struct vcm_error *err)
{
    if (vcm_io_read_at(mapping->spool.fd, data, len, at) == len)
        return VCM_OK;
    return io_error(mapping, errno != 0 ? errno : EIO, err);
}

static int compare_pages(const void *a, const void *b)
{
    /* `a` and `b` are page ids, or structs that begin with one. */
    return memcmp(a, b, sizeof(struct vcm_page_id));
}

/* Sorts the pages by id; a page that occurs twice counts once. */
static void sort_pages(struct vcm_mapping_spool *spool)
{
    size_t kept = 0;

    if (spool->page_count > 0)
        qsort(spool->pages, spool->page_count, sizeof *spool->pages, compare_pages);
    spool->page_bytes = 0;
    for (size_t i = 0; i < spool->page_count; i++) {
        if (kept > 0 && compare_pages(&spool->pages[kept - 1], &spool->pages[i]) == 0)
            continue;
        spool->page_bytes += spool->pages[i].bytes;
        spool->pages[kept++] = spool->pages[i];
    }
    assert(kept <= spool->page_count);
    spool->page_count = kept;
}

static int note_pages(struct vcm_mapping *mapping, struct vcm_error *err)
{
    struct vcm_mapping_spool *spool = &mapping->spool;
    struct vcm_page_store_limits limits;
    const size_t most = spool->page_count + mapping->queue.count;

    int rc =
        vcm_array_reserve(&spool->pages, &spool->page_capacity, most, VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    for (size_t i = 0; i < mapping->queue.count; i++) {
        const struct vcm_page_info *info = &mapping->queue.items[i].info;
        if (!mapping->queue.items[i].is_page)
            continue;
        spool->pages[spool->page_count++] = (struct vcm_mapping_spooled){info->id, info->bytes};
        spool->page_bytes += info->bytes;
    }
    rc = vcm_page_store_read_limits(&limits, mapping->store, err);
    if (rc == VCM_OK && spool->page_bytes > limits.capacity)
        sort_pages(spool);
    return rc == VCM_OK && spool->page_bytes > limits.capacity
               ? vcm_transition_too_much(spool->page_bytes, limits.capacity, err)
               : rc;
}

static int add_batch(struct vcm_mapping *mapping, struct vcm_error *err)
{
    struct vcm_mapping_spool *spool = &mapping->spool;
    const size_t queue_bytes = mapping->queue.count * sizeof *mapping->queue.items;
    const struct vcm_mapping_batch batch = {spool->length, mapping->queue.count,
                                            mapping->queue.bytes.len};

    int rc = vcm_array_reserve(&spool->batches, &spool->batch_capacity, spool->batch_count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc == VCM_OK && spool->batch_count == 0)
        rc = open_file(mapping, err);
    if (rc != VCM_OK)
        return rc;
    spool->batches[spool->batch_count++] = batch;
    spool->length += queue_bytes + mapping->queue.bytes.len;
    rc = put(mapping, batch.at, mapping->queue.items, queue_bytes, err);
    return rc == VCM_OK ? put(mapping, batch.at + queue_bytes, mapping->queue.bytes.data,
                              mapping->queue.bytes.len, err)
                        : rc;
}

int vcm_mapping_spool_put(struct vcm_mapping *mapping, struct vcm_error *err)
{
    assert(mapping->mode == VCM_MAPPING_MODE_SPOOLING && vcm_mapping_mode_holds(mapping));
    if (mapping->queue.count == 0)
        return VCM_OK;
    int rc = note_pages(mapping, err);
    if (rc == VCM_OK)
        rc = add_batch(mapping, err);
    mapping->queue.count = 0;
    vcm_buf_clear(&mapping->queue.bytes);
    assert(vcm_mapping_mode_holds(mapping));
    return rc;
}

/* The queue has room for the batch: all batches were in it before. */
int vcm_mapping_spool_get(struct vcm_mapping *mapping, size_t batch, struct vcm_error *err)
{
    const struct vcm_mapping_batch *from = &mapping->spool.batches[batch];
    const size_t queue_bytes = from->count * sizeof *mapping->queue.items;

    assert(mapping->mode == VCM_MAPPING_MODE_SPOOLING && vcm_mapping_mode_holds(mapping));
    assert(batch < mapping->spool.batch_count);
    assert(from->count <= mapping->queue.capacity);
    mapping->queue.count = 0;
    vcm_buf_clear(&mapping->queue.bytes);
    char *bytes = vcm_buf_reserve(&mapping->queue.bytes, from->bytes);
    int rc = vcm_buf_check(&mapping->queue.bytes, "a batch of pages", err);
    if (rc == VCM_OK)
        rc = get(mapping, from->at, mapping->queue.items, queue_bytes, err);
    if (rc == VCM_OK)
        rc = get(mapping, from->at + queue_bytes, bytes, from->bytes, err);
    if (rc != VCM_OK)
        return rc;
    mapping->queue.count = from->count;
    vcm_buf_advance(&mapping->queue.bytes, from->bytes);
    assert(vcm_mapping_mode_holds(mapping));
    return VCM_OK;
}

int vcm_mapping_spool_needs(bool *needs, const struct vcm_mapping *mapping, struct vcm_kv_txn *txn,
                            const struct vcm_page_id *id, struct vcm_error *err)
{
    const struct vcm_mapping_spool *spool = &mapping->spool;
    uint32_t occurrences, first_seq;

    assert(mapping->mode == VCM_MAPPING_MODE_SPOOLING && vcm_mapping_mode_holds(mapping));
    *needs = spool->page_count > 0 && bsearch(id, spool->pages, spool->page_count,
                                              sizeof *spool->pages, compare_pages) != NULL;
    if (*needs)
        return VCM_OK;
    int rc = vcm_page_table_get_holder(&occurrences, &first_seq, txn, id, mapping->number, err);
    *needs = rc == VCM_OK;
    return rc == VCM_NOT_FOUND ? VCM_OK : rc;
}

struct sum {
    struct vcm_mapping *mapping;
    struct vcm_kv_txn *txn;
    uint64_t former; /* the scope's table in force, when it is pinned */
    uint64_t now_ms;
    uint64_t needed; /* bytes that would be pinned or locked after the commit */
};

/* Adds the pages of the file that are neither pinned nor locked yet. */
static int add_spooled(struct sum *sum, struct vcm_error *err)
{
    const struct vcm_mapping_spool *spool = &sum->mapping->spool;
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < spool->page_count; i++) {
        struct vcm_page_info info = {.bytes = spool->pages[i].bytes};
        uint64_t until = 0;
        rc = vcm_page_store_page(&info, sum->txn, &spool->pages[i].id, err);
        if (rc == VCM_OK)
            rc = vcm_lock_until(&until, sum->txn, &spool->pages[i].id, sum->now_ms, err);
        if (rc == VCM_NOT_FOUND || (rc == VCM_OK && until == 0 && !vcm_page_store_is_kept(&info))) {
            sum->needed += spool->pages[i].bytes;
            rc = VCM_OK;
        }
    }
    return rc;
}

/* Subtracts a page that the new table does not have and that only the former table pins. A page
 * that only the former table holds is dropped by the commit, with its locks and its own pin. */
static int subtract_former(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct sum *sum = context;
    struct vcm_page_info info;
    uint32_t first_seq = row->seq;
    uint64_t until = 0;
    bool needed = true, alone = false;

    int rc = vcm_mapping_spool_needs(&needed, sum->mapping, sum->txn, &row->id, err);
    if (rc != VCM_OK || needed)
        return rc;
    rc = vcm_page_table_first_seq(&first_seq, sum->txn, &row->id, sum->former, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_page(&info, sum->txn, &row->id, err);
    if (rc == VCM_OK)
        rc = vcm_lock_until(&until, sum->txn, &row->id, sum->now_ms, err);
    if (rc == VCM_NOT_FOUND)
        return vcm_table_malformed("a row of a page table", err);
    if (rc == VCM_OK)
        rc = vcm_mapping_drop_is_only_holder(&alone, sum->txn, &row->id, sum->former, err);
    if (rc == VCM_OK && first_seq == row->seq &&
        (alone || (info.pins == 1 && !info.pinned && !info.is_volatile && until == 0)))
        sum->needed -= info.bytes < sum->needed ? info.bytes : sum->needed;
    return rc;
}

static int add_up(struct sum *sum, struct vcm_error *err)
{
    struct vcm_page_totals totals;
    struct vcm_scope former;
    uint64_t locked = 0;

    int rc = vcm_page_store_totals(&totals, sum->txn, err);
    if (rc == VCM_OK)
        rc = vcm_lock_bytes(&locked, sum->txn, sum->now_ms, err);
    if (rc != VCM_OK)
        return rc;
    sum->needed = totals.pinned_bytes + locked;
    rc = add_spooled(sum, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_page_store_scope(&former, sum->txn, sum->mapping->options.scope_id, err);
    if (rc != VCM_OK)
        return rc == VCM_NOT_FOUND ? VCM_OK : rc;
    sum->former = former.mapping;
    if (former.pinned)
        rc = vcm_page_table_each_row(sum->txn, former.mapping, 0, subtract_former, sum, err);
    vcm_scope_release(&former);
    return rc;
}

int vcm_mapping_spool_check(struct vcm_mapping *mapping, struct vcm_error *err)
{
    struct vcm_page_store_limits limits;
    struct sum sum = {.mapping = mapping, .now_ms = vcm_clock_wall_ms()};

    assert(mapping->mode == VCM_MAPPING_MODE_SPOOLING && vcm_mapping_mode_holds(mapping));
    assert(mapping->queue.count == 0);
    sort_pages(&mapping->spool);
    int rc = vcm_page_store_read_begin(&sum.txn, mapping->store, err);
    if (rc != VCM_OK)
        return rc;
    rc = add_up(&sum, err);
    vcm_kv_handle_read_end(sum.txn);
    if (rc == VCM_OK)
        rc = vcm_page_store_read_limits(&limits, mapping->store, err);
    return rc == VCM_OK && sum.needed > limits.capacity
               ? vcm_transition_too_much(sum.needed, limits.capacity, err)
               : rc;
}
