/*
 * ingest.c - reads a source, cuts it into records and packs these into a page table.
 *
 *   calling thread:  walk -> fill a batch -> submit       take the oldest batch -> pack -> write
 *                                              |             ^
 *   workers:                                   +-> read, cut, count
 *
 * The calling thread walks the source, puts its items into batches of 16, and submits full batches
 * to a pool of workers. A worker reads the content of each item, cuts it into records and counts
 * their tokens (ingest_batch.c). This is where the time goes, and it needs nothing from other
 * items. The calling thread takes the batches back in the order in which it submitted them, not in
 * that in which they were done, and gives their records to page_builder.c, which gives finished
 * pages to mapping.c. So the pages do not depend on the number of workers or on their speed. Items
 * that have no pages (excluded, too large, failed) pass through batches as well, so omissions are
 * in that order, too.
 *
 * Batches are a ring of VCM_INGEST_WINDOW for each worker. Batch n is batches[n % batch_count].
 * Those from `consumed` to `submitted` are in flight; batches[submitted] is being filled:
 *
 *   FREE -- submit_batch() --> RUNNING -- vcm_ingest_batch_run() --> DONE
 *     ^------------------ consume_oldest(), of the calling thread ----'
 *
 * A batch without anything to read goes from FREE to DONE at once. When all batches are in flight,
 * the walk waits for the oldest. The mutex guards `state`, `consumed`, `waiting_bytes` and
 * `stopping`; a batch's other fields belong to the worker while it is RUNNING and to the calling
 * thread otherwise.
 *
 * Memory is bounded in three ways. Workers wait before they begin a batch while the results that
 * are not packed yet exceed 8 MiB; the oldest batch never waits, because the calling thread waits
 * for it. A batch has at most one item above 1 MiB, which is no longer than the worker's share of
 * 8 MiB. Other long items are postponed: when the turn of such an item has come, the calling thread
 * reads it and cuts it twice, first to count its parts, which every record has to state, then to
 * pack them one by one.
 *
 * A scope that was mapped before has known records (known.h). A file with the same path and content
 * takes its records from there without being read, and so does a whole directory that the source
 * reports as unchanged. Another process may drop pages of the former table meanwhile; then
 * vcm_ingest_run() starts again and reads everything.
 *
 * After a failure the calling thread packs nothing more: it sets `stopping`, so that no worker
 * waits for room, waits until the pool is idle, and aborts the mapping.
 */
#include "vcm/mapping/mapping_former.h"
#include "vcm/mapping/ingest.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "base/pool.h"
#include "base/utf8.h"
#include "vcm/mapping/ingest_batch.h"

#include "base/banned.h"

static int add_omission(struct vcm_ingest *ingest, const struct vcm_ingest_batch *batch,
                        const struct vcm_ingest_item *item, struct vcm_error *err)
{
    struct vcm_slice path = vcm_ingest_batch_path(batch, item);
    const char *reason = vcm_source_reason_text(item->reason, item->reason_text);
    const struct vcm_page_omission omission = {
        .path = path,
        .raw_path = vcm_ingest_batch_raw_path(batch, item),
        .content_id = vcm_slice_of(item->item.content_id, item->item.content_id_len),
        .outcome = item->outcome,
        .reason = vcm_slice_of_string(reason),
    };

    assert(item->outcome != VCM_SOURCE_PAGED && item->outcome < VCM_SOURCE_OUTCOMES);
    if (item->outcome == VCM_SOURCE_FAILED && ingest->result->first_failure[0] == '\0')
        snprintf(ingest->result->first_failure, sizeof ingest->result->first_failure, "%.*s (%s)",
                 (int)(path.len < 200 ? path.len : 200), path.data,
                 reason ? reason : vcm_outcome_reason_name(VCM_REASON_UNREADABLE));
    ingest->scope->coverage.by_outcome[item->outcome]++;
    ingest->progress.files++;
    return vcm_mapping_add_omission(ingest->mapping, &omission, err);
}

/* A long item, which is cut twice: to count its parts, and to pack them. */
struct long_item {
    const struct vcm_ingest_batch *batch;
    struct vcm_ingest_item *item;
};

static int count_part(void *context, struct vcm_slice value, const struct vcm_page_record *record,
                      struct vcm_error *err)
{
    struct long_item *task = context;

