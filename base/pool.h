/*
 * pool.h - worker threads with a bounded queue.
 *
 * Jobs start in the order in which they were submitted and may end in any. A full queue makes the
 * submitter wait, which bounds memory. Jobs report through their argument; the pool knows nothing
 * of results. Any thread may submit, jobs must not.
 */
#ifndef VCM_BASE_POOL_H
#define VCM_BASE_POOL_H

#include "base/error.h"

struct vcm_pool;

/* `worker` is the number of the thread that runs the job, from 0, so that a caller can keep state
 * for each thread. */
typedef void (*vcm_pool_job_fn)(void *argument, unsigned worker);

/* `workers` from 1 to VCM_LIMIT_WORKERS; `queue_max` jobs may wait. */
int vcm_pool_open(struct vcm_pool **out, unsigned workers, unsigned queue_max,
                  struct vcm_error *err);

void vcm_pool_submit(struct vcm_pool *pool, vcm_pool_job_fn run, void *argument);

/* Waits until every job that was submitted has ended. */
void vcm_pool_drain(struct vcm_pool *pool);

/* Drains, ends the threads, frees. */
void vcm_pool_close(struct vcm_pool *pool);

#endif
