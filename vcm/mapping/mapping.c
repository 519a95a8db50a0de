/*
 * mapping.c - builds a page table beside the one in force and publishes it in one transaction.
 *
 * The caller adds pages and omissions in the order of the walk. They gather in a queue. A queue of
 * 8 MiB or 4,096 entries is a batch, which one transaction writes: for each page a row, a holder
 * and, when the store does not have the page, its descriptor and frame. Batches bound the memory
 * of a transaction and the time for which other writers wait. Readers do not see the rows yet:
 * the key of a row begins with the number of its mapping, and no scope names this number. The last
 * transaction writes the rest, names the number in the scope and marks the former table for
 * dropping. So a reader sees the former table or the new one. Then the former table is dropped, in
 * batches, too.
 *
 * The builder is in one of these modes (mapping_mode.h). Next to each arrow is the function that
 * changes the mode: begin() and start() are vcm_mapping_begin() and vcm_mapping_start(), the others
 * are below. mapping_mode.c has the same arrows, and asserts what must hold in each mode.
 *
 *                      OPENING, inside of vcm_mapping_begin()
 *         begin() with a   |            | start()                 | start(), pinned
 *         base             v            v                         v
 *                      REVISING ----> WRITING                  PINNING ----------------> SPOOLING
 *                          |  start()   |                         |  write_or_spool(),       |
 *       try_revision()     |            | publish()     publish() |  publish()     publish() |
 *                          v            v                         v                          v
 *                      PUBLISHED, which vcm_mapping_commit() frees
 *
 *      all but OPENING and PUBLISHED -- fail_unless_ok() --> FAILED
 *      vcm_mapping_abort() frees a builder in any mode but PUBLISHED
 *
 * REVISING: most remaps change a few rows. Nothing is written until the commit, which changes the
 * rows of the table in force that differ, in one transaction (mapping_revise.c). When they become
 * too many for one transaction, vcm_mapping_revise_give_up() calls vcm_mapping_start(), and the
 * table is built beside the one in force after all.
 *
 * WRITING: a commit waits for the disk. Therefore a second thread writes a full queue while the
 * caller fills another. There are two queues and one thread, because the store has one
 * writer at a time. The paths of the rows wait in memory and are written in the order of
 * their hashes (mapping_paths.h).
 *
 * PINNING: the pages of a pinned table are resident from the moment their rows are written, so a
 * batch may evict other pages. As long as it does not, the calling thread writes each batch.
 *
 * SPOOLING: a batch would evict other pages. It and all that follow wait in a temporary file until
 * the table is complete and known to fit (mapping_spool.h). So a table that is too large is
 * refused before a single page is evicted for it.
 *
 * FAILED: a call returned an error. vcm_mapping_abort() drops what was written under the builder's
 * own number; the table in force was never touched.
 *
 * A builder that dies leaves rows under a number that no scope names, and the kernel releases its
 * lock in mappings.lock. The next vcm_mapping_begin() of any process drops every mapping that is
 * not in force and not locked.
 */
#include "vcm/mapping/mapping.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/limits.h"
#include "vcm/mapping/mapping_build.h"
#include "vcm/mapping/mapping_drop.h"
#include "vcm/mapping/mapping_former.h"
#include "vcm/mapping/mapping_lock.h"
#include "vcm/mapping/mapping_revise.h"
#include "vcm/mapping/mapping_spool.h"
#include "vcm/store/table.h"

#include "base/banned.h"

/* After so many pages write_queue() checks whether to release the memory of the store's map. */
#define TRIM_EACH 32

/* The first mapping of an empty store records its tokenizer. The builder chose it before it counted
 * its first token; if the configuration has changed since, the mapping is refused. All counts of a
 * store are of one tokenizer, also those of a first mapping that is still being built. */
