#include "base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/limits.h"

#include "base/banned.h"

struct job {
    vcm_pool_job_fn run;
    void *argument;
};

struct worker {
    struct vcm_pool *pool;
    pthread_t thread;
    unsigned number;
};

struct vcm_pool {
    pthread_mutex_t mutex; /* protects everything below except the arrays' addresses */
    pthread_cond_t not_empty;
    pthread_cond_t not_full;
    pthread_cond_t idle;
    bool closing;
    unsigned running;
    unsigned queue_first; /* index of the oldest job in the ring */
    unsigned queue_used;
    unsigned queue_max;
    unsigned workers_count;
    struct job *queue;
    struct worker *workers;
};

/* The pool whose job this thread runs: a job that submits could deadlock. */
static _Thread_local const struct vcm_pool *inside;

static void run_one(struct vcm_pool *pool, unsigned number)
{
    struct job job = pool->queue[pool->queue_first];
    pool->queue_first = (pool->queue_first + 1) % pool->queue_max;
    pool->queue_used--;
    pool->running++;
    pthread_cond_signal(&pool->not_full);
    pthread_mutex_unlock(&pool->mutex);

    job.run(job.argument, number);

    pthread_mutex_lock(&pool->mutex);
    pool->running--;
    if (pool->running == 0 && pool->queue_used == 0)
        pthread_cond_broadcast(&pool->idle);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct vcm_pool *pool = worker->pool;

    inside = pool;
    pthread_mutex_lock(&pool->mutex);
    while (!pool->closing || pool->queue_used > 0) {
        if (pool->queue_used > 0)
            run_one(pool, worker->number);
        else
            pthread_cond_wait(&pool->not_empty, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

static int start_workers(struct vcm_pool *pool, unsigned count, struct vcm_error *err)
{
    for (unsigned i = 0; i < count; i++) {
        struct worker *worker = &pool->workers[i];
        worker->pool = pool;
        worker->number = i;
        int code = pthread_create(&worker->thread, NULL, work, worker);
        if (code != 0)
            return vcm_error_sys(err, VCM_INTERNAL, code, "cannot start a worker thread");
        pool->workers_count++;
    }
    return VCM_OK;
}

int vcm_pool_open(struct vcm_pool **out, unsigned workers, unsigned queue_max,
                  struct vcm_error *err)
{
    *out = NULL;
    if (workers == 0 || workers > VCM_LIMIT_WORKERS || queue_max == 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "%u workers with a queue of %u jobs; there are 1 to %u workers and "
                             "at least one job",
                             workers, queue_max, VCM_LIMIT_WORKERS);
    struct vcm_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return vcm_error_memory(err);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->not_empty, NULL);
    pthread_cond_init(&pool->not_full, NULL);
    pthread_cond_init(&pool->idle, NULL);
    pool->queue_max = queue_max;
    pool->queue = calloc(queue_max, sizeof *pool->queue);
    pool->workers = calloc(workers, sizeof *pool->workers);
    int rc =
        pool->queue && pool->workers ? start_workers(pool, workers, err) : vcm_error_memory(err);
    if (rc != VCM_OK) {
        vcm_pool_close(pool);
        return rc;
    }
    *out = pool;
    return VCM_OK;
}

void vcm_pool_submit(struct vcm_pool *pool, vcm_pool_job_fn run, void *argument)
{
    assert(run && inside != pool);
    pthread_mutex_lock(&pool->mutex);
    assert(!pool->closing);
    while (pool->queue_used == pool->queue_max)
        pthread_cond_wait(&pool->not_full, &pool->mutex);
    struct job *job = &pool->queue[(pool->queue_first + pool->queue_used) % pool->queue_max];
    job->run = run;
    job->argument = argument;
    pool->queue_used++;
    pthread_cond_signal(&pool->not_empty);
    pthread_mutex_unlock(&pool->mutex);
}

void vcm_pool_drain(struct vcm_pool *pool)
{
    assert(inside != pool);
    pthread_mutex_lock(&pool->mutex);
    while (pool->running > 0 || pool->queue_used > 0)
        pthread_cond_wait(&pool->idle, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

void vcm_pool_close(struct vcm_pool *pool)
{
    if (!pool)
        return;
    assert(inside != pool);
    pthread_mutex_lock(&pool->mutex);
    pool->closing = true;
    pthread_cond_broadcast(&pool->not_empty);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->workers_count; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->not_full);
    pthread_cond_destroy(&pool->not_empty);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->workers);
    free(pool->queue);
    free(pool);
}
