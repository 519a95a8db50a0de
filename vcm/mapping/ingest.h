/*
 * ingest.h - from a source to a page table: walk, read, cut, count, pack, write.
 *
 * One thread walks and packs; workers read, cut and count, some items at a time. Results are taken
 * in the order of the walk, so the pages are the same for any number of workers. At most
 * VCM_INGEST_WINDOW batches per worker are in flight, and what they hold is bounded: content that
 * is long is read and cut by the packing thread, when its turn has come, without being held.
 */
#ifndef VCM_VCM_MAPPING_INGEST_H
#define VCM_VCM_MAPPING_INGEST_H

#include "base/cancel.h"
#include "tokens/tokenizer.h"
#include "vcm/mapping/mapping.h"
#include "vcm/store/page_store.h"
#include "vcm/store/scope.h"
#include "vcm/page/source.h"

#define VCM_INGEST_WINDOW 4u

struct vcm_ingest_progress {
    uint64_t files; /* items that are done */
    uint64_t pages;
    uint64_t tokens;
    uint64_t bytes; /* of content that was read */
};

typedef void (*vcm_ingest_progress_fn)(void *context, const struct vcm_ingest_progress *progress);

struct vcm_ingest_options {
    struct vcm_source *source;
    const struct vcm_tokenizer *tokenizer;
    unsigned jobs;
    bool reuse; /* what the scope's former table holds, if it was made with the same fingerprint */
    const struct vcm_cancel *cancel;
    vcm_ingest_progress_fn progress; /* may be NULL; called by the calling thread */
    void *progress_context;
};

struct vcm_ingest_result {
    struct vcm_mapping_result pages;
    char first_failure[256]; /* "path (reason)" of the first item that failed, or "" */
};

/*
 * Maps the source as `scope`, which says what is to be mapped and how; its counts, coverage,
 * mapping number and time are filled in. On failure the store is as it was.
 */
int vcm_ingest_run(struct vcm_ingest_result *result, struct vcm_page_store *store,
                   struct vcm_scope *scope, const struct vcm_ingest_options *options,
                   struct vcm_error *err);

#endif
