/*
 * ingest.h - from a source to a page table: walk, read, cut, count, pack, write.
 *
 * The calling thread walks and packs; workers read, cut and count, some items at a time. Results
 * are packed in the order of the walk, so the pages are the same for any number of workers. At most
 * VCM_INGEST_WINDOW batches per worker are in flight, and their memory is bounded. How it works:
 * ingest.c.
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
    uint64_t files; /* items that are packed */
    uint64_t pages;
    uint64_t tokens;
    uint64_t bytes; /* of content that was read */
};

typedef void (*vcm_ingest_progress_fn)(void *context, const struct vcm_ingest_progress *progress);

struct vcm_ingest_options {
    struct vcm_source *source;
    const struct vcm_tokenizer *tokenizer;
    const struct vcm_heading_functions *headings; /* of parts; NULL: they have none */
    unsigned jobs;
    const struct vcm_scope *former; /* as in struct vcm_mapping_options; may be NULL */
    bool reuse; /* records of the former table, if it was made with the same fingerprint */
    const struct vcm_cancel *cancel;
    vcm_ingest_progress_fn progress; /* may be NULL; called by the calling thread */
    void *progress_context;
};

struct vcm_ingest_result {
    struct vcm_mapping_result pages;
    char first_failure[256]; /* "path (reason)" of the first item that failed, or "" */
};

/*
 * Maps the source as `scope`, which describes what to map and how; its counts, coverage, mapping
 * number and time are filled in. On failure the store is as it was. VCM_RETRY when another scope
 * is in force than `former`, or the store was replaced meanwhile: the caller reads it again.
 */
int vcm_ingest_run(struct vcm_ingest_result *result, struct vcm_page_store *store,
                   struct vcm_scope *scope, const struct vcm_ingest_options *options,
                   struct vcm_error *err);

#endif