static int settle_tokenizer(struct vcm_transition *t, const char *wanted, struct vcm_error *err)
{
    struct vcm_slice stored, key = vcm_slice_of_string(VCM_META_TOKENIZER);
    const char *in_force = t->limits.tokenizer;
    uint64_t mappings = 0;

    int rc = vcm_kv_count(&mappings, t->txn, VCM_TABLE_MAPPINGS, err);
    if (rc == VCM_OK)
        rc = vcm_kv_get(&stored, t->txn, VCM_TABLE_META, key, err);
    if (rc != VCM_OK && rc != VCM_NOT_FOUND)
        return rc;
    bool is_same = rc == VCM_OK && vcm_slice_equal(stored, vcm_slice_of_string(wanted));
    if (rc == VCM_OK && mappings > 0 && !is_same)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "the pages of this home were counted with '%.*s', not '%s'; "
                             "use another --home, or unmap its scopes first",
                             (int)stored.len, stored.data, wanted);
    if (mappings == 0 && in_force[0] != '\0' && strcmp(in_force, wanted) != 0)
        return vcm_error_set(
            err, VCM_STORE_BUSY,
            "the tokenizer was changed from '%s' to '%s' while the scope was being "
            "mapped; map it again",
            wanted, in_force);
    return is_same ? VCM_OK
                   : vcm_kv_put(t->txn, VCM_TABLE_META, key, vcm_slice_of_string(wanted), err);
}

static int put_state(const struct vcm_mapping *mapping, struct vcm_kv_txn *txn, uint64_t number,
                     enum vcm_mapping_state state, struct vcm_error *err)
{
    const struct vcm_mapping_info info = {state, mapping->options.pinned,
                                          mapping->options.scope_id};

    return vcm_page_table_put_mapping(txn, number, &info, err);
}

struct beginning {
    const struct vcm_mapping *mapping;
    uint64_t number; /* taken by the last run of the transaction, which may run again */
};

static int begin_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct beginning *beginning = context;
    const struct vcm_mapping *mapping = beginning->mapping;

    int rc = settle_tokenizer(t, mapping->options.tokenizer, err);
    if (rc == VCM_OK)
        rc = vcm_transition_sweep_orphans(t, err);
    if (rc == VCM_OK)
        rc = vcm_table_take_number(&beginning->number, t->txn, VCM_META_NEXT_MAPPING, err);
    if (rc == VCM_OK)
        rc = vcm_mapping_lock_take(mapping->lock_fd, mapping->store, beginning->number, err);
    return rc == VCM_OK ? put_state(mapping, t->txn, beginning->number, VCM_MAPPING_BUILDING, err)
                        : rc;
}

int vcm_mapping_start(struct vcm_mapping *mapping, struct vcm_error *err)
{
    struct beginning beginning = {.mapping = mapping};

    assert(vcm_mapping_mode_holds(mapping));
    assert(mapping->mode == VCM_MAPPING_MODE_OPENING || mapping->mode == VCM_MAPPING_MODE_REVISING);
    int rc = vcm_transition_run(mapping->store, begin_change, &beginning, VCM_LIMIT_LOCK_TIMEOUT_MS,
                                mapping->options.cancel, err);
    if (rc != VCM_OK)
        return rc;
    vcm_mapping_mode_enter_with(
        mapping, mapping->options.pinned ? VCM_MAPPING_MODE_PINNING : VCM_MAPPING_MODE_WRITING,
        beginning.number);
    return VCM_OK;
}

void vcm_mapping_queue_init(struct vcm_mapping_queue *queue)
{
    *queue = (struct vcm_mapping_queue){0};
    vcm_buf_init(&queue->bytes, VCM_LIMIT_BATCH_BYTES + 2 * VCM_LIMIT_FRAME_BYTES);
}

void vcm_mapping_queue_release(struct vcm_mapping_queue *queue)
{
    vcm_buf_release(&queue->bytes);
    free(queue->items);
    vcm_mapping_queue_init(queue);
}

static void free_mapping(struct vcm_mapping *mapping)
{
    vcm_pool_close(mapping->writer);
    if (mapping->lock_fd >= 0)
        close(mapping->lock_fd);
    vcm_mapping_queue_release(&mapping->queue);
    vcm_mapping_queue_release(&mapping->written);
    vcm_mapping_paths_release(&mapping->paths);
    vcm_mapping_spool_release(&mapping->spool);
    free(mapping->origins);
    free(mapping->scope_id);
    free(mapping);
}

