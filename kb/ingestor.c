#include "kb/ingestor.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/limits.h"
#include "base/pool.h"
#include "kb/extract.h"
#include "kb/reader.h"

#include "base/banned.h"

#define READER_VERSION  1 /* increased whenever a reader may give another text */
#define SETTINGS_BYTES  128
#define JOBS_FOR_WORKER 2 /* per worker: one running, one ready */

struct ingest {
    const struct vcm_ingestor_options *options;
    pthread_mutex_t lock; /* the store, and `done` of the jobs */
    pthread_cond_t changed;
    /* A second handle looks up documents that are already present, because workers would otherwise
     * wait for the writer. */
    struct vcm_database *lookups;
    pthread_mutex_t lookups_lock;
};

/* A document that a worker processes. */
struct job {
    struct ingest *ingest;
    const struct vcm_ingestor_item *item;
    struct vcm_document document;
    struct vcm_arena arena; /* sections of the chunks */
    struct vcm_chunker_chunk *chunks;
    size_t chunk_count, chunk_capacity;
    struct vcm_database_document row;
    char settings[SETTINGS_BYTES];
    enum vcm_ingestor_status status;
    bool store_failed; /* the error is the database's, and ends the run */
    bool done;
    struct vcm_error error;
};

const char *vcm_ingestor_status_name(enum vcm_ingestor_status status)
{
    static const char *const names[] = {"ingested", "skipped_already_present", "failed", "removed"};
    return names[status];
}

static void job_init(struct job *job, struct ingest *ingest, const struct vcm_ingestor_item *item)
{
    *job = (struct job){.ingest = ingest, .item = item};
    vcm_document_init(&job->document);
    vcm_arena_init(&job->arena, VCM_LIMIT_DOCUMENT_TEXT_BYTES);
}

static void job_release(struct job *job)
{
    vcm_document_release(&job->document);
    vcm_arena_release(&job->arena);
    free(job->chunks);
    *job = (struct job){.item = NULL};
}

