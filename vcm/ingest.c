#include "vcm/ingest.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "base/pool.h"
#include "base/utf8.h"
#include "vcm/binary.h"
#include "vcm/split.h"

#include "base/banned.h"

/* A slot's buffers are kept for its next item unless they have grown beyond this. */
#define SLOT_KEEP_BYTES (1 * VCM_MIB)

enum slot_state {
    SLOT_FREE,
    SLOT_RUNNING,
    SLOT_DONE,
};

/* An item on its way through a worker. */
struct slot {
    struct ingest *ingest;
    enum slot_state state; /* guarded by ingest->mutex */
    struct vcm_source_item item;
    struct vcm_buf raw_path; /* item.path points here */
    struct vcm_buf path;     /* as shown: valid UTF-8 */
    bool path_lossy;
    struct vcm_source_content content;
    struct vcm_buf values; /* the serialised parts, one behind the other */
    struct vcm_page_record *records;
    uint32_t record_count;
    uint32_t record_capacity;
    int rc;
    struct vcm_error error;
};

struct ingest {
    const struct vcm_ingest_options *options;
    struct vcm_scope *scope;
    struct vcm_ingest_result *result;
    struct vcm_mapping *mapping;
    struct vcm_page_builder *builder;
    struct vcm_pool *pool;
    void **readers; /* one for each worker */
    struct slot *slots;
    unsigned slot_count;
    uint64_t submitted;
    uint64_t consumed;
    struct vcm_ingest_progress progress;
    pthread_mutex_t mutex;
    pthread_cond_t slot_done;
};

static int add_part(void *context, struct vcm_slice value, const struct vcm_page_record *record,
                    struct vcm_error *err)
{
    struct slot *slot = context;

    if (slot->record_count == slot->record_capacity) {
        uint32_t capacity = slot->record_capacity ? slot->record_capacity * 2 : 8;
        void *records = realloc(slot->records, capacity * sizeof *slot->records);
        if (!records)
            return vcm_error_memory(err);
        slot->records = records;
        slot->record_capacity = capacity;
    }
    slot->records[slot->record_count++] = *record;
    vcm_buf_append_slice(&slot->values, value);
    return vcm_buf_check(&slot->values, "a file's records", err);
}

static int cut_content(struct slot *slot, struct vcm_error *err)
{
    const struct vcm_split_options options = {
        .tokenizer = slot->ingest->options->tokenizer,
        .token_budget = slot->ingest->scope->flush_token_budget,
    };

    int rc = (slot->content.binary ? vcm_binary_emit : vcm_split_text)(
        vcm_buf_slice(&slot->path), vcm_buf_slice(&slot->content.text), &options, add_part, slot,
        err);
    if (rc == VCM_UNSUPPORTED) {
        slot->content.outcome = VCM_SOURCE_FAILED;
        slot->content.reason = "path_exceeds_budget";
        vcm_error_reset(err);
        return VCM_OK;
    }
    for (uint32_t i = 0; i < slot->record_count; i++) {
        struct vcm_page_record *record = &slot->records[i];
        record->content_id = vcm_slice_of(slot->item.content_id, slot->item.content_id_len);
        record->parts = slot->record_count;
        record->lossy = slot->content.lossy;
        record->path_lossy = slot->path_lossy;
    }
    return rc;
}

static int process(struct slot *slot, unsigned worker, struct vcm_error *err)
{
    struct ingest *ingest = slot->ingest;
    struct vcm_source *source = ingest->options->source;
    int rc = vcm_cancel_check(ingest->options->cancel, err);

    if (rc == VCM_OK && !ingest->readers[worker])
        rc = source->functions->reader_open(&ingest->readers[worker], source, err);
    if (rc == VCM_OK)
        rc = source->functions->read(&slot->content, ingest->readers[worker], &slot->item, err);
    if (rc == VCM_OK && slot->content.outcome == VCM_SOURCE_PAGED)
        rc = cut_content(slot, err);
    return rc;
}

static void run_slot(void *argument, unsigned worker)
{
    struct slot *slot = argument;

    slot->rc = process(slot, worker, &slot->error);
    pthread_mutex_lock(&slot->ingest->mutex);
    slot->state = SLOT_DONE;
    pthread_cond_signal(&slot->ingest->slot_done);
    pthread_mutex_unlock(&slot->ingest->mutex);
}

