/*
 * crew.h - the threads that do the work of a server, each with a handle that stays open.
 *
 * Threads start with the first job and handles open with the first job that asks for one, so a
 * server that nobody uses yet has neither. Long jobs (a map, a fetch) never take all threads: two
 * are left for short ones. The queue is bounded; who submits to a full one is told so.
 * Any thread may submit, jobs among them.
 */
#ifndef VCM_SERVE_CREW_H
#define VCM_SERVE_CREW_H

#include "ops/op.h"

struct vcm_crew;
struct vcm_crew_seat; /* a thread of the crew and its handle */

/* A member of what the caller allocates; it must live until `run` is called. */
struct vcm_crew_job {
    void (*run)(struct vcm_crew_job *job, struct vcm_crew_seat *seat);
    bool is_long;
    struct vcm_crew_job *next; /* of the crew */
};

struct vcm_crew_options {
    const char *home;          /* NULL for the default; copied */
    const struct vcm_log *log; /* may be NULL; must outlive the crew */
    unsigned threads;          /* 0: as many as there are cores, and two, from 4 to 8 */
    unsigned waiting_max;      /* jobs in the queue */
};

int vcm_crew_open(struct vcm_crew **out, const struct vcm_crew_options *options,
                  struct vcm_error *err);

/* False if the queue is full or no thread can be started: the job will not run. */
bool vcm_crew_submit(struct vcm_crew *crew, struct vcm_crew_job *job);

/* The handle of the seat, opened when it is first asked for. A failure is not kept: the next call
 * tries again. */
int vcm_crew_handle(struct vcm **out, struct vcm_crew_seat *seat, struct vcm_error *err);

/* Waits until the jobs are done, then ends the threads and closes the handles. */
void vcm_crew_close(struct vcm_crew *crew);

#endif