    (void)value;
    (void)record;
    (void)err;
    task->item->record_count++;
    return VCM_OK;
}

static int pack_part(void *context, struct vcm_slice value, const struct vcm_page_record *part,
                     struct vcm_error *err)
{
    const struct long_item *task = context;
    struct vcm_ingest *ingest = task->batch->ingest;
    struct vcm_page_record record = *part;

    vcm_ingest_batch_fill_record(&record, task->batch, task->item);
    record.parts = task->item->record_count;
    int rc = vcm_cancel_check(ingest->options->cancel, err);
    return rc == VCM_OK ? vcm_page_builder_add(ingest->builder, value, &record, err) : rc;
}

static int pack_long(struct vcm_ingest_batch *batch, struct vcm_ingest_item *item,
                     struct vcm_error *err)
{
    struct vcm_ingest *ingest = batch->ingest;
    struct vcm_ingest_worker *worker = &ingest->workers[ingest->options->jobs];
    struct long_item task = {.batch = batch, .item = item};

    int rc = vcm_ingest_batch_read(batch, item, worker, 0, err);
    if (rc != VCM_OK || item->outcome != VCM_SOURCE_PAGED)
        return rc;
    rc = vcm_ingest_batch_refuse_file(
        item, vcm_ingest_batch_cut(batch, item, worker, count_part, &task, err), err);
    if (rc == VCM_OK && item->outcome == VCM_SOURCE_PAGED)
        rc = vcm_ingest_batch_cut(batch, item, worker, pack_part, &task, err);
    vcm_ingest_batch_shrink(&worker->content.text);
    return rc;
}

static int pack_short(const struct vcm_ingest_batch *batch, const struct vcm_ingest_item *item,
                      const struct vcm_page_record *records, const char *values,
                      struct vcm_error *err)
{
    int rc = VCM_OK;

    for (uint32_t i = 0; rc == VCM_OK && i < item->record_count; i++) {
        rc = vcm_page_builder_add(batch->ingest->builder, vcm_slice_of(values, records[i].bytes),
                                  &records[i], err);
        values += records[i].bytes;
    }
    return rc;
}

static int pack_known(struct vcm_ingest *ingest, const struct vcm_ingest_item *item,
                      struct vcm_error *err)
{
    int rc = VCM_OK;

    for (uint32_t i = 0; rc == VCM_OK && i < item->record_count; i++)
        rc = vcm_page_builder_add_known(ingest->builder, item->known + i, err);
    return rc;
}

/* Packs all records and omissions that the former table has of a directory. */
static int pack_directory(struct vcm_ingest *ingest, const struct vcm_known_directory_items *inside,
                          struct vcm_error *err)
{
    int rc = vcm_cancel_check(ingest->options->cancel, err);

    for (uint32_t i = inside->records.first; rc == VCM_OK && i < inside->records.end; i++) {
        uint64_t files = vcm_known_record(ingest->known, i)->part == 1;
        ingest->scope->coverage.tracked += files;
        ingest->scope->coverage.by_outcome[VCM_SOURCE_PAGED] += files;
        ingest->scope->records++;
        ingest->progress.files += files;
        rc = vcm_page_builder_add_known(ingest->builder, i, err);
    }
    for (uint32_t i = inside->omissions.first; rc == VCM_OK && i < inside->omissions.end; i++) {
        const struct vcm_page_omission *omission = vcm_known_omission(ingest->known, i);
        ingest->scope->coverage.tracked++;
        ingest->scope->coverage.by_outcome[omission->outcome]++;
        ingest->progress.files++;
        rc = vcm_mapping_add_omission(ingest->mapping, omission, err);
    }
    return rc;
}

static int pack_item(struct vcm_ingest_batch *batch, struct vcm_ingest_item *item,
                     const struct vcm_page_record *records, const char *values,
                     struct vcm_error *err)
{
    struct vcm_ingest *ingest = batch->ingest;
    int rc = VCM_OK;

    if (item->is_directory)
        return pack_directory(ingest, &item->inside, err);
    if (item->known != VCM_KNOWN_NONE)
        rc = pack_known(ingest, item, err);
    else if (item->outcome == VCM_SOURCE_PAGED && item->postponed)
        rc = pack_long(batch, item, err);
    else if (item->outcome == VCM_SOURCE_PAGED)
        rc = pack_short(batch, item, records, values, err);
    if (rc != VCM_OK)
        return rc;
    if (item->outcome != VCM_SOURCE_PAGED)
        return add_omission(ingest, batch, item, err);
    ingest->scope->coverage.by_outcome[VCM_SOURCE_PAGED]++;
    ingest->scope->records += item->record_count;
    ingest->progress.files++;
    ingest->progress.bytes += item->bytes;
    return VCM_OK;
}