static void clear_or_shrink(struct vcm_buf *buf)
{
    if (buf->capacity > SLOT_KEEP_BYTES)
        vcm_buf_release(buf);
    vcm_buf_clear(buf);
}

static int leave_out(struct ingest *ingest, const struct vcm_source_item *item,
                     struct vcm_slice path, enum vcm_source_outcome outcome, const char *reason,
                     struct vcm_error *err)
{
    const struct vcm_page_omission omission = {
        .path = path,
        .raw_path = item->path,
        .content_id = vcm_slice_of(item->content_id, item->content_id_len),
        .outcome = outcome,
        .reason = vcm_slice_of_string(reason),
    };

    if (outcome == VCM_SOURCE_FAILED && ingest->result->first_failure[0] == '\0')
        snprintf(ingest->result->first_failure, sizeof ingest->result->first_failure, "%.*s (%s)",
                 (int)(path.len < 200 ? path.len : 200), path.data, reason ? reason : "unreadable");
    ingest->scope->coverage.by_outcome[outcome]++;
    ingest->progress.files++;
    return vcm_mapping_add_omission(ingest->mapping, &omission, err);
}

static int pack_slot(struct slot *slot, struct vcm_error *err)
{
    struct ingest *ingest = slot->ingest;
    size_t at = 0;
    int rc = VCM_OK;

    if (slot->content.outcome != VCM_SOURCE_PAGED)
        return leave_out(ingest, &slot->item, vcm_buf_slice(&slot->path), slot->content.outcome,
                         slot->content.reason, err);
    ingest->scope->coverage.by_outcome[VCM_SOURCE_PAGED]++;
    for (uint32_t i = 0; rc == VCM_OK && i < slot->record_count; i++) {
        const struct vcm_page_record *record = &slot->records[i];
        rc = vcm_page_builder_add(ingest->builder,
                                  vcm_slice_of(slot->values.data + at, record->bytes), record, err);
        at += record->bytes;
    }
    ingest->scope->records += slot->record_count;
    ingest->progress.files++;
    ingest->progress.bytes += slot->content.text.len;
    return rc;
}

/* Waits for the oldest item in flight and packs what became of it. */
static int consume_oldest(struct ingest *ingest, struct vcm_error *err)
{
    struct slot *slot = &ingest->slots[ingest->consumed % ingest->slot_count];

    pthread_mutex_lock(&ingest->mutex);
    while (slot->state != SLOT_DONE)
        pthread_cond_wait(&ingest->slot_done, &ingest->mutex);
    slot->state = SLOT_FREE;
    pthread_mutex_unlock(&ingest->mutex);
    ingest->consumed++;

    int rc = slot->rc;
    if (rc == VCM_OK)
        rc = pack_slot(slot, err);
    else if (err)
        *err = slot->error;
    clear_or_shrink(&slot->content.text);
    clear_or_shrink(&slot->values);
    if (rc != VCM_OK)
        return vcm_error_wrap(err, rc, "%s", vcm_buf_text(&slot->path));
    if (ingest->options->progress)
        ingest->options->progress(ingest->options->progress_context, &ingest->progress);
    return VCM_OK;
}

/* Fills the next slot, which is free. */
static int fill_slot(struct slot *slot, const struct vcm_source_item *item, struct vcm_error *err)
{
    assert(slot->state == SLOT_FREE);
    vcm_buf_clear(&slot->raw_path);
    vcm_buf_clear(&slot->path);
    vcm_buf_append_slice(&slot->raw_path, item->path);
    slot->path_lossy = vcm_utf8_escape_path(&slot->path, item->path);
    int rc = vcm_buf_check(&slot->raw_path, "a path", err);
    if (rc == VCM_OK)
        rc = vcm_buf_check(&slot->path, "a path", err);
    if (rc != VCM_OK)
        return rc;
    slot->item = *item;
    slot->item.path = vcm_buf_slice(&slot->raw_path);
    slot->content.outcome = item->outcome;
    slot->content.reason = NULL;
    slot->content.lossy = false;
    slot->content.binary = false;
    slot->record_count = 0;
    slot->rc = VCM_OK;
    vcm_error_reset(&slot->error);
    return VCM_OK;
}

/* Items that are left out by their name alone wait for their turn with the others, so that
 * omissions too come in the order of the walk. */