int vcm_mapping_begin(struct vcm_mapping **out, struct vcm_page_store *store,
                      const struct vcm_mapping_options *options, struct vcm_error *err)
{
    int rc;

    assert(!options->base || !options->pinned);
    *out = NULL;
    struct vcm_mapping *mapping = calloc(1, sizeof *mapping);
    if (!mapping)
        return vcm_error_memory(err);
    mapping->store = store;
    mapping->options = *options;
    mapping->former_revision = options->former ? vcm_mapping_former_revision(options->former) : 0;
    mapping->lock_fd = -1;
    vcm_mapping_spool_init(&mapping->spool);
    vcm_mapping_queue_init(&mapping->queue);
    vcm_mapping_queue_init(&mapping->written);
    vcm_mapping_paths_init(&mapping->paths);
    mapping->scope_id = strndup(options->scope_id.data, options->scope_id.len);
    if (!mapping->scope_id) {
        rc = vcm_error_memory(err);
        goto done;
    }
    mapping->options.scope_id = vcm_slice_of_string(mapping->scope_id);
    rc = vcm_mapping_lock_open(&mapping->lock_fd, store, err);
    if (rc == VCM_OK)
        rc = vcm_mapping_drop_abandoned(store, mapping->lock_fd, options->cancel, err);
    if (rc == VCM_OK && options->base) {
        vcm_mapping_mode_enter_with(mapping, VCM_MAPPING_MODE_REVISING, options->base->mapping);
    } else if (rc == VCM_OK) {
        rc = vcm_mapping_start(mapping, err);
    }
done:
    assert(rc != VCM_OK || vcm_mapping_mode_holds(mapping));
    if (rc == VCM_OK)
        *out = mapping;
    else
        free_mapping(mapping);
    return rc;
}

int vcm_mapping_clear(struct vcm_page_store *store, const struct vcm_cancel *cancel,
                      struct vcm_error *err)
{
    int fd;

    if (store->read_only)
        return VCM_OK;
    int rc = vcm_mapping_lock_open(&fd, store, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_mapping_drop_abandoned(store, fd, cancel, err);
    close(fd);
    return rc;
}

static struct vcm_slice frame_of(const struct vcm_mapping_queue *queue,
                                 const struct vcm_mapping_queued *q)
{
    return vcm_slice_of(queue->bytes.data + q->frame_at, q->frame_len);
}

static struct vcm_slice value_of(const struct vcm_mapping_queue *queue,
                                 const struct vcm_mapping_queued *q)
{
    return vcm_slice_of(queue->bytes.data + q->value_at, q->value_len);
}

/* The records of a page, as its row has them. */
static struct vcm_slice records_of(const struct vcm_mapping_queue *queue,
                                   const struct vcm_mapping_queued *q)
{
    struct vcm_slice value = value_of(queue, q);

    return vcm_slice_of(value.data + sizeof q->info.id.bytes, value.len - sizeof q->info.id.bytes);
}

static int write_queue(struct vcm_mapping *mapping, struct vcm_transition *t, struct vcm_error *err)
{
    const struct vcm_mapping_queue *queue = mapping->writing;
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < queue->count; i++) {
        const struct vcm_mapping_queued *q = &queue->items[i];
        rc = vcm_mapping_row_write(mapping, t, q, value_of(queue, q), err);
        if (rc == VCM_OK && q->is_page && mapping->options.pinned)
            rc = vcm_page_table_put_paths(t->txn, mapping->number, q->seq, records_of(queue, q),
                                          err);
        /* Page ids are spread over the whole file, and each lookup maps the pages around it. */
        if (i % TRIM_EACH == TRIM_EACH - 1)
            vcm_kv_trim_above(mapping->store->kv, VCM_LIMIT_MAPPED_BYTES);
    }
    if (rc == VCM_OK && mapping->options.pinned)
        rc = vcm_transition_check_pinned(t, err);
    return rc;
}

/* VCM_NO_ROOM, with nothing written, when pages would have to be evicted for the queue of a pinned
 * table: the caller spools it, and all that follows. */
static int flush_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct vcm_mapping *mapping = context;
    bool is_due = false;
    int rc = VCM_OK;

    memset(&mapping->batch, 0, sizeof mapping->batch);
    if (mapping->options.pinned)
        rc = vcm_mapping_spool_is_due(&is_due, mapping, t, err);
    if (rc == VCM_OK && is_due)
        return VCM_NO_ROOM;
    return rc == VCM_OK ? write_queue(mapping, t, err) : rc;
}