static int keep_chunk(void *context, const struct vcm_chunker_chunk *chunk, struct vcm_error *err)
{
    struct job *job = context;

    int rc = vcm_array_reserve(&job->chunks, &job->chunk_capacity, job->chunk_count + 1,
                               VCM_LIMIT_DOCUMENT_CHUNKS, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_chunker_chunk *kept = &job->chunks[job->chunk_count];
    *kept = *chunk;
    kept->value = vcm_slice_of(NULL, 0);
    /* Chunks of one section share its name. */
    if (job->chunk_count > 0 && vcm_slice_equal(kept[-1].section, chunk->section)) {
        kept->section = kept[-1].section;
    } else {
        kept->section.data = vcm_arena_copy(&job->arena, chunk->section);
        if (!kept->section.data)
            return vcm_error_memory(err);
    }
    job->chunk_count++;
    return VCM_OK;
}

/* Asks the database whether the document is already present. */
static int is_present(bool *present, struct job *job)
{
    pthread_mutex_lock(&job->ingest->lookups_lock);
    int rc = vcm_database_has(present, job->ingest->lookups, &job->row, &job->error);
    pthread_mutex_unlock(&job->ingest->lookups_lock);
    job->store_failed = rc != VCM_OK;
    return rc;
}

/* The text of a PDF, extracted unless it is stored already. A stored text that cannot be read is
 * replaced. */
static int read_pdf(struct job *job, struct vcm_slice bytes)
{
    struct vcm_extract_options options = {0, job->ingest->options->cancel};
    struct vcm_database *store = job->ingest->options->store;
    struct vcm_buf encoded = VCM_BUF_INIT(VCM_LIMIT_EXTRACT_OUTPUT_BYTES);

    pthread_mutex_lock(&job->ingest->lock);
    int rc =
        vcm_database_extractions_get(&encoded, store, job->row.content, VCM_EXTRACT_VERSION, NULL);
    pthread_mutex_unlock(&job->ingest->lock);
    if (rc == VCM_OK)
        rc = vcm_document_decode(&job->document, vcm_buf_slice(&encoded), NULL);
    if (rc == VCM_OK)
        goto done;
    vcm_document_release(&job->document);
    vcm_document_init(&job->document);
    rc = vcm_extract_run(&job->document, bytes, &options, &job->error);
    if (rc == VCM_OK) {
        vcm_buf_clear(&encoded);
        vcm_document_encode(&encoded, &job->document);
        rc = vcm_buf_check(&encoded, "the extracted document", &job->error);
    }
    if (rc == VCM_OK) {
        pthread_mutex_lock(&job->ingest->lock);
        rc = vcm_database_extractions_put(store, job->row.content, VCM_EXTRACT_VERSION,
                                          vcm_buf_slice(&encoded), &job->error);
        pthread_mutex_unlock(&job->ingest->lock);
        job->store_failed = rc != VCM_OK;
    }
done:
    vcm_buf_release(&encoded);
    return rc;
}

/* What is known of the document once its bytes were read. */
static void describe(struct job *job, enum vcm_reader_type type, struct vcm_slice bytes)
{
    const struct vcm_ingestor_item *item = job->item;

    snprintf(job->settings, sizeof job->settings, "%s %u %u %u %s %d %d",
             vcm_tokenizer_name(job->ingest->options->tokenizer), item->target_tokens,
             item->overlap_tokens, item->token_budget, vcm_reader_type_name(type), READER_VERSION,
             VCM_EXTRACT_VERSION);
    job->row.bytes = bytes.len;
    job->row.settings = job->settings;
    job->row.ingested_at = (uint64_t)time(NULL);
    vcm_hash_sha256_of(job->row.content, bytes);
}

static int read_and_cut(struct job *job, enum vcm_reader_type type, struct vcm_slice bytes)
{
    const struct vcm_ingestor_item *item = job->item;
    struct vcm_chunker_options cut = {job->ingest->options->tokenizer, item->target_tokens,
                                      item->overlap_tokens, item->token_budget};
    bool present = false;

    describe(job, type, bytes);
    int rc = is_present(&present, job);
    if (rc == VCM_OK && present) {
        job->status = VCM_INGESTOR_SKIPPED;
        return VCM_OK;
    }
    if (rc == VCM_OK && type == VCM_READER_PDF)
        rc = read_pdf(job, bytes);
    else if (rc == VCM_OK)
        rc = vcm_reader_read(&job->document, type, bytes, &job->error);
    if (rc == VCM_OK)
        rc = vcm_chunker_run(&job->document, vcm_slice_of_string(item->path), &cut, keep_chunk, job,
                             &job->error);
    return rc;
}

static void run_job(void *argument, unsigned worker)
{
    struct job *job = argument;
    const struct vcm_ingestor_item *item = job->item;
    enum vcm_reader_type type = vcm_reader_type_of(vcm_slice_of_string(item->path));
    struct vcm_buf content = VCM_BUF_INIT(VCM_LIMIT_DOCUMENT_BYTES);

    (void)worker;
    job->row.source = item->source;
    job->row.path = item->path;
    job->row.profile = item->profile;
    job->row.from_tree = item->from_tree;
    job->row.data_type = item->profile ? item->profile : vcm_reader_type_name(type);
    int rc = vcm_cancel_check(job->ingest->options->cancel, &job->error);
    if (rc == VCM_OK && item->read)
        rc = item->read(&content, item, &job->error);
    if (rc == VCM_OK)
        rc = read_and_cut(job, type, item->read ? vcm_buf_slice(&content) : item->bytes);
    if (rc != VCM_OK)
        job->status = VCM_INGESTOR_FAILED;
    vcm_buf_release(&content);
    pthread_mutex_lock(&job->ingest->lock);
    job->done = true;
    pthread_cond_broadcast(&job->ingest->changed);
    pthread_mutex_unlock(&job->ingest->lock);
}

/* Writes a document's chunks in one transaction. */
static int write_document(struct job *job, struct vcm_error *err)
{
    struct vcm_database *store = job->ingest->options->store;

    pthread_mutex_lock(&job->ingest->lock);
    int rc = vcm_database_begin(store, &job->row, err);
    for (size_t i = 0; rc == VCM_OK && i < job->chunk_count; i++)
        rc = vcm_database_add_chunk(store, &job->chunks[i], err);
    if (rc == VCM_OK)
        rc = vcm_database_commit(store, err);
    if (rc != VCM_OK)
        vcm_database_rollback(store);
    pthread_mutex_unlock(&job->ingest->lock);
    return rc;
}

/* Waits for the job, writes its document and reports its result. */
static int finish_job(struct job *job, vcm_ingestor_fn visit, void *context, struct vcm_error *err)
{
    int rc = VCM_OK;

    pthread_mutex_lock(&job->ingest->lock);
    while (!job->done)
        pthread_cond_wait(&job->ingest->changed, &job->ingest->lock);
    pthread_mutex_unlock(&job->ingest->lock);
    if (job->store_failed || job->error.code == VCM_INTERRUPTED) {
        vcm_error_reset(err);
        rc = (int)job->error.code;
        if (err)
            *err = job->error;
        return rc;
    }
    if (job->status == VCM_INGESTOR_INGESTED)
        rc = write_document(job, err);
    struct vcm_ingestor_result result = {
        .item = job->item,
        .status = job->status,
        .data_type = job->row.data_type,
        .chunks = job->chunk_count,
        .code = job->error.code,
        .message = job->status == VCM_INGESTOR_FAILED ? job->error.message : NULL,
    };
    if (job->status != VCM_INGESTOR_INGESTED)
        result.chunks = 0;
    return rc == VCM_OK ? visit(context, &result, err) : rc;
}

static unsigned worker_count(unsigned wanted, size_t items)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t workers = wanted > 0 ? wanted : cores > 0 ? (size_t)cores : 1;

    workers = workers > VCM_LIMIT_WORKERS ? VCM_LIMIT_WORKERS : workers;
    return (unsigned)(items < workers ? items : workers);
}