static int visit_item(void *context, const struct vcm_source_item *item, struct vcm_error *err)
{
    struct ingest *ingest = context;
    struct slot *slot = &ingest->slots[ingest->submitted % ingest->slot_count];
    int rc = VCM_OK;

    if (ingest->submitted - ingest->consumed == ingest->slot_count)
        rc = consume_oldest(ingest, err);
    if (rc == VCM_OK)
        rc = fill_slot(slot, item, err);
    if (rc != VCM_OK)
        return rc;
    ingest->scope->coverage.tracked++;
    ingest->submitted++;
    if (item->outcome == VCM_SOURCE_PAGED) {
        slot->state = SLOT_RUNNING;
        vcm_pool_submit(ingest->pool, run_slot, slot);
    } else {
        slot->state = SLOT_DONE;
    }
    return VCM_OK;
}

static int take_page(void *context, const struct vcm_page_built *page, struct vcm_error *err)
{
    struct ingest *ingest = context;

    ingest->scope->pages++;
    ingest->scope->tokens += page->tokens;
    ingest->scope->bytes += page->frame.len;
    ingest->progress.pages = ingest->scope->pages;
    ingest->progress.tokens = ingest->scope->tokens;
    return vcm_mapping_add_page(ingest->mapping, page, err);
}

static int open_stages(struct ingest *ingest, struct vcm_page_store *store, struct vcm_error *err)
{
    const struct vcm_ingest_options *options = ingest->options;
    unsigned jobs = options->jobs;

    ingest->slot_count = jobs * VCM_INGEST_WINDOW;
    ingest->slots = calloc(ingest->slot_count, sizeof *ingest->slots);
    ingest->readers = calloc(jobs, sizeof *ingest->readers);
    if (!ingest->slots || !ingest->readers)
        return vcm_error_memory(err);
    for (unsigned i = 0; i < ingest->slot_count; i++) {
        struct slot *slot = &ingest->slots[i];
        slot->ingest = ingest;
        vcm_buf_init(&slot->raw_path, VCM_LIMIT_TREE_PATH_BYTES);
        vcm_buf_init(&slot->path, 4 * VCM_LIMIT_TREE_PATH_BYTES);
        vcm_buf_init(&slot->content.text, 3 * VCM_LIMIT_FILE_BYTES);
        vcm_buf_init(&slot->values, 4 * VCM_LIMIT_FRAME_BYTES);
    }
    int rc = vcm_pool_open(&ingest->pool, jobs, ingest->slot_count, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_page_builder_open(&ingest->builder,
                               &(struct vcm_page_builder_options){
                                   .record_threshold = ingest->scope->flush_threshold,
                                   .token_budget = ingest->scope->flush_token_budget,
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
                                 .capacity = options->capacity,
                                 .cancel = options->cancel,
                             },
                             err);
}

static void close_stages(struct ingest *ingest)
{
    vcm_pool_close(ingest->pool); /* waits for what is in flight */
    for (unsigned i = 0; ingest->readers && i < ingest->options->jobs; i++)
        if (ingest->readers[i])
            ingest->options->source->functions->reader_close(ingest->readers[i]);
    for (unsigned i = 0; ingest->slots && i < ingest->slot_count; i++) {
        struct slot *slot = &ingest->slots[i];
        vcm_buf_release(&slot->raw_path);
        vcm_buf_release(&slot->path);
        vcm_buf_release(&slot->content.text);
        vcm_buf_release(&slot->values);
        free(slot->records);
    }
    free(ingest->slots);
    free(ingest->readers);
    vcm_page_builder_close(ingest->builder);
    pthread_cond_destroy(&ingest->slot_done);
    pthread_mutex_destroy(&ingest->mutex);
}

static int run_stages(struct ingest *ingest, struct vcm_error *err)
{
    struct vcm_source *source = ingest->options->source;

    int rc = source->functions->walk(source, visit_item, ingest, ingest->options->cancel, err);
    while (rc == VCM_OK && ingest->consumed < ingest->submitted)
        rc = consume_oldest(ingest, err);
    if (rc == VCM_OK)
        rc = vcm_page_builder_finish(ingest->builder, err);
    return rc;
}

int vcm_ingest_run(struct vcm_ingest_result *result, struct vcm_page_store *store,
                   struct vcm_scope *scope, const struct vcm_ingest_options *options,
                   struct vcm_error *err)
{
    struct ingest ingest = {.options = options, .scope = scope, .result = result};

    assert(options->jobs > 0);
    memset(result, 0, sizeof *result);
    pthread_mutex_init(&ingest.mutex, NULL);
    pthread_cond_init(&ingest.slot_done, NULL);
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
