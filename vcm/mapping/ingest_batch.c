#include "vcm/mapping/ingest_batch.h"

#include <assert.h>

#include "base/array.h"
#include "vcm/page/binary.h"

#include "base/banned.h"

/* Longer items are postponed to the calling thread, unless the workers are so few that their share
 * of LONG_ITEMS_BYTES_MAX is larger. */
#define ITEM_BYTES_MAX (1 * VCM_MIB)
/* The bytes of all longer items that workers may read at a time. */
#define LONG_ITEMS_BYTES_MAX (8 * VCM_MIB)
/* Workers do not begin a batch while more bytes of results wait, except for the oldest batch. */
#define WAITING_BYTES_MAX (8 * VCM_MIB)
static struct vcm_split_options split_options(const struct vcm_ingest *ingest)
{
    return (struct vcm_split_options){
        .tokenizer = ingest->options->tokenizer,
        .token_budget = ingest->scope->flush_token_budget,
        .headings = ingest->options->headings,
    };
}

struct vcm_slice vcm_ingest_batch_raw_path(const struct vcm_ingest_batch *batch,
                                           const struct vcm_ingest_item *item)
{
    return vcm_slice_of(batch->paths.data + item->raw_path_at, item->item.path.len);
}

struct vcm_slice vcm_ingest_batch_path(const struct vcm_ingest_batch *batch,
                                       const struct vcm_ingest_item *item)
{
    return vcm_slice_of(batch->paths.data + item->path_at, item->path_len);
}

static int add_part(void *context, struct vcm_slice value, const struct vcm_page_record *record,
                    struct vcm_error *err)
{
    struct vcm_ingest_batch *batch = context;

    int rc = vcm_array_reserve(&batch->records, &batch->record_capacity,
                               (size_t)batch->record_count + 1, VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_page_record *kept = &batch->records[batch->record_count];
    *kept = *record;
    if (record->prose &&
        (kept->section.data = vcm_arena_copy(&batch->sections, record->section)) == NULL)
        return vcm_error_memory(err);
    if (record->heading.len > 0 &&
        (kept->heading.data = vcm_arena_copy(&batch->sections, record->heading)) == NULL)
        return vcm_error_memory(err);
    batch->record_count++;
    vcm_buf_append_slice(&batch->values, value);
    return vcm_buf_check(&batch->values, "a file's records", err);
}

void vcm_ingest_batch_fill_record(struct vcm_page_record *record,
                                  const struct vcm_ingest_batch *batch,
                                  const struct vcm_ingest_item *item)
{
    record->path = vcm_ingest_batch_path(batch, item);
    record->content_id = vcm_slice_of(item->item.content_id, item->item.content_id_len);
    record->lossy = item->lossy;
    record->path_lossy = item->path_lossy;
}

/* A path may be so long that a record has no room for text within the token budget, and a source
 * may cut a text into records that are too long. Such a file has failed, and its parts are
 * discarded. */
int vcm_ingest_batch_refuse_file(struct vcm_ingest_item *item, int rc, struct vcm_error *err)
{
    if (rc != VCM_UNSUPPORTED && rc != VCM_NO_ROOM)
        return rc;
    item->outcome = VCM_SOURCE_FAILED;
    item->reason = rc == VCM_NO_ROOM ? VCM_REASON_OVER_THE_LIMITS : VCM_REASON_PATH_EXCEEDS_BUDGET;
    vcm_error_reset(err);
    return VCM_OK;
}

/* Passes the parts of a source that cuts its texts itself on. */
struct passing {
    vcm_split_part_fn emit;
    void *context;
};

static int pass_part(void *context, struct vcm_slice value, const struct vcm_page_record *record,
                     struct vcm_error *err)
{
    const struct passing *passing = context;

    if (value.len > VCM_LIMIT_RECORD_BYTES)
        return VCM_NO_ROOM;
    return passing->emit(passing->context, value, record, err);
}

int vcm_ingest_batch_cut(const struct vcm_ingest_batch *batch, const struct vcm_ingest_item *item,
                         const struct vcm_ingest_worker *worker, vcm_split_part_fn emit,
                         void *context, struct vcm_error *err)
{
    struct vcm_slice path = vcm_ingest_batch_path(batch, item);
    struct vcm_slice text = vcm_buf_slice(&worker->content.text);
    const struct vcm_split_options options = split_options(batch->ingest);
    const struct vcm_source_functions *source = batch->ingest->options->source->functions;

    struct passing passing = {emit, context};

    if (source->cut)
        return source->cut(&worker->content, worker->reader, path, &options, pass_part, &passing,
                           err);
    if (worker->content.binary)
        return vcm_binary_emit(path, text, &options, emit, context, err);
    return vcm_split_text(worker->split, path, text, emit, context, err);
}

static int cut_content(struct vcm_ingest_batch *batch, struct vcm_ingest_item *item,
                       struct vcm_ingest_worker *worker, struct vcm_error *err)
{
    uint32_t first = batch->record_count;
    size_t values = batch->values.len;