static int pack_batch(struct vcm_ingest_batch *batch, struct vcm_error *err)
{
    struct vcm_ingest *ingest = batch->ingest;
    const struct vcm_page_record *records = batch->records;
    const char *values = batch->values.data;
    struct vcm_ingest_item *item = batch->items;
    int rc = VCM_OK;

    for (unsigned i = 0; rc == VCM_OK && i < batch->done; i++, item++) {
        bool here = !item->postponed && item->known == VCM_KNOWN_NONE;
        uint32_t count = here ? item->record_count : 0;
        rc = pack_item(batch, item, records, values, err);
        for (uint32_t k = 0; k < count; k++)
            values += records++->bytes;
        if (rc == VCM_OK && ingest->options->progress)
            ingest->options->progress(ingest->options->progress_context, &ingest->progress);
        if (rc != VCM_OK)
            break;
    }
    assert(rc != VCM_OK || batch->rc != VCM_OK || values == batch->values.data + batch->values.len);
    if (rc == VCM_OK && batch->rc != VCM_OK) {
        rc = batch->rc;
        if (err)
            *err = batch->error;
    }
    if (rc == VCM_OK)
        return rc;
    struct vcm_slice path = vcm_ingest_batch_path(batch, item);
    return vcm_error_wrap(err, rc, "%.*s", (int)(path.len < 4096 ? path.len : 4096), path.data);
}

static struct vcm_ingest_batch *batch_of(const struct vcm_ingest *ingest, uint64_t number)
{
    return &ingest->batches[number % ingest->batch_count];
}

/* Waits for the oldest batch in flight and packs its results. */
static int consume_oldest(struct vcm_ingest *ingest, struct vcm_error *err)
{
    struct vcm_ingest_batch *batch = batch_of(ingest, ingest->consumed);

    assert(ingest->consumed < ingest->submitted);
    assert(ingest->submitted - ingest->consumed <= ingest->batch_count);
    assert(batch->number == ingest->consumed);
    pthread_mutex_lock(&ingest->mutex);
    while (batch->state != VCM_INGEST_BATCH_DONE)
        pthread_cond_wait(&ingest->batch_done, &ingest->mutex);
    pthread_mutex_unlock(&ingest->mutex);

    int rc = pack_batch(batch, err);
    pthread_mutex_lock(&ingest->mutex);
    assert(ingest->waiting_bytes >= batch->values.len);
    ingest->waiting_bytes -= batch->values.len;
    ingest->consumed++;
    batch->state = VCM_INGEST_BATCH_FREE;
    pthread_cond_broadcast(&ingest->batch_consumed);
    pthread_mutex_unlock(&ingest->mutex);
    vcm_ingest_batch_shrink(&batch->values);
    vcm_ingest_batch_shrink(&batch->paths);
    vcm_arena_release(&batch->sections);
    batch->count = 0;
    batch->to_read = false;
    batch->record_count = 0;
    return rc;
}

static void submit_batch(struct vcm_ingest *ingest)
{
    struct vcm_ingest_batch *batch = batch_of(ingest, ingest->submitted);

    assert(ingest->submitted - ingest->consumed < ingest->batch_count);
    assert(batch->state == VCM_INGEST_BATCH_FREE);
    assert(batch->count > 0 && batch->count <= VCM_INGEST_BATCH_ITEMS);
    batch->number = ingest->submitted++;
    batch->rc = VCM_OK;
    vcm_error_reset(&batch->error);
    batch->state = VCM_INGEST_BATCH_RUNNING;
    if (batch->to_read) {
        vcm_pool_submit(ingest->pool, vcm_ingest_batch_run, batch);
    } else {
        batch->done = batch->count;
        batch->state = VCM_INGEST_BATCH_DONE;
    }
}

