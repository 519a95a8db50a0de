/*
 * ingest_batch.h - a batch of items of a source, and what a worker does with it: read, cut, count.
 * Private to ingest.c, where the stages of a batch are described.
 *
 * The calling thread uses the functions, too, for an item that is too long for a worker.
 */
#ifndef VCM_VCM_MAPPING_INGEST_BATCH_H
#define VCM_VCM_MAPPING_INGEST_BATCH_H

#include <pthread.h>

#include "base/arena.h"
#include "base/limits.h"
#include "vcm/mapping/ingest.h"
#include "vcm/mapping/known.h"
#include "vcm/page/split.h"

/* Items of a batch. */
#define VCM_INGEST_BATCH_ITEMS 16u
/* Larger buffers are freed instead of kept for the next batch. */
#define VCM_INGEST_KEEP_BYTES (1 * VCM_MIB)

enum vcm_ingest_batch_state {
    VCM_INGEST_BATCH_FREE,
    VCM_INGEST_BATCH_RUNNING,
    VCM_INGEST_BATCH_DONE,
};

struct vcm_ingest_item {
    struct vcm_source_item item; /* its path is in the batch's buffer from raw_path_at on */
    size_t raw_path_at;
    size_t path_at, path_len; /* as shown: valid UTF-8 */
    bool path_lossy;
    enum vcm_source_outcome outcome;
    enum vcm_reason reason;
    const char *reason_text; /* for VCM_REASON_OTHER */
    bool lossy;
    bool postponed;
    uint64_t bytes;
    uint32_t known; /* the number of its first record in the former table, or VCM_KNOWN_NONE */
    uint32_t record_count;
    bool is_directory; /* an unchanged one, which has `inside` */
    struct vcm_known_directory_items inside;
};

/* Items that pass through a worker together. */
struct vcm_ingest_batch {
    struct vcm_ingest *ingest;
    uint64_t number;
    enum vcm_ingest_batch_state state; /* guarded by ingest->mutex */
    struct vcm_ingest_item items[VCM_INGEST_BATCH_ITEMS];
    unsigned count;
    unsigned done; /* how many items were processed before one failed */
    bool to_read;  /* some item needs a worker */
    struct vcm_buf paths;
    struct vcm_buf values;           /* the serialised parts, concatenated */
    struct vcm_page_record *records; /* of all items in order; their paths are set when packed */
    struct vcm_arena sections;       /* of the records, and headings */
    uint32_t record_count;
    size_t record_capacity;
    int rc;
    struct vcm_error error;
};

/* What a worker keeps from item to item. */
struct vcm_ingest_worker {
    void *reader;
    struct vcm_split *split;
    struct vcm_source_content content;
};

struct vcm_ingest {
    const struct vcm_ingest_options *options;
    struct vcm_scope *scope;
    struct vcm_ingest_result *result;
    struct vcm_mapping *mapping;
    struct vcm_page_builder *builder;
    struct vcm_known *known; /* NULL without a former table */
    struct vcm_pool *pool;
    struct vcm_ingest_worker *workers; /* one for each job, and one for the calling thread */
    struct vcm_ingest_batch *batches;
    unsigned batch_count;
    uint64_t submitted;
    uint64_t consumed;      /* changed with the mutex held */
    uint64_t waiting_bytes; /* of results; guarded by the mutex, as the next */
    bool stopping;          /* the calling thread takes no more batches */
    struct vcm_ingest_progress progress;
    pthread_mutex_t mutex;
    pthread_cond_t batch_done;
    pthread_cond_t batch_consumed;
};

/* The path as the source has it, and as it is shown: valid UTF-8. Valid until the batch is packed.
 */
struct vcm_slice vcm_ingest_batch_raw_path(const struct vcm_ingest_batch *batch,
                                           const struct vcm_ingest_item *item);
struct vcm_slice vcm_ingest_batch_path(const struct vcm_ingest_batch *batch,
                                       const struct vcm_ingest_item *item);

/* A job of the pool: processes the items of a batch until one fails, and marks it as done. */
void vcm_ingest_batch_run(void *argument, unsigned number);

/* Reads the item's content into the worker and sets its outcome. An item of more than `bytes_max`
 * bytes (0 for no limit) is postponed. */
int vcm_ingest_batch_read(struct vcm_ingest_batch *batch, struct vcm_ingest_item *item,
                          struct vcm_ingest_worker *worker, size_t bytes_max,
                          struct vcm_error *err);

/* Cuts the content that the worker has read, and calls `emit` for each part. UNSUPPORTED when the
 * path leaves no room for text, VCM_NO_ROOM when the source made a record that is too long. */
int vcm_ingest_batch_cut(const struct vcm_ingest_batch *batch, const struct vcm_ingest_item *item,
                         const struct vcm_ingest_worker *worker, vcm_split_part_fn emit,
                         void *context, struct vcm_error *err);

/* Turns the failure of vcm_ingest_batch_cut() for a path or a record that is too long into the
 * item's outcome. */
int vcm_ingest_batch_refuse_file(struct vcm_ingest_item *item, int rc, struct vcm_error *err);

/* Sets what the records of an item have in common. */
void vcm_ingest_batch_fill_record(struct vcm_page_record *record,
                                  const struct vcm_ingest_batch *batch,
                                  const struct vcm_ingest_item *item);

/* Empties a buffer, and frees it when it has grown beyond VCM_INGEST_KEEP_BYTES. */
void vcm_ingest_batch_shrink(struct vcm_buf *buf);

#endif
