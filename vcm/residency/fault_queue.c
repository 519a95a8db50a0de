#include "vcm/residency/fault_queue.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "base/log.h"
#include "vcm/store/table.h"

#include "base/banned.h"

#define BUCKETS        1024u
#define CANCEL_WAIT_MS 50 /* between two checks for cancellation of a waiting thread */

/* A requested page; it is in the hash table while it is queued or being loaded. */
struct item {
    struct item *next_in_bucket;
    struct job *job;
    struct vcm_page_id id;
    unsigned waiters;
    bool done;
    pthread_cond_t served; /* wakes the threads that wait for this page */
    struct vcm_loader_outcome outcome;
};

/* Pages that are loaded together. */
struct job {
    struct job *next;
    unsigned priority;
    uint64_t order;
    bool running;
    unsigned count;
    struct item *items[VCM_FAULT_JOB_PAGES];
};

struct vcm_fault_queue_ticket {
    struct vcm_fault_queue *queue;
    unsigned count;
    struct item *items[];
};

struct worker {
    struct vcm_fault_queue *queue;
    struct vcm_loader *loader;
    pthread_t thread;
};

struct vcm_fault_queue {
    const struct vcm_log *log;
    pthread_mutex_t turn;  /* held by the worker that promotes pages */
    pthread_mutex_t mutex; /* protects all that follows, and all items and jobs */
    pthread_cond_t asked;
    pthread_condattr_t clock; /* of the items' conditions */
    struct job *jobs;         /* that wait, the most urgent first */
    struct item *buckets[BUCKETS];
    uint64_t order;
    bool closing;
    struct vcm_loader *loader; /* of a queue without workers */
    unsigned worker_count;
    struct worker workers[VCM_LIMIT_WORKERS];
};

static struct item **bucket_of(struct vcm_fault_queue *queue, const struct vcm_page_id *id)
{
    unsigned hash = id->bytes[0] | (unsigned)id->bytes[1] << 8;
    return &queue->buckets[hash % BUCKETS];
}

static struct item *find_item(struct vcm_fault_queue *queue, const struct vcm_page_id *id)
{
    struct item *item = *bucket_of(queue, id);

    while (item && memcmp(&item->id, id, sizeof *id) != 0)
        item = item->next_in_bucket;
    return item;
}

static void forget_item(struct vcm_fault_queue *queue, struct item *item)
{
    struct item **place = bucket_of(queue, &item->id);

    while (*place != item) {
        assert(*place); /* an item is in its bucket until its job is finished */
        place = &(*place)->next_in_bucket;
    }
    *place = item->next_in_bucket;
}

static void add_job(struct vcm_fault_queue *queue, struct job *job)
{
    struct job **place = &queue->jobs;

    assert(!job->running && job->count <= VCM_FAULT_JOB_PAGES);
    while (*place && (*place)->priority >= job->priority)
        place = &(*place)->next;
    job->next = *place;
    *place = job;
}

/* Moves a job forward when a page of it is requested at a higher priority. */
static void raise_job(struct vcm_fault_queue *queue, struct job *job, unsigned priority)
{
    struct job **place = &queue->jobs;

    if (job->running || priority <= job->priority)
        return;
    while (*place != job) {
        assert(*place); /* a job that is not running waits in the list */
        place = &(*place)->next;
    }
    *place = job->next;
    job->priority = priority;
    for (place = &queue->jobs;
         *place && ((*place)->priority > priority ||
                    ((*place)->priority == priority && (*place)->order < job->order));)
        place = &(*place)->next;
    job->next = *place;
    *place = job;
}

static struct job *take_job(struct vcm_fault_queue *queue)
{
    struct job *job = queue->jobs;

    if (job) {
        assert(!job->running);
        queue->jobs = job->next;
        job->running = true;
    }
    return job;
}

/* Called without the mutex: only the thread that serves a running job uses its items. */
static void load_job(struct vcm_fault_queue *queue, struct vcm_loader *loader,
                     const struct job *job)
{
    struct vcm_page_id ids[VCM_FAULT_JOB_PAGES];
    struct vcm_loader_outcome *outcomes = calloc(job->count, sizeof *outcomes);

    for (unsigned i = 0; i < job->count; i++)
        ids[i] = job->items[i]->id;
    if (outcomes)
        vcm_loader_load(outcomes, loader, ids, job->count, &queue->turn);
    for (unsigned i = 0; i < job->count; i++) {
        if (outcomes)
            job->items[i]->outcome = outcomes[i];
        else
            job->items[i]->outcome.rc = vcm_error_memory(&job->items[i]->outcome.error);
    }
    free(outcomes);
}

