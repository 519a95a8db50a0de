/*
 * ingestor.h - adds files, or bytes with a name, to the knowledge base.
 *
 * Documents are read, extracted and cut by workers, several at a time, and written in the order in
 * which they were given, each in one transaction: an interrupted run leaves complete documents. A
 * document that is already present with the same bytes, profile and settings is skipped; one that
 * cannot be read is reported and does not stop the others. The text of a PDF is stored by content.
 */
#ifndef VCM_KB_INGESTOR_H
#define VCM_KB_INGESTOR_H

#include "base/cancel.h"
#include "kb/chunker.h"
#include "kb/database.h"

enum vcm_ingestor_status {
    VCM_INGESTOR_INGESTED,
    VCM_INGESTOR_SKIPPED,
    VCM_INGESTOR_FAILED,
    VCM_INGESTOR_REMOVED, /* never from vcm_ingestor_run(): for callers that remove documents */
};

/* "skipped_already_present" */
const char *vcm_ingestor_status_name(enum vcm_ingestor_status status);

struct vcm_ingestor_item {
    const char *source;  /* base scope of the repository, NULL for none */
    const char *path;    /* the document's name, from the root of the source */
    const char *profile; /* NULL for none */
    bool from_tree;      /* removed when the tree no longer has it */
    uint32_t target_tokens, overlap_tokens, token_budget;

    /* Appends the content; called in a worker's thread. Failures are set in `err`. When it is NULL,
     * `bytes` are the content, and must stay valid until the end. */
    int (*read)(struct vcm_buf *out, const struct vcm_ingestor_item *item, struct vcm_error *err);
    struct vcm_slice bytes;
    void *context; /* for read() */
};

struct vcm_ingestor_result {
    const struct vcm_ingestor_item *item;
    enum vcm_ingestor_status status;
    const char *data_type;
    uint64_t chunks;
    enum vcm_code code;  /* of a failure */
    const char *message; /* NULL without one */
};

/* Anything but VCM_OK ends the run. */
typedef int (*vcm_ingestor_fn)(void *context, const struct vcm_ingestor_result *result,
                               struct vcm_error *err);

struct vcm_ingestor_options {
    struct vcm_database *store; /* not used by others during the run */
    const struct vcm_tokenizer *tokenizer;
    unsigned jobs;                   /* workers; 0: as many as there are cores */
    const struct vcm_cancel *cancel; /* may be NULL */
};

/* Visits a result for each item, in order. Fails only when the database fails, without memory, or
 * when interrupted. A database that is open for reading fails only if an item has to be written. */
int vcm_ingestor_run(const struct vcm_ingestor_options *options,
                     const struct vcm_ingestor_item *items, size_t count, vcm_ingestor_fn visit,
                     void *context, struct vcm_error *err);

#endif