static void find_known(struct vcm_ingest_batch *batch, struct vcm_ingest_item *item)
{
    const struct vcm_known *known = batch->ingest->known;

    if (known)
        item->known =
            vcm_known_find(known, vcm_ingest_batch_path(batch, item),
                           vcm_slice_of(item->item.content_id, item->item.content_id_len));
    if (item->known == VCM_KNOWN_NONE)
        batch->to_read = true;
    else
        item->record_count = vcm_known_record(known, item->known)->parts;
}

/* Appends the path as it is shown. Returns whether that is another than the source's. */
static bool append_shown(struct vcm_buf *out, struct vcm_slice path, bool name_is_escaped)
{
    size_t directory = path.len;

    while (name_is_escaped && directory > 0 && path.data[directory - 1] != '/')
        directory--;
    bool escaped = vcm_utf8_escape_path(out, vcm_slice_of(path.data, directory));
    vcm_buf_append(out, path.data + directory, path.len - directory);
    return escaped || name_is_escaped;
}

/* Adds an item to the batch with its path alone. */
static int add_path(struct vcm_ingest_batch *batch, struct vcm_slice path, bool name_is_escaped,
                    struct vcm_error *err)
{
    assert(batch->state == VCM_INGEST_BATCH_FREE && batch->count < VCM_INGEST_BATCH_ITEMS);
    struct vcm_ingest_item *item = &batch->items[batch->count];

    *item = (struct vcm_ingest_item){.known = VCM_KNOWN_NONE, .item.path = path};
    item->raw_path_at = batch->paths.len;
    vcm_buf_append_slice(&batch->paths, path);
    item->path_at = batch->paths.len;
    item->path_lossy = append_shown(&batch->paths, path, name_is_escaped);
    item->path_len = batch->paths.len - item->path_at;
    int rc = vcm_buf_check(&batch->paths, "a path", err);
    if (rc == VCM_OK)
        batch->count++;
    return rc;
}

static int add_item(struct vcm_ingest_batch *batch, const struct vcm_source_item *source,
                    struct vcm_error *err)
{
    struct vcm_ingest_item *item = &batch->items[batch->count];

    int rc = add_path(batch, source->path, source->name_is_escaped, err);
    if (rc != VCM_OK)
        return rc;
    item->item = *source;
    item->outcome = source->outcome;
    item->reason = source->reason;
    item->reason_text = source->reason_text;
    if (source->outcome == VCM_SOURCE_PAGED)
        find_known(batch, item);
    return VCM_OK;
}

/* The batch that is being filled, with room for one more. */
static int next_batch(struct vcm_ingest_batch **out, struct vcm_ingest *ingest,
                      struct vcm_error *err)
{
    *out = batch_of(ingest, ingest->submitted);
    if (ingest->submitted - ingest->consumed == ingest->batch_count)
        return consume_oldest(ingest, err);
    return VCM_OK;
}

static void submit_when_full(struct vcm_ingest *ingest, const struct vcm_ingest_batch *batch)
{
    if (batch->count == VCM_INGEST_BATCH_ITEMS || batch->paths.len > VCM_INGEST_KEEP_BYTES)
        submit_batch(ingest);
}

/* The walk calls this for each item. Items that the source excludes by name pass through batches,
 * too, so that omissions are in the order of the walk. */
static int visit_item(void *context, const struct vcm_source_item *item, struct vcm_error *err)
{
    struct vcm_ingest *ingest = context;
    struct vcm_ingest_batch *batch;

    int rc = next_batch(&batch, ingest, err);
    if (rc == VCM_OK)
        rc = add_item(batch, item, err);
    if (rc != VCM_OK)
        return rc;
    ingest->scope->coverage.tracked++;
    submit_when_full(ingest, batch);
    return VCM_OK;
}

/* The walk calls this for each unchanged directory; *skip when the former table knows all of it. */
static int visit_unchanged(void *context, struct vcm_slice directory, bool *skip,
                           struct vcm_error *err)
{
    struct vcm_ingest *ingest = context;
    struct vcm_known_directory_items inside;
    struct vcm_ingest_batch *batch;

    *skip = vcm_known_directory(&inside, ingest->known, directory);
    if (!*skip)
        return VCM_OK;
    int rc = next_batch(&batch, ingest, err);
    if (rc == VCM_OK)
        rc = add_path(batch, directory, false, err);
    if (rc != VCM_OK)
        return rc;
    batch->items[batch->count - 1].is_directory = true;
    batch->items[batch->count - 1].inside = inside;
    submit_when_full(ingest, batch);
    return VCM_OK;
}

