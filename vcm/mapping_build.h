/*
 * mapping_build.h - a page table that is being built, as mapping.c and mapping_revise.c see it.
 * Private to them.
 */
#ifndef VCM_VCM_MAPPING_BUILD_H
#define VCM_VCM_MAPPING_BUILD_H

#include "vcm/mapping.h"
#include "vcm/transition.h"

/* A page or an omission that waits to be written; its bytes are in the mapping's buffer. */
struct vcm_mapping_queued {
    bool is_page;
    bool is_known; /* a page that was in the store, without its frame */
    uint32_t seq;
    struct vcm_page_info info;  /* of a page */
    size_t frame_at, frame_len; /* of a page */
    size_t value_at, value_len; /* row or omission */
};

/* What waits in a file: mapping_spool.h. */
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
    int fd; /* meaningful when there is a batch */
    uint64_t length;
    struct vcm_mapping_batch *batches;
    size_t batch_count;
    struct vcm_mapping_spooled *pages; /* in the batches; by id and each once after the check */
    size_t page_count, page_capacity;
    uint64_t page_bytes;
};

struct vcm_mapping {
    struct vcm_page_store *store;
    struct vcm_mapping_options options;
    char *scope_id;
    uint64_t number;
    bool revising;     /* nothing is written yet, and `number` is that of options.base */
    uint32_t *origins; /* while revising: of each page its seq in the base, or VCM_KNOWN_NONE */
    uint32_t origin_capacity;
    int lock_fd; /* holds the byte `number` of the lock file, unless revising */
    uint32_t next_page;
    uint32_t next_omission;
    struct vcm_mapping_queued *queue; /* while revising without the pages that have an origin */
    size_t queue_count;
    size_t queue_capacity;
    struct vcm_buf bytes;
    struct vcm_slice *frames; /* of the pages in the queue, while it is written */
    unsigned frames_count;
    struct vcm_mapping_spool spool; /* of a pinned table */
    bool spooling;                  /* what is queued goes there */
    struct vcm_mapping_result result;
    struct vcm_mapping_result batch; /* of the transaction under way */
};

/* Takes a number, so that batches can be written. */
int vcm_mapping_start(struct vcm_mapping *mapping, struct vcm_error *err);

/* Adds to the queue, which is written when it is full. */
int vcm_mapping_enqueue(struct vcm_mapping *mapping, const struct vcm_mapping_queued *q,
                        struct vcm_error *err);

/* Writes what is queued: the row with its page, holder and paths, or the omission. */
int vcm_mapping_write(struct vcm_mapping *mapping, struct vcm_transition *t,
                      const struct vcm_mapping_queued *q, struct vcm_slice value,
                      struct vcm_error *err);

int vcm_mapping_put_scope(struct vcm_kv_txn *txn, const struct vcm_scope *scope,
                          struct vcm_error *err);

/* Runs `change` in a transaction, with the frames of the queue as samples for dictionaries. */
int vcm_mapping_run(struct vcm_mapping *mapping, vcm_transition_fn change, void *context,
                    struct vcm_error *err);

#endif
