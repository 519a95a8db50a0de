#include "base/ordered.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/pool.h"

#include "base/banned.h"

#define WAITING_EACH 16u /* results for each worker that may wait */

struct slot {
    bool is_done;
    void *result;
    struct vcm_error error;
};

struct work {
    const struct vcm_ordered *ordered;
    pthread_mutex_t mutex; /* protects what follows */
    pthread_cond_t done, room;
    size_t next;  /* job that no worker has begun */
    size_t taken; /* jobs whose results were taken */
    bool is_over; /* no further job is begun */
    struct slot *slots;
    size_t slot_count;
};

unsigned vcm_ordered_workers(const struct vcm_ordered *ordered)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t workers = ordered->workers > 0 ? ordered->workers
                     : processors > 0     ? (size_t)processors
                                          : 1;

    workers = workers < VCM_LIMIT_WORKERS ? workers : VCM_LIMIT_WORKERS;
    workers = workers < ordered->jobs ? workers : ordered->jobs;
    return workers > 0 ? (unsigned)workers : 1;
}

/* The next job; false when there is none, or the work is over. */
static bool begin_job(size_t *job, struct work *work)
{
    pthread_mutex_lock(&work->mutex);
    while (!work->is_over && work->next < work->ordered->jobs &&
           work->next - work->taken >= work->slot_count)
        pthread_cond_wait(&work->room, &work->mutex);
    bool found = !work->is_over && work->next < work->ordered->jobs;
    if (found)
        *job = work->next++;
    pthread_mutex_unlock(&work->mutex);
    return found;
}

static void run_jobs(void *argument, unsigned worker)
{
    struct work *work = argument;
    size_t job;

    while (begin_job(&job, work)) {
        struct vcm_error error = {0};
        void *result = work->ordered->run(work->ordered->context, job, worker, &error);
        pthread_mutex_lock(&work->mutex);
        work->slots[job % work->slot_count] =
            (struct slot){.is_done = true, .result = result, .error = error};
        pthread_cond_signal(&work->done);
        pthread_mutex_unlock(&work->mutex);
    }
}

static int take_job(struct work *work, size_t job, struct vcm_error *err)
{
    struct slot *slot = &work->slots[job % work->slot_count];

    pthread_mutex_lock(&work->mutex);
    while (!slot->is_done)
        pthread_cond_wait(&work->done, &work->mutex);
    struct slot found = *slot;
    *slot = (struct slot){.is_done = false};
    work->taken++;
    pthread_cond_broadcast(&work->room);
    pthread_mutex_unlock(&work->mutex);
    if (found.result)
        return work->ordered->take(work->ordered->context, job, found.result, err);
    if (err)
        *err = found.error;
    return vcm_error_failure(found.error.code);
}

static void end_work(struct work *work)
{
    pthread_mutex_lock(&work->mutex);
    work->is_over = true;
    pthread_cond_broadcast(&work->room);
    pthread_mutex_unlock(&work->mutex);
}

int vcm_ordered_run(const struct vcm_ordered *ordered, struct vcm_error *err)
{
    struct work work = {.ordered = ordered};
    unsigned workers = vcm_ordered_workers(ordered);
    struct vcm_pool *pool = NULL;

    work.slot_count = (size_t)WAITING_EACH * workers;
    work.slots = calloc(work.slot_count, sizeof *work.slots);
    if (!work.slots)
        return vcm_error_memory(err);
    pthread_mutex_init(&work.mutex, NULL);
    pthread_cond_init(&work.done, NULL);
    pthread_cond_init(&work.room, NULL);
    int rc = vcm_pool_open(&pool, workers, workers, err);
    for (unsigned i = 0; rc == VCM_OK && i < workers; i++)
        vcm_pool_submit(pool, run_jobs, &work);
    for (size_t job = 0; rc == VCM_OK && job < ordered->jobs; job++)
        rc = take_job(&work, job, err);
    end_work(&work);
    vcm_pool_close(pool);
    for (size_t i = 0; i < work.slot_count; i++)
        if (work.slots[i].is_done && work.slots[i].result)
            ordered->drop(work.slots[i].result);
    pthread_cond_destroy(&work.room);
    pthread_cond_destroy(&work.done);
    pthread_mutex_destroy(&work.mutex);
    free(work.slots);
    return rc;
}