    /* One allocation for most of the parts: growing step by step would copy the buffer each time.
     */
    vcm_buf_reserve(&batch->values, worker->content.text.len + worker->content.text.len / 8);
    int rc = vcm_ingest_batch_cut(batch, item, worker, add_part, batch, err);
    rc = vcm_ingest_batch_refuse_file(item, rc, err);
    if (rc != VCM_OK)
        return rc;
    if (item->outcome != VCM_SOURCE_PAGED) {
        batch->record_count = first;
        vcm_buf_truncate(&batch->values, values);
    }
    item->record_count = batch->record_count - first;
    for (uint32_t i = first; i < batch->record_count; i++) {
        batch->records[i].parts = item->record_count;
        vcm_ingest_batch_fill_record(&batch->records[i], batch, item);
    }
    return VCM_OK;
}

static int open_worker(struct vcm_ingest_worker *worker, const struct vcm_ingest *ingest,
                       struct vcm_error *err)
{
    const struct vcm_split_options options = split_options(ingest);
    struct vcm_source *source = ingest->options->source;
    int rc = VCM_OK;

    if (!worker->split)
        rc = vcm_split_open(&worker->split, &options, err);
    if (rc == VCM_OK && !worker->reader)
        rc = source->functions->reader_open(&worker->reader, source, err);
    return rc;
}

void vcm_ingest_batch_shrink(struct vcm_buf *buf)
{
    if (buf->capacity > VCM_INGEST_KEEP_BYTES)
        vcm_buf_release(buf);
    vcm_buf_clear(buf);
}

int vcm_ingest_batch_read(struct vcm_ingest_batch *batch, struct vcm_ingest_item *item,
                          struct vcm_ingest_worker *worker, size_t bytes_max, struct vcm_error *err)
{
    struct vcm_ingest *ingest = batch->ingest;
    struct vcm_source_content *content = &worker->content;

    int rc = open_worker(worker, ingest, err);
    if (rc != VCM_OK)
        return rc;
    vcm_ingest_batch_shrink(&content->text);
    content->outcome = item->item.outcome;
    content->reason = VCM_REASON_NONE;
    content->lossy = false;
    content->binary = false;
    content->postponed = false;
    content->bytes_max = bytes_max;
    item->item.path = vcm_ingest_batch_raw_path(batch, item);
    rc = ingest->options->source->functions->read(content, worker->reader, &item->item, err);
    item->outcome = content->outcome;
    item->reason = content->reason;
    item->reason_text = content->reason_text;
    item->lossy = content->lossy;
    item->postponed = content->postponed || (bytes_max > 0 && content->text.len > bytes_max);
    item->bytes = content->text.len;
    return rc;
}

/* The longest item that the worker may read. Once the batch has a long one, it takes no second. */
static size_t item_bytes_max(const struct vcm_ingest_batch *batch)
{
    size_t share = LONG_ITEMS_BYTES_MAX / batch->ingest->options->jobs;

    return batch->values.len > ITEM_BYTES_MAX || share < ITEM_BYTES_MAX ? ITEM_BYTES_MAX : share;
}

static int process_item(struct vcm_ingest_batch *batch, struct vcm_ingest_item *item,
                        struct vcm_ingest_worker *worker, struct vcm_error *err)
{
    if (item->item.outcome != VCM_SOURCE_PAGED || item->known != VCM_KNOWN_NONE ||
        item->is_directory)
        return VCM_OK;
    int rc = vcm_cancel_check(batch->ingest->options->cancel, err);
    if (rc == VCM_OK)
        rc = vcm_ingest_batch_read(batch, item, worker, item_bytes_max(batch), err);
    if (rc == VCM_OK && item->outcome == VCM_SOURCE_PAGED && !item->postponed)
        rc = cut_content(batch, item, worker, err);
    return rc;
}

/* Waits while too many results wait to be packed, unless the calling thread waits for this batch.
 */
static void wait_for_room(struct vcm_ingest_batch *batch)
{
    struct vcm_ingest *ingest = batch->ingest;

    pthread_mutex_lock(&ingest->mutex);
    while (ingest->waiting_bytes > WAITING_BYTES_MAX && batch->number != ingest->consumed &&
           !ingest->stopping)
        pthread_cond_wait(&ingest->batch_consumed, &ingest->mutex);
    pthread_mutex_unlock(&ingest->mutex);
}

void vcm_ingest_batch_run(void *argument, unsigned number)
{
    struct vcm_ingest_batch *batch = argument;
    struct vcm_ingest *ingest = batch->ingest;

    wait_for_room(batch);
    for (batch->done = 0; batch->rc == VCM_OK && batch->done < batch->count; batch->done++) {
        batch->rc = process_item(batch, &batch->items[batch->done], &ingest->workers[number],
                                 &batch->error);
        if (batch->rc != VCM_OK)
            break;
    }
    pthread_mutex_lock(&ingest->mutex);
    assert(batch->state == VCM_INGEST_BATCH_RUNNING);
    assert(batch->rc == VCM_OK ? batch->done == batch->count : batch->done < batch->count);
    ingest->waiting_bytes += batch->values.len;
    batch->state = VCM_INGEST_BATCH_DONE;
    pthread_cond_signal(&ingest->batch_done);
    pthread_mutex_unlock(&ingest->mutex);
}