static bool is_volatile(const struct vcm_ingest *ingest, const struct vcm_page_built *page)
{
    const struct vcm_source *source = ingest->options->source;

    for (uint32_t i = 0; source->functions->is_volatile && i < page->record_count; i++)
        if (source->functions->is_volatile(source,
                                           (const unsigned char *)page->records[i].content_id.data,
                                           page->records[i].content_id.len))
            return true;
    return false;
}

static int take_page(void *context, const struct vcm_page_built *built, struct vcm_error *err)
{
    struct vcm_ingest *ingest = context;
    struct vcm_page_built copy = *built;
    const struct vcm_page_built *page = &copy;

    copy.is_volatile = is_volatile(ingest, built);

    assert(page->record_count > 0 && page->record_count <= ingest->scope->flush_threshold);
    assert(page->tokens <= ingest->scope->flush_token_budget);
    ingest->scope->pages++;
    ingest->scope->tokens += page->tokens;
    ingest->scope->bytes += page->frame.len;
    ingest->progress.pages = ingest->scope->pages;
    ingest->progress.tokens = ingest->scope->tokens;
    return vcm_mapping_add_page(ingest->mapping, page, err);
}

static int open_stages(struct vcm_ingest *ingest, struct vcm_page_store *store,
                       struct vcm_error *err)
{
    const struct vcm_ingest_options *options = ingest->options;
    unsigned jobs = options->jobs;

    ingest->batch_count = jobs * VCM_INGEST_WINDOW;
    ingest->batches = calloc(ingest->batch_count, sizeof *ingest->batches);
    ingest->workers = calloc(jobs + 1, sizeof *ingest->workers);
    if (!ingest->batches || !ingest->workers)
        return vcm_error_memory(err);
    for (unsigned i = 0; i <= jobs; i++)
        vcm_buf_init(&ingest->workers[i].content.text, VCM_SOURCE_TEXT_BYTES_MAX);
    for (unsigned i = 0; i < ingest->batch_count; i++) {
        ingest->batches[i].ingest = ingest;
        vcm_buf_init(&ingest->batches[i].paths,
                     VCM_INGEST_KEEP_BYTES + 5 * VCM_LIMIT_TREE_PATH_BYTES);
        vcm_buf_init(&ingest->batches[i].values, 4 * VCM_LIMIT_FRAME_BYTES);
        vcm_arena_init(&ingest->batches[i].sections, VCM_LIMIT_FRAME_BYTES);
    }
    int rc = vcm_pool_open(&ingest->pool, jobs, ingest->batch_count, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_page_builder_open(&ingest->builder,
                               &(struct vcm_page_builder_options){
                                   .record_threshold = ingest->scope->flush_threshold,
                                   .token_budget = ingest->scope->flush_token_budget,
                                   .known = ingest->known,
                                   .emit = take_page,
                                   .emit_context = ingest,
                               },
                               err);
    if (rc != VCM_OK)
        return rc;
    return vcm_mapping_begin(&ingest->mapping, store,
                             &(struct vcm_mapping_options){
                                 .scope_id = ingest->scope->scope_id,
                                 .tokenizer = vcm_tokenizer_name(options->tokenizer),
                                 .pinned = ingest->scope->pinned,
                                 .base = ingest->known ? vcm_known_base(ingest->known) : NULL,
                                 .former = options->former,
                                 .cancel = options->cancel,
                             },
                             err);
}

static void close_workers(struct vcm_ingest *ingest)
{
    for (unsigned i = 0; ingest->workers && i <= ingest->options->jobs; i++) {
        struct vcm_ingest_worker *worker = &ingest->workers[i];
        if (worker->reader)
            ingest->options->source->functions->reader_close(worker->reader);
        vcm_split_close(worker->split);
        vcm_buf_release(&worker->content.text);
    }
    free(ingest->workers);
}

static void close_stages(struct vcm_ingest *ingest)
{
    vcm_pool_close(ingest->pool); /* waits for the batches in flight */
    close_workers(ingest);
    for (unsigned i = 0; ingest->batches && i < ingest->batch_count; i++) {
        struct vcm_ingest_batch *batch = &ingest->batches[i];
        vcm_buf_release(&batch->paths);
        vcm_buf_release(&batch->values);
        vcm_arena_release(&batch->sections);
        free(batch->records);
    }
    free(ingest->batches);
    vcm_page_builder_close(ingest->builder);
    pthread_cond_destroy(&ingest->batch_consumed);
    pthread_cond_destroy(&ingest->batch_done);
    pthread_mutex_destroy(&ingest->mutex);
}

/* Workers that wait for room must end: after a failure the calling thread takes no more batches. */
static void wake_workers(struct vcm_ingest *ingest)
{
    pthread_mutex_lock(&ingest->mutex);
    ingest->stopping = true;
    pthread_cond_broadcast(&ingest->batch_consumed);
    pthread_mutex_unlock(&ingest->mutex);
}

static int walk(struct vcm_ingest *ingest, struct vcm_error *err)
{
    struct vcm_source *source = ingest->options->source;
    const struct vcm_cancel *cancel = ingest->options->cancel;

    if (ingest->known && source->functions->walk_since)
        return source->functions->walk_since(source, vcm_known_commit(ingest->known), visit_item,
                                             visit_unchanged, ingest, cancel, err);
    return source->functions->walk(source, visit_item, ingest, cancel, err);
}

#ifndef NDEBUG
/* S9: every item that the walk reported has one outcome. */
static bool coverage_adds_up(const struct vcm_scope *scope)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < VCM_SOURCE_OUTCOMES; i++)
        sum += scope->coverage.by_outcome[i];
    return sum == scope->coverage.tracked;
}
#endif