/* The frames of the queue are samples with which a dictionary can be trained. */
static int list_frames(struct vcm_mapping *mapping, const struct vcm_mapping_queue *queue,
                       struct vcm_error *err)
{
    mapping->frames_count = 0;
    mapping->frames = calloc(queue->count + 1, sizeof *mapping->frames);
    if (!mapping->frames)
        return vcm_error_memory(err);
    for (size_t i = 0; i < queue->count; i++)
        if (queue->items[i].is_page && !queue->items[i].is_known)
            mapping->frames[mapping->frames_count++] = frame_of(queue, &queue->items[i]);
    return VCM_OK;
}

struct guarded {
    struct vcm_mapping *mapping;
    vcm_transition_fn change;
    void *context;
};

/* VCM_RETRY when the store was replaced since the mapping began: rows of a mapping that the new
 * store does not know must not come into it. */
static int guarded_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    const struct guarded *guarded = context;
    struct vcm_mapping_info info;
    int rc = VCM_OK;

    if (vcm_mapping_mode_owns_number(guarded->mapping))
        rc = vcm_page_table_get_mapping(&info, t->txn, guarded->mapping->number, err);
    if (rc != VCM_OK)
        return rc == VCM_NOT_FOUND ? VCM_RETRY : rc;
    return guarded->change(guarded->context, t, err);
}

int vcm_mapping_run(struct vcm_mapping *mapping, struct vcm_mapping_queue *queue,
                    vcm_transition_fn change, void *context, struct vcm_error *err)
{
    struct guarded guarded = {mapping, change, context};

    assert(vcm_mapping_mode_may_write(mapping, queue));
    assert(mapping->writing == NULL && mapping->frames == NULL);
    int rc = list_frames(mapping, queue, err);

    mapping->writing = queue;
    if (rc == VCM_OK)
        rc = vcm_transition_run(mapping->store, guarded_change, &guarded, VCM_LIMIT_LOCK_TIMEOUT_MS,
                                mapping->options.cancel, err);
    free(mapping->frames);
    mapping->frames = NULL;
    mapping->writing = NULL;
    assert(vcm_mapping_mode_may_write(mapping, queue));
    if (rc != VCM_OK)
        return rc;
    mapping->result.pages_created += mapping->batch.pages_created;
    mapping->result.pages_reused += mapping->batch.pages_reused;
    mapping->result.pages_dropped += mapping->batch.pages_dropped;
    queue->count = 0;
    if (queue->bytes.capacity > 2 * VCM_LIMIT_BATCH_BYTES)
        vcm_buf_release(&queue->bytes);
    vcm_buf_clear(&queue->bytes);
    /* The mapped pages of the file count as this process's memory, and are not read again soon. */
    vcm_kv_trim_above(mapping->store->kv, VCM_LIMIT_MAPPED_BYTES);
    return VCM_OK;
}

static int paths_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct vcm_mapping *mapping = context;

    memset(&mapping->batch, 0, sizeof mapping->batch);
    return vcm_mapping_paths_write(&mapping->paths, t->txn, err);
}

/* Copies the paths of the queue's pages to `paths`. Not inside of the transaction, which may run
 * again. A pinned table writes its paths with its rows instead: paths that wait in memory would
 * have to be spooled, too. */
static int keep_paths(struct vcm_mapping *mapping, const struct vcm_mapping_queue *queue,
                      struct vcm_error *err)
{
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && !mapping->options.pinned && i < queue->count; i++) {
        const struct vcm_mapping_queued *q = &queue->items[i];
        if (q->is_page)
            rc = vcm_mapping_paths_add(&mapping->paths, mapping->number, q->seq,
                                       records_of(queue, q), err);
    }
    return rc;
}

/* Writes a queue, whose paths keep_paths() has copied, and all paths when they have become many. */
static int flush_queue(struct vcm_mapping *mapping, struct vcm_mapping_queue *queue,
                       struct vcm_error *err)
{
    int rc = vcm_mapping_run(mapping, queue, flush_change, mapping, err);

    if (rc != VCM_OK || vcm_mapping_paths_bytes(&mapping->paths) < VCM_MAPPING_PATHS_BYTES)
        return rc;
    rc = vcm_mapping_run(mapping, queue, paths_change, mapping, err);
    vcm_mapping_paths_clear(&mapping->paths);
    return rc;
}

