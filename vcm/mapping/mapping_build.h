/*
 * mapping_build.h - a page table that is being built, as the files mapping*.c see it. Private to
 * them. How it works: mapping.c.
 *
 * Pages gather in `queue`. A full queue changes places with `written`, and the writer's thread
 * writes that while the caller fills `queue` again. The caller waits for the writer before it reads
 * or changes what the writer uses.
 */
#ifndef VCM_VCM_MAPPING_MAPPING_BUILD_H
#define VCM_VCM_MAPPING_MAPPING_BUILD_H

#include "base/pool.h"
#include "vcm/mapping/mapping.h"
#include "vcm/mapping/mapping_mode.h"
#include "vcm/mapping/mapping_paths.h"
#include "vcm/residency/transition.h"

/* A page or an omission that waits to be written; its bytes are in the queue's buffer. */
struct vcm_mapping_queued {
    bool is_page;
    bool is_known; /* a page of the base, which is queued without its frame */
    uint32_t seq;
    struct vcm_page_info info;  /* of a page */
    size_t frame_at, frame_len; /* of a page */
    size_t value_at, value_len; /* row or omission */
};

struct vcm_mapping_queue {
    struct vcm_mapping_queued *items;
    size_t count;
    size_t capacity;
    struct vcm_buf bytes;
};

/* A queue that was written to the spool: mapping_spool.h. */
struct vcm_mapping_batch {
    uint64_t at;  /* in the file: the entries of the queue, then their bytes */
    size_t count; /* of the entries */
    size_t bytes;
};

struct vcm_mapping_spooled {
    struct vcm_page_id id;
    uint64_t bytes;
};

struct vcm_mapping_spool {
    int fd; /* -1 until there is a batch */
    uint64_t length;
    struct vcm_mapping_batch *batches;
    size_t batch_count, batch_capacity;
    struct vcm_mapping_spooled *pages; /* of the batches; after the check sorted, each once */
    size_t page_count, page_capacity;
    uint64_t page_bytes;
};

struct vcm_mapping {
    struct vcm_page_store *store;
    struct vcm_mapping_options options;
    char *scope_id;
    uint64_t former_revision; /* of options.former */
    enum vcm_mapping_mode mode;
    uint64_t number; /* 0 while OPENING; while REVISING that of options.base; then its own */
    int lock_fd;     /* holds the lock of `number`, once that is its own (mapping_lock.h) */
    uint32_t next_page;
    uint32_t next_omission;
    struct vcm_mapping_queue queue; /* while REVISING without the pages that have an origin */
    uint32_t *origins; /* while REVISING: of each page its seq in the base, or VCM_KNOWN_NONE */
    size_t origin_capacity;

    struct vcm_pool *writer; /* one thread, which uses all that follows; NULL until it is needed */
    struct vcm_mapping_queue written;
    int written_rc;
    struct vcm_error written_error;
    struct vcm_mapping_paths paths;          /* of rows that are written, or in `written` */
    const struct vcm_mapping_queue *writing; /* in the transaction under way */
    struct vcm_slice *frames;                /* of its pages */
    unsigned frames_count;
    struct vcm_mapping_spool spool; /* used while SPOOLING */
    struct vcm_mapping_result result;
    struct vcm_mapping_result batch; /* of the transaction under way */
};

/* OPENING or REVISING -> WRITING, or PINNING for a pinned table: takes a number of its own, under
 * which batches can be written. */
int vcm_mapping_start(struct vcm_mapping *mapping, struct vcm_error *err);

void vcm_mapping_queue_init(struct vcm_mapping_queue *queue);
void vcm_mapping_queue_release(struct vcm_mapping_queue *queue);

/* Adds to the queue. When that is full, it is written, spooled or, while REVISING, turned into a
 * table of its own. */
int vcm_mapping_enqueue(struct vcm_mapping *mapping, const struct vcm_mapping_queued *q,
                        struct vcm_error *err);

/* Writes a row with its page and its holder, or an omission, in the transaction of
 * vcm_mapping_run(). The caller writes the paths. VCM_RETRY when a page of the base is missing. In
 * mapping_row.c. */
int vcm_mapping_row_write(struct vcm_mapping *mapping, struct vcm_transition *t,
                          const struct vcm_mapping_queued *q, struct vcm_slice value,
                          struct vcm_error *err);

int vcm_mapping_put_scope(struct vcm_kv_txn *txn, const struct vcm_scope *scope,
                          struct vcm_error *err);

/* Runs `change` in a transaction, with the frames of the queue as samples for dictionaries. Empties
 * the queue when that succeeds. */
int vcm_mapping_run(struct vcm_mapping *mapping, struct vcm_mapping_queue *queue,
                    vcm_transition_fn change, void *context, struct vcm_error *err);

#endif