static int run_stages(struct vcm_ingest *ingest, struct vcm_error *err)
{
    int rc = walk(ingest, err);

    if (rc == VCM_OK && batch_of(ingest, ingest->submitted)->count > 0 &&
        ingest->submitted - ingest->consumed < ingest->batch_count)
        submit_batch(ingest);
    while (rc == VCM_OK && ingest->consumed < ingest->submitted)
        rc = consume_oldest(ingest, err);
    if (rc == VCM_OK)
        rc = vcm_page_builder_finish(ingest->builder, err);
    assert(rc != VCM_OK || coverage_adds_up(ingest->scope));
    wake_workers(ingest);
    return rc;
}

static int run_once(struct vcm_ingest_result *result, struct vcm_page_store *store,
                    struct vcm_scope *scope, const struct vcm_ingest_options *options,
                    struct vcm_known *known, struct vcm_error *err)
{
    struct vcm_ingest ingest = {
        .options = options, .scope = scope, .result = result, .known = known};

    memset(result, 0, sizeof *result);
    pthread_mutex_init(&ingest.mutex, NULL);
    pthread_cond_init(&ingest.batch_done, NULL);
    pthread_cond_init(&ingest.batch_consumed, NULL);
    int rc = open_stages(&ingest, store, err);
    if (rc == VCM_OK)
        rc = run_stages(&ingest, err);
    close_stages(&ingest);
    if (rc == VCM_OK) {
        scope->mapped_at = (uint64_t)time(NULL);
        rc = vcm_mapping_commit(ingest.mapping, scope, &result->pages, err);
    } else {
        vcm_mapping_abort(ingest.mapping);
    }
    return rc;
}

/* When another process drops pages of the former table meanwhile, everything is read instead. */
int vcm_ingest_run(struct vcm_ingest_result *result, struct vcm_page_store *store,
                   struct vcm_scope *scope, const struct vcm_ingest_options *options,
                   struct vcm_error *err)
{
    const struct vcm_scope before = *scope;
    struct vcm_known *known = NULL;
    struct vcm_error known_err = {0};

    assert(options->jobs > 0);
    if (options->reuse && !scope->pinned &&
        vcm_known_open(&known, store, scope, &known_err) != VCM_OK)
        vcm_error_reset(&known_err);
    if (known) {
        int rc = run_once(result, store, scope, options, known, &known_err);
        vcm_known_close(known);
        if (rc != VCM_RETRY && rc != VCM_NOT_FOUND && rc != VCM_STORE_CORRUPT) {
            if (rc != VCM_OK && err)
                *err = known_err;
            return rc;
        }
        *scope = before;
        bool same = true;
        rc = options->former ? vcm_mapping_former_is_in_force(&same, store, scope->scope_id,
                                                              options->former, err)
                             : VCM_OK;
        if (rc != VCM_OK || !same)
            return rc != VCM_OK ? rc : VCM_RETRY;
    }
    return run_once(result, store, scope, options, NULL, err);
}