static void free_item(struct item *item)
{
    pthread_cond_destroy(&item->served);
    free(item);
}

/* Frees the job. An item is freed by the last thread that waits for it, or here if none does. */
static void finish_job(struct vcm_fault_queue *queue, struct job *job)
{
    assert(job->running);
    for (unsigned i = 0; i < job->count; i++) {
        struct item *item = job->items[i];
        assert(!item->done && item->job == job);
        forget_item(queue, item);
        item->done = true;
        item->job = NULL;
        if (item->waiters == 0)
            free_item(item);
        else
            pthread_cond_broadcast(&item->served);
    }
    free(job);
}

/* Called with the mutex held; releases it while the pages are loaded. */
static void serve_job(struct vcm_fault_queue *queue, struct vcm_loader *loader, struct job *job)
{
    pthread_mutex_unlock(&queue->mutex);
    load_job(queue, loader, job);
    pthread_mutex_lock(&queue->mutex);
    finish_job(queue, job);
}

static void *work(void *argument)
{
    const struct worker *worker = argument;
    struct vcm_fault_queue *queue = worker->queue;

    pthread_mutex_lock(&queue->mutex);
    while (!queue->closing) {
        struct job *job = take_job(queue);
        if (job)
            serve_job(queue, worker->loader, job);
        else
            pthread_cond_wait(&queue->asked, &queue->mutex);
    }
    pthread_mutex_unlock(&queue->mutex);
    return NULL;
}

bool vcm_fault_queue_serve(struct vcm_fault_queue *queue)
{
    assert(queue->worker_count == 0 && queue->loader);
    pthread_mutex_lock(&queue->mutex);
    struct job *job = take_job(queue);
    if (job)
        serve_job(queue, queue->loader, job);
    pthread_mutex_unlock(&queue->mutex);
    return job != NULL;
}

static int start_worker(struct vcm_fault_queue *queue, struct vcm_page_store *store,
                        struct vcm_error *err)
{
    struct worker *worker = &queue->workers[queue->worker_count];

    worker->queue = queue;
    int rc = vcm_loader_open(&worker->loader, store, err);
    if (rc != VCM_OK)
        return rc;
    int code = pthread_create(&worker->thread, NULL, work, worker);
    if (code != 0) {
        vcm_loader_close(worker->loader);
        return vcm_error_sys(err, VCM_INTERNAL, code, "cannot start a thread");
    }
    queue->worker_count++;
    return VCM_OK;
}

int vcm_fault_queue_open(struct vcm_fault_queue **out, struct vcm_page_store *store,
                         unsigned workers, struct vcm_error *err)
{
    *out = NULL;
    struct vcm_fault_queue *queue = calloc(1, sizeof *queue);
    if (!queue)
        return vcm_error_memory(err);
    queue->log = store->log;
    pthread_mutex_init(&queue->turn, NULL);
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->asked, NULL);
    pthread_condattr_init(&queue->clock);
    pthread_condattr_setclock(&queue->clock, CLOCK_MONOTONIC);
    int rc = workers == 0 ? vcm_loader_open(&queue->loader, store, err) : VCM_OK;
    while (rc == VCM_OK && queue->worker_count < workers && queue->worker_count < VCM_LIMIT_WORKERS)
        rc = start_worker(queue, store, err);
    if (rc == VCM_OK)
        *out = queue;
    else
        vcm_fault_queue_close(queue);
    return rc;
}

/* Fails the jobs that were not served, and wakes the threads that wait for them. */
static void refuse_jobs(struct vcm_fault_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    for (struct job *job = take_job(queue); job; job = take_job(queue)) {
        for (unsigned i = 0; i < job->count; i++)
            job->items[i]->outcome.rc = vcm_error_set(&job->items[i]->outcome.error,
                                                      VCM_INTERRUPTED, "the store was closed");
        finish_job(queue, job);
    }
    pthread_mutex_unlock(&queue->mutex);
}