/* Runs in the writer's thread. */
static void write_batch(void *argument, unsigned worker)
{
    struct vcm_mapping *mapping = argument;

    (void)worker;
    int rc = keep_paths(mapping, &mapping->written, &mapping->written_error);
    if (rc == VCM_OK)
        rc = flush_queue(mapping, &mapping->written, &mapping->written_error);
    mapping->written_rc = rc;
}

/* Waits until the writer's thread has nothing to do. Returns the first failure that it had. */
static int await_writer(struct vcm_mapping *mapping, struct vcm_error *err)
{
    if (mapping->writer)
        vcm_pool_drain(mapping->writer);
    if (mapping->written_rc != VCM_OK && err && err->code == VCM_OK)
        *err = mapping->written_error;
    return mapping->written_rc;
}

/* Waits for the former batch, then lets the writer's thread write the queue. The caller also waits
 * for a batch that has grown far beyond the limit, because two of them would take too much memory.
 */
static int hand_over(struct vcm_mapping *mapping, struct vcm_error *err)
{
    int rc = await_writer(mapping, err);

    if (rc == VCM_OK && !mapping->writer)
        rc = vcm_pool_open(&mapping->writer, 1, 1, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_mapping_queue full = mapping->queue;
    mapping->queue = mapping->written;
    mapping->written = full;
    bool long_one = full.bytes.len > 2 * VCM_LIMIT_BATCH_BYTES;
    vcm_pool_submit(mapping->writer, write_batch, mapping);
    return long_one ? await_writer(mapping, err) : VCM_OK;
}

/* PINNING: writes the full queue, or starts to spool with it. */
static int write_or_spool(struct vcm_mapping *mapping, struct vcm_error *err)
{
    int rc = vcm_mapping_run(mapping, &mapping->queue, flush_change, mapping, err);

    if (rc != VCM_NO_ROOM)
        return rc;
    vcm_mapping_mode_enter(mapping, VCM_MAPPING_MODE_SPOOLING);
    return vcm_mapping_spool_put(mapping, err);
}

static int flush_when_full(struct vcm_mapping *mapping, struct vcm_error *err)
{
    const struct vcm_mapping_queue *queue = &mapping->queue;
    bool full = queue->bytes.len >= VCM_LIMIT_BATCH_BYTES || queue->count >= VCM_LIMIT_BATCH_PAGES;

    if (mapping->mode == VCM_MAPPING_MODE_REVISING)
        return vcm_mapping_revise_is_full(mapping) ? vcm_mapping_revise_give_up(mapping, err)
                                                   : VCM_OK;
    if (!full)
        return VCM_OK;
    if (mapping->mode == VCM_MAPPING_MODE_WRITING)
        return hand_over(mapping, err);
    if (mapping->mode == VCM_MAPPING_MODE_PINNING)
        return write_or_spool(mapping, err);
    return vcm_mapping_spool_put(mapping, err);
}

int vcm_mapping_enqueue(struct vcm_mapping *mapping, const struct vcm_mapping_queued *q,
                        struct vcm_error *err)
{
    struct vcm_mapping_queue *queue = &mapping->queue;

    assert(vcm_mapping_mode_holds(mapping));
    assert(mapping->mode >= VCM_MAPPING_MODE_REVISING &&
           mapping->mode <= VCM_MAPPING_MODE_SPOOLING);
    int rc = vcm_buf_check(&queue->bytes, "a batch of pages", err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_array_reserve(&queue->items, &queue->capacity, queue->count + 1,
                           VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    queue->items[queue->count++] = *q;
    rc = flush_when_full(mapping, err);
    assert(vcm_mapping_mode_holds(mapping));
    return rc;
}

/* Returns `rc`, and enters FAILED when that is an error. The writer's thread reads the mode, so
 * this waits for it first. */
static int fail_unless_ok(struct vcm_mapping *mapping, int rc)
{
    if (rc == VCM_OK || mapping->mode == VCM_MAPPING_MODE_FAILED)
        return rc;
    await_writer(mapping, NULL);
    vcm_mapping_mode_enter(mapping, VCM_MAPPING_MODE_FAILED);
    return rc;
}

static int queue_page(struct vcm_mapping *mapping, const struct vcm_page_built *page,
                      struct vcm_error *err)
{
    struct vcm_mapping_queued q = {
        .is_page = true,
        .is_known = page->known,
        .info = {.id = page->id,
                 .state = VCM_PAGE_RESIDENT,
                 .is_volatile = page->is_volatile,
                 .bytes = page->frame.len,
                 .tokens = page->tokens,
                 .records = page->record_count},
        .frame_at = mapping->queue.bytes.len,
        .frame_len = page->known ? 0 : page->frame.len,
    };
    int rc = VCM_OK;

    if (mapping->mode == VCM_MAPPING_MODE_REVISING)
        rc = vcm_mapping_revise_note(mapping, page->known ? page->known_seq : VCM_KNOWN_NONE, err);
    if (rc != VCM_OK)
        return rc;
    q.seq = mapping->next_page++;
    if (mapping->mode == VCM_MAPPING_MODE_REVISING && page->known)
        return VCM_OK;
    if (!page->known)
        vcm_buf_append_slice(&mapping->queue.bytes, page->frame);
    q.value_at = mapping->queue.bytes.len;
    vcm_buf_append(&mapping->queue.bytes, page->id.bytes, sizeof page->id.bytes);
    vcm_page_put_records(&mapping->queue.bytes, page->records, page->record_count);
    q.value_len = mapping->queue.bytes.len - q.value_at;
    return vcm_mapping_enqueue(mapping, &q, err);
}

int vcm_mapping_add_page(struct vcm_mapping *mapping, const struct vcm_page_built *page,
                         struct vcm_error *err)
{
    assert(vcm_mapping_mode_holds(mapping));
    assert(mapping->mode != VCM_MAPPING_MODE_FAILED);
    int rc = fail_unless_ok(mapping, queue_page(mapping, page, err));
    assert(vcm_mapping_mode_holds(mapping));
    return rc;
}

int vcm_mapping_add_omission(struct vcm_mapping *mapping, const struct vcm_page_omission *omission,
                             struct vcm_error *err)
{
    struct vcm_mapping_queued q = {.seq = mapping->next_omission++,
                                   .value_at = mapping->queue.bytes.len};

    assert(vcm_mapping_mode_holds(mapping));
    assert(mapping->mode != VCM_MAPPING_MODE_FAILED);
    vcm_wire_put_u8(&mapping->queue.bytes, (uint8_t)omission->outcome);
    vcm_wire_put_bytes(&mapping->queue.bytes, omission->path);
    vcm_wire_put_bytes(&mapping->queue.bytes, omission->raw_path);
    vcm_wire_put_bytes(&mapping->queue.bytes, omission->content_id);
    vcm_wire_put_bytes(&mapping->queue.bytes, omission->reason);
    q.value_len = mapping->queue.bytes.len - q.value_at;
    int rc = fail_unless_ok(mapping, vcm_mapping_enqueue(mapping, &q, err));
    assert(vcm_mapping_mode_holds(mapping));
    return rc;
}

int vcm_mapping_put_scope(struct vcm_kv_txn *txn, const struct vcm_scope *scope,
                          struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(64 * VCM_KIB);

    vcm_scope_put(&value, scope);
    int rc = vcm_buf_check(&value, "a scope's description", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, VCM_TABLE_SCOPES, scope->scope_id, vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    return rc;
}

struct commit {
    struct vcm_mapping *mapping;
    struct vcm_scope *scope;
    uint64_t former; /* 0 when the scope is new */
    bool former_pinned;
    size_t next_batch; /* of the spool */
};

static int needs_page(bool *needs, void *context, struct vcm_kv_txn *txn,
                      const struct vcm_page_id *id, struct vcm_error *err)
{
    return vcm_mapping_spool_needs(needs, context, txn, id, err);
}

/* Writes the batches that are still in the spool. Drops the rows of a pinned former table first
 * whose pages the new table does not have: their bytes are room for the new pages. */
static int write_spooled(struct commit *commit, struct vcm_transition *t, struct vcm_error *err)
{
    struct vcm_mapping *mapping = commit->mapping;
    uint64_t dropped = 0;
    int rc = VCM_OK;

    memset(&mapping->batch, 0, sizeof mapping->batch);
    mapping->frames_count = 0; /* spool_get() overwrites the queue that they point into */
    if (commit->former != 0 && commit->former_pinned)
        rc = vcm_mapping_drop_rows(&dropped, t, commit->former, needs_page, mapping, err);
    mapping->batch.pages_dropped = dropped;
    for (size_t i = commit->next_batch; rc == VCM_OK && i < mapping->spool.batch_count; i++) {
        rc = vcm_mapping_spool_get(mapping, i, err);
        if (rc == VCM_OK)
            rc = write_queue(mapping, t, err);
    }
    return rc;
}

static int retire_former(struct commit *commit, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_scope former;

    commit->former = 0;
    int rc = vcm_page_store_scope(&former, txn, commit->mapping->options.scope_id, err);
    if (rc != VCM_OK)
        return rc == VCM_NOT_FOUND ? VCM_OK : rc;
    commit->former = former.mapping;
    commit->former_pinned = former.pinned;
    rc = vcm_mapping_drop_retire(txn, former.mapping, err);
    vcm_scope_release(&former);
    return rc;
}

/* Publishes the table, and writes what is left of it before that. */
static int commit_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct commit *commit = context;
    struct vcm_mapping *mapping = commit->mapping;
    int rc = VCM_OK;

    assert(mapping->mode >= VCM_MAPPING_MODE_WRITING && mapping->mode <= VCM_MAPPING_MODE_SPOOLING);
    if (mapping->mode != VCM_MAPPING_MODE_SPOOLING)
        rc = flush_change(mapping, t, err);
    if (rc == VCM_OK)
        rc = vcm_mapping_paths_write(&mapping->paths, t->txn, err);
    if (rc == VCM_OK)
        rc = vcm_mapping_former_check(mapping, t->txn, err);
    if (rc == VCM_OK && mapping->options.base)
        rc = vcm_mapping_revise_check_base(mapping, t->txn, err);
    if (rc == VCM_OK)
        rc = retire_former(commit, t->txn, err);
    if (rc == VCM_OK && mapping->mode == VCM_MAPPING_MODE_SPOOLING)
        rc = write_spooled(commit, t, err);
    if (rc == VCM_OK)
        rc = put_state(mapping, t->txn, mapping->number, VCM_MAPPING_IN_FORCE, err);
    return rc == VCM_OK ? vcm_mapping_put_scope(t->txn, commit->scope, err) : rc;
}

static int batch_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct vcm_mapping *mapping = context;

    memset(&mapping->batch, 0, sizeof mapping->batch);
    return write_queue(mapping, t, err);
}

/*
 * Checks that the complete table fits, and writes the batches of the spool, for which other pages
 * are evicted from now on. Two kinds of batches are left for commit_change(): the last one, and
 * from the first on those for which there is no room while the former table, in force and pinned
 * until then, keeps its pages.
 */
static int commit_spooled(struct commit *commit, struct vcm_error *err)
{
    struct vcm_mapping *mapping = commit->mapping;
    struct vcm_error no_room = {0};

    int rc = vcm_mapping_spool_put(mapping, err);
    if (rc == VCM_OK)
        rc = vcm_mapping_spool_check(mapping, err);
    for (; rc == VCM_OK && commit->next_batch + 1 < mapping->spool.batch_count;
         commit->next_batch++) {
        rc = vcm_mapping_spool_get(mapping, commit->next_batch, err);
        if (rc != VCM_OK)
            break;
        rc = vcm_mapping_run(mapping, &mapping->queue, batch_change, mapping, &no_room);
        if (rc == VCM_STORE_FULL) {
            rc = VCM_OK;
            break;
        }
        if (rc != VCM_OK && err)
            *err = no_room;
    }
    return rc == VCM_OK ? vcm_mapping_run(mapping, &mapping->queue, commit_change, commit, err)
                        : rc;
}

/* Revises the table in force. When that is not possible, the table is built beside it instead. */
static int try_revision(struct vcm_mapping *mapping, struct vcm_scope *scope, struct vcm_error *err)
{
    int rc = vcm_mapping_revise(mapping, scope, err);

    if (rc == VCM_RETRY)
        return vcm_mapping_revise_give_up(mapping, err);
    if (rc == VCM_OK)
        vcm_mapping_mode_enter(mapping, VCM_MAPPING_MODE_PUBLISHED);
    return rc;
}

/* Writes what is left and publishes the table; in one transaction, unless that would be larger than
 * a batch. VCM_NO_ROOM from flush_change(). */
static int finish_table(struct vcm_mapping *mapping, struct commit *commit, struct vcm_error *err)
{
    struct vcm_mapping_queue *queue = &mapping->queue;

    int rc = await_writer(mapping, err);
    if (rc == VCM_OK)
        rc = keep_paths(mapping, queue, err);
    if (rc == VCM_OK && !mapping->options.pinned &&
        queue->bytes.len + vcm_mapping_paths_bytes(&mapping->paths) > VCM_LIMIT_BATCH_BYTES)
        rc = flush_queue(mapping, queue, err);
    return rc == VCM_OK ? vcm_mapping_run(mapping, queue, commit_change, commit, err) : rc;
}

/* Publishes the table that was built beside the one in force. */
static int publish(struct vcm_mapping *mapping, struct commit *commit, struct vcm_error *err)
{
    int rc = VCM_OK;

    commit->scope->mapping = mapping->number;
    if (mapping->mode != VCM_MAPPING_MODE_SPOOLING)
        rc = finish_table(mapping, commit, err);
    if (rc == VCM_NO_ROOM && mapping->mode == VCM_MAPPING_MODE_PINNING) {
        vcm_mapping_mode_enter(mapping, VCM_MAPPING_MODE_SPOOLING);
        rc = VCM_OK;
    }
    if (rc == VCM_OK && mapping->mode == VCM_MAPPING_MODE_SPOOLING)
        rc = commit_spooled(commit, err);
    if (rc == VCM_OK)
        vcm_mapping_mode_enter(mapping, VCM_MAPPING_MODE_PUBLISHED);
    return rc;
}

/* The new table is in force. What this leaves of the former one, the next mapping drops; so a
 * failure here is no failure of the commit. */
static void drop_former(struct vcm_mapping_result *result, const struct vcm_mapping *mapping,
                        uint64_t former)
{
    struct vcm_error ignored = {0};
    uint64_t dropped = 0;

    assert(mapping->mode == VCM_MAPPING_MODE_PUBLISHED && former != mapping->number);
    if (vcm_mapping_drop(&dropped, mapping->store, former, mapping->number,
                         VCM_MAPPING_CLEANUP_TIMEOUT_MS, NULL, &ignored) != VCM_OK)
        vcm_log_write(mapping->store->log, VCM_LOG_WARNING,
                      "the former page table is not dropped yet: %s", ignored.message);
    result->pages_dropped += dropped;
}

int vcm_mapping_commit(struct vcm_mapping *mapping, struct vcm_scope *scope,
                       struct vcm_mapping_result *result, struct vcm_error *err)
{
    struct commit commit = {.mapping = mapping, .scope = scope};
    int rc = VCM_OK;

    assert(vcm_mapping_mode_holds(mapping));
    assert(mapping->mode != VCM_MAPPING_MODE_FAILED);
    scope->pinned = mapping->options.pinned;
    if (mapping->mode == VCM_MAPPING_MODE_REVISING)
        rc = try_revision(mapping, scope, err);
    if (rc == VCM_OK && mapping->mode != VCM_MAPPING_MODE_PUBLISHED)
        rc = publish(mapping, &commit, err);
    if (fail_unless_ok(mapping, rc) != VCM_OK) {
        vcm_mapping_abort(mapping);
        return rc;
    }
    assert(scope->mapping == mapping->number);
    *result = mapping->result;
    if (commit.former != 0)
        drop_former(result, mapping, commit.former);
    assert(vcm_mapping_mode_holds(mapping));
    free_mapping(mapping);
    return VCM_OK;
}

void vcm_mapping_abort(struct vcm_mapping *mapping)
{
    if (!mapping)
        return;
    assert(vcm_mapping_mode_holds(mapping));
    assert(mapping->mode != VCM_MAPPING_MODE_PUBLISHED);
    struct vcm_error ignored = {0};
    uint64_t dropped;
    await_writer(mapping, NULL);
    if (vcm_mapping_mode_owns_number(mapping) &&
        vcm_mapping_drop(&dropped, mapping->store, mapping->number, 0,
                         VCM_MAPPING_CLEANUP_TIMEOUT_MS, NULL, &ignored) != VCM_OK)
        vcm_log_write(mapping->store->log, VCM_LOG_WARNING,
                      "the unfinished page table is not dropped yet: %s", ignored.message);
    free_mapping(mapping);
}