/* Keeps `window` jobs in flight; slots are used in turn. */
static int run_jobs(struct ingest *ingest, struct vcm_pool *pool, struct job *jobs, size_t window,
                    const struct vcm_ingestor_item *items, size_t count, vcm_ingestor_fn visit,
                    void *context, struct vcm_error *err)
{
    int rc = VCM_OK;
    size_t submitted = 0;

    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        for (; submitted < count && submitted < i + window; submitted++) {
            struct job *job = &jobs[submitted % window];
            job_init(job, ingest, &items[submitted]);
            vcm_pool_submit(pool, run_job, job);
        }
        rc = finish_job(&jobs[i % window], visit, context, err);
        job_release(&jobs[i % window]);
    }
    vcm_pool_drain(pool);
    for (size_t i = 0; i < window; i++) {
        if (jobs[i].item)
            job_release(&jobs[i]);
    }
    return rc;
}

int vcm_ingestor_run(const struct vcm_ingestor_options *options,
                     const struct vcm_ingestor_item *items, size_t count, vcm_ingestor_fn visit,
                     void *context, struct vcm_error *err)
{
    struct ingest ingest = {.options = options};
    unsigned workers = worker_count(options->jobs, count);
    size_t window = (size_t)workers * JOBS_FOR_WORKER;
    struct vcm_pool *pool = NULL;

    if (count == 0)
        return VCM_OK;
    struct job *jobs = calloc(window, sizeof *jobs);
    if (!jobs)
        return vcm_error_memory(err);
    pthread_mutex_init(&ingest.lock, NULL);
    pthread_mutex_init(&ingest.lookups_lock, NULL);
    pthread_cond_init(&ingest.changed, NULL);
    int rc = vcm_database_open(&ingest.lookups, vcm_database_path(options->store), false,
                               options->cancel, err);
    if (rc == VCM_OK)
        rc = vcm_pool_open(&pool, workers, (unsigned)window, err);
    if (rc == VCM_OK)
        rc = run_jobs(&ingest, pool, jobs, window, items, count, visit, context, err);
    vcm_pool_close(pool);
    vcm_database_close(ingest.lookups);
    pthread_mutex_destroy(&ingest.lookups_lock);
    pthread_cond_destroy(&ingest.changed);
    pthread_mutex_destroy(&ingest.lock);
    free(jobs);
    return rc;
}