void vcm_fault_queue_close(struct vcm_fault_queue *queue)
{
    if (!queue)
        return;
    pthread_mutex_lock(&queue->mutex);
    queue->closing = true;
    pthread_cond_broadcast(&queue->asked);
    pthread_mutex_unlock(&queue->mutex);
    for (unsigned i = 0; i < queue->worker_count; i++) {
        pthread_join(queue->workers[i].thread, NULL);
        vcm_loader_close(queue->workers[i].loader);
    }
    refuse_jobs(queue);
    vcm_loader_close(queue->loader);
    pthread_condattr_destroy(&queue->clock);
    pthread_cond_destroy(&queue->asked);
    pthread_mutex_destroy(&queue->mutex);
    pthread_mutex_destroy(&queue->turn);
    free(queue);
}

/* The item of a page: the one that is queued or being loaded already, or a new one in `*job`. */
static struct item *ask_page(struct vcm_fault_queue *queue, struct job **job,
                             const struct vcm_page_id *id, unsigned priority)
{
    struct item *item = find_item(queue, id);

    if (item) {
        raise_job(queue, item->job, priority);
        return item;
    }
    if (*job && (*job)->count == VCM_FAULT_JOB_PAGES) {
        (*job)->running = false;
        add_job(queue, *job);
        *job = NULL;
    }
    if (!*job) {
        *job = calloc(1, sizeof **job);
        if (!*job)
            return NULL;
        (*job)->priority = priority;
        (*job)->order = queue->order++;
        (*job)->running = true; /* so that raise_job() does not look for it in the list */
    }
    item = calloc(1, sizeof *item);
    if (!item)
        return NULL;
    pthread_cond_init(&item->served, &queue->clock);
    item->id = *id;
    item->job = *job;
    struct item **bucket = bucket_of(queue, id);
    item->next_in_bucket = *bucket;
    *bucket = item;
    (*job)->items[(*job)->count++] = item;
    return item;
}

int vcm_fault_queue_ask(struct vcm_fault_queue_ticket **out, struct vcm_fault_queue *queue,
                        const struct vcm_page_id *ids, unsigned count, unsigned priority,
                        struct vcm_error *err)
{
    struct job *job = NULL;
    int rc = VCM_OK;

    *out = NULL;
    struct vcm_fault_queue_ticket *ticket =
        calloc(1, sizeof *ticket + count * sizeof(struct item *));
    if (!ticket)
        return vcm_error_memory(err);
    ticket->queue = queue;
    pthread_mutex_lock(&queue->mutex);
    for (unsigned i = 0; rc == VCM_OK && i < count; i++) {
        struct item *item = ask_page(queue, &job, &ids[i], priority);
        if (item) {
            item->waiters++;
            ticket->items[ticket->count++] = item;
        } else {
            rc = vcm_error_memory(err);
        }
    }
    if (job) {
        job->running = false;
        add_job(queue, job);
    }
    pthread_cond_broadcast(&queue->asked);
    pthread_mutex_unlock(&queue->mutex);
    vcm_log_write(queue->log, VCM_LOG_DEBUG, "fault: %u pages are asked for, priority %u", count,
                  priority);
    if (rc == VCM_OK)
        *out = ticket;
    else
        vcm_fault_queue_wait(NULL, ticket, NULL);
    return rc;
}

/* Called with the mutex held. False when the wait was cancelled before the page was done. */
static bool wait_for_item(struct item *item, pthread_mutex_t *mutex,
                          const struct vcm_cancel *cancel)
{
    struct timespec until;

    while (!item->done && !vcm_cancel_is_requested(cancel)) {
        if (!cancel) {
            pthread_cond_wait(&item->served, mutex);
            continue;
        }
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += CANCEL_WAIT_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&item->served, mutex, &until);
    }
    return item->done;
}

void vcm_fault_queue_wait(struct vcm_loader_outcome *out, struct vcm_fault_queue_ticket *ticket,
                          const struct vcm_cancel *cancel)
{
    struct vcm_fault_queue *queue = ticket->queue;

    pthread_mutex_lock(&queue->mutex);
    for (unsigned i = 0; i < ticket->count; i++) {
        struct item *item = ticket->items[i];
        if (out && wait_for_item(item, &queue->mutex, cancel)) {
            out[i] = item->outcome;
        } else if (out) {
            out[i] = (struct vcm_loader_outcome){.rc = VCM_OK};
            out[i].rc = vcm_cancel_check(cancel, &out[i].error);
        }
        assert(item->waiters > 0);
        if (--item->waiters == 0 && item->done)
            free_item(item);
    }
    pthread_mutex_unlock(&queue->mutex);
    free(ticket);
}
