/*
 * ordered.h - jobs on several threads whose results are taken in the order of the jobs.
 *
 * Jobs are numbered. Workers run them in order of their numbers and may end in any; the caller's
 * thread takes the results one after the other. Only a bounded number of results waits.
 */
#ifndef VCM_BASE_ORDERED_H
#define VCM_BASE_ORDERED_H

#include <stddef.h>

#include "base/error.h"

struct vcm_ordered {
    size_t jobs;
    unsigned workers; /* 0: one for each processor */
    /* On a worker. Returns the result, or NULL with an error. */
    void *(*run)(void *context, size_t job, unsigned worker, struct vcm_error *err);
    /* On the caller's thread; takes the result over. Anything but VCM_OK ends the work. */
    int (*take)(void *context, size_t job, void *result, struct vcm_error *err);
    void (*drop)(void *result); /* of results that are not taken */
    void *context;
};

/* How many workers run: `worker` of `run` is below. */
unsigned vcm_ordered_workers(const struct vcm_ordered *ordered);

/* Returns what the first job that failed, or the first `take`, returned. No worker runs any more
 * then. */
int vcm_ordered_run(const struct vcm_ordered *ordered, struct vcm_error *err);

#endif
