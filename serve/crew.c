#include "serve/crew.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

#define THREADS_MIN   4u
#define THREADS_MAX   8u
#define THREADS_SHORT 2u /* that long jobs leave alone */

struct vcm_crew_seat {
    struct vcm_crew *crew;
    struct vcm *vcm; /* NULL until a job asks for it */
    pthread_t thread;
};

struct vcm_crew {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct vcm_crew_job *first, **last;
    unsigned waiting, waiting_max;
    unsigned long_running, idle;
    unsigned threads, threads_max;
    bool is_ending;
    char *home;
    const struct vcm_log *log;
    struct vcm_crew_seat seats[THREADS_MAX];
};

static unsigned default_threads(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = cores > 0 ? (unsigned)cores + THREADS_SHORT : THREADS_MIN;

    return threads < THREADS_MIN ? THREADS_MIN : threads > THREADS_MAX ? THREADS_MAX : threads;
}

int vcm_crew_open(struct vcm_crew **out, const struct vcm_crew_options *options,
                  struct vcm_error *err)
{
    struct vcm_crew *crew = calloc(1, sizeof *crew);

    *out = NULL;
    if (!crew)
        return vcm_error_memory(err);
    crew->home = options->home ? strdup(options->home) : NULL;
    if (options->home && !crew->home) {
        free(crew);
        return vcm_error_memory(err);
    }
    crew->log = options->log;
    crew->waiting_max = options->waiting_max;
    crew->threads_max = options->threads ? options->threads : default_threads();
    if (crew->threads_max > THREADS_MAX)
        crew->threads_max = THREADS_MAX;
    crew->last = &crew->first;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->work, NULL);
    *out = crew;
    return VCM_OK;
}

/* Takes the first job that may begin: a long one only while enough threads are left for others. */
static struct vcm_crew_job *take_job(struct vcm_crew *crew)
{
    unsigned long_max = crew->threads_max > THREADS_SHORT ? crew->threads_max - THREADS_SHORT : 1;

    for (struct vcm_crew_job **at = &crew->first; *at; at = &(*at)->next) {
        struct vcm_crew_job *job = *at;
        if (job->is_long && crew->long_running >= long_max)
            continue;
        *at = job->next;
        if (!*at)
            crew->last = at;
        crew->waiting--;
        crew->long_running += job->is_long;
        return job;
    }
    return NULL;
}

static void *work(void *argument)
{
    struct vcm_crew_seat *seat = argument;
    struct vcm_crew *crew = seat->crew;

    pthread_mutex_lock(&crew->lock);
    for (;;) {
        struct vcm_crew_job *job = take_job(crew);
        if (!job && crew->is_ending && !crew->first)
            break;
        if (!job) {
            crew->idle++;
            pthread_cond_wait(&crew->work, &crew->lock);
            crew->idle--;
            continue;
        }
        bool is_long = job->is_long;
        pthread_mutex_unlock(&crew->lock);
        job->run(job, seat);
        pthread_mutex_lock(&crew->lock);
        crew->long_running -= is_long;
        if (is_long) /* another long one may begin */
            pthread_cond_signal(&crew->work);
    }
    pthread_cond_broadcast(&crew->work);
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* Signals are for the thread that waits for input. */
static bool add_thread(struct vcm_crew *crew)
{
    struct vcm_crew_seat *seat = &crew->seats[crew->threads];
    sigset_t all, old;

    seat->crew = crew;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool started = pthread_create(&seat->thread, NULL, work, seat) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    crew->threads += started;
    return started;
}

bool vcm_crew_submit(struct vcm_crew *crew, struct vcm_crew_job *job)
{
    pthread_mutex_lock(&crew->lock);
    bool taken = crew->waiting < crew->waiting_max && !crew->is_ending;
    if (taken && crew->waiting >= crew->idle && crew->threads < crew->threads_max)
        taken = add_thread(crew) || crew->threads > 0;
    if (taken) {
        job->next = NULL;
        *crew->last = job;
        crew->last = &job->next;
        crew->waiting++;
        pthread_cond_signal(&crew->work);
    }
    pthread_mutex_unlock(&crew->lock);
    return taken;
}

int vcm_crew_handle(struct vcm **out, struct vcm_crew_seat *seat, struct vcm_error *err)
{
    int rc = VCM_OK;

    if (!seat->vcm)
        rc = vcm_open(&seat->vcm,
                      &(struct vcm_open_options){.home = seat->crew->home, .log = seat->crew->log},
                      err);
    *out = seat->vcm;
    return rc;
}

void vcm_crew_close(struct vcm_crew *crew)
{
    if (!crew)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->is_ending = true;
    pthread_cond_broadcast(&crew->work);
    pthread_mutex_unlock(&crew->lock);
    for (unsigned i = 0; i < crew->threads; i++) {
        pthread_join(crew->seats[i].thread, NULL);
        vcm_close(crew->seats[i].vcm);
    }
    assert(!crew->first);
    pthread_cond_destroy(&crew->work);
    pthread_mutex_destroy(&crew->lock);
    free(crew->home);
    free(crew);
}
