#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <semaphore.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/pool.h"

#include "base/banned.h"

static struct vcm_pool *open_pool(unsigned workers, unsigned queue_max)
{
    struct vcm_pool *pool;
    struct vcm_error err = {0};
    assert_int_equal(vcm_pool_open(&pool, workers, queue_max, &err), VCM_OK);
    return pool;
}

static void add_one(void *argument, unsigned worker)
{
    (void)worker;
    atomic_fetch_add((atomic_uint *)argument, 1);
}

static void every_job_has_run_after_draining(void **state)
{
    (void)state;
    struct vcm_pool *pool = open_pool(4, 3);
    atomic_uint count = 0;
    for (unsigned round = 1; round <= 3; round++) {
        for (unsigned i = 0; i < 500; i++)
            vcm_pool_submit(pool, add_one, &count);
        vcm_pool_drain(pool);
        assert_int_equal(atomic_load(&count), round * 500);
    }
    vcm_pool_drain(pool);
    vcm_pool_close(pool);
}

static void closing_runs_what_is_still_waiting(void **state)
{
    (void)state;
    struct vcm_pool *pool = open_pool(2, 100);
    atomic_uint count = 0;
    for (unsigned i = 0; i < 100; i++)
        vcm_pool_submit(pool, add_one, &count);
    vcm_pool_close(pool);
    assert_int_equal(atomic_load(&count), 100);
}

struct order {
    unsigned started[200];
    unsigned count;
};

struct ordered_job {
    struct order *order;
    unsigned number;
};

static void note_start(void *argument, unsigned worker)
{
    struct ordered_job *job = argument;
    (void)worker;
    job->order->started[job->order->count++] = job->number;
}

static void jobs_start_in_the_order_of_submission(void **state)
{
    (void)state;
    struct vcm_pool *pool = open_pool(1, 7);
    struct order order = {.count = 0};
    struct ordered_job jobs[200];
    for (unsigned i = 0; i < 200; i++) {
        jobs[i] = (struct ordered_job){&order, i};
        vcm_pool_submit(pool, note_start, &jobs[i]);
    }
    vcm_pool_close(pool);
    assert_int_equal(order.count, 200);
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(order.started[i], i);
}

/* A job of this kind ends when the test lets one pass. */
struct barrier {
    struct vcm_pool *pool;
    sem_t started;
    sem_t pass;
    atomic_uint submitted;
    atomic_uint ended;
    atomic_uint overfull; /* submissions that returned with more jobs around than fit */
    unsigned room;
};

static void wait_to_pass(void *argument, unsigned worker)
{
    struct barrier *barrier = argument;
    (void)worker;
    sem_post(&barrier->started);
    while (sem_wait(&barrier->pass) != 0)
        continue;
    atomic_fetch_add(&barrier->ended, 1);
}

static void *submit_twenty(void *argument)
{
    struct barrier *barrier = argument;
    for (unsigned i = 0; i < 20; i++) {
        vcm_pool_submit(barrier->pool, wait_to_pass, barrier);
        unsigned submitted = atomic_fetch_add(&barrier->submitted, 1) + 1;
        if (submitted > atomic_load(&barrier->ended) + barrier->room)
            atomic_fetch_add(&barrier->overfull, 1);
    }
    return NULL;
}

/* Two run and three wait: no more than five are in and have not ended, at any moment. */
static void a_full_queue_makes_the_submitter_wait(void **state)
{
    (void)state;
    struct barrier barrier = {.pool = open_pool(2, 3), .room = 2 + 3};
    pthread_t submitter;
    sem_init(&barrier.started, 0, 0);
    sem_init(&barrier.pass, 0, 0);
    assert_int_equal(pthread_create(&submitter, NULL, submit_twenty, &barrier), 0);
    for (unsigned i = 0; i < 20; i++) {
        while (sem_wait(&barrier.started) != 0)
            continue;
        assert_true(atomic_load(&barrier.submitted) <= i + barrier.room);
        sem_post(&barrier.pass);
    }
    pthread_join(submitter, NULL);
    vcm_pool_close(barrier.pool);
    assert_int_equal(atomic_load(&barrier.submitted), 20);
    assert_int_equal(atomic_load(&barrier.ended), 20);
    assert_int_equal(atomic_load(&barrier.overfull), 0);
    sem_destroy(&barrier.started);
    sem_destroy(&barrier.pass);
}

struct party {
    struct vcm_pool *pool;
    atomic_uint count;
};

static void *submit_many(void *argument)
{
    struct party *party = argument;
    for (unsigned i = 0; i < 250; i++)
        vcm_pool_submit(party->pool, add_one, &party->count);
    return NULL;
}

static void many_threads_may_submit(void **state)
{
    (void)state;
    struct party party = {.pool = open_pool(3, 2)};
    pthread_t submitters[8];
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&submitters[i], NULL, submit_many, &party), 0);
    for (unsigned i = 0; i < 8; i++)
        pthread_join(submitters[i], NULL);
    vcm_pool_drain(party.pool);
    assert_int_equal(atomic_load(&party.count), 2000);
    vcm_pool_close(party.pool);
}

struct owned {
    unsigned counts[3]; /* one for each worker, so without a lock */
    atomic_uint wrong;
};

static void count_own(void *argument, unsigned worker)
{
    struct owned *owned = argument;
    if (worker < 3)
        owned->counts[worker]++;
    else
        atomic_fetch_add(&owned->wrong, 1);
}

static void each_worker_has_a_number_of_its_own(void **state)
{
    (void)state;
    struct vcm_pool *pool = open_pool(3, 10);
    struct owned owned = {.wrong = 0};
    for (unsigned i = 0; i < 3000; i++)
        vcm_pool_submit(pool, count_own, &owned);
    vcm_pool_close(pool);
    assert_int_equal(atomic_load(&owned.wrong), 0);
    assert_int_equal(owned.counts[0] + owned.counts[1] + owned.counts[2], 3000);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    struct vcm_pool *pool;
    assert_int_equal(vcm_pool_open(&pool, 0, 1, NULL), VCM_INVALID_ARGUMENT);
    assert_null(pool);
    assert_int_equal(vcm_pool_open(&pool, VCM_LIMIT_WORKERS + 1, 1, NULL), VCM_INVALID_ARGUMENT);
    assert_int_equal(vcm_pool_open(&pool, 1, 0, NULL), VCM_INVALID_ARGUMENT);
    vcm_pool_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_has_run_after_draining),
        cmocka_unit_test(closing_runs_what_is_still_waiting),
        cmocka_unit_test(jobs_start_in_the_order_of_submission),
        cmocka_unit_test(a_full_queue_makes_the_submitter_wait),
        cmocka_unit_test(many_threads_may_submit),
        cmocka_unit_test(each_worker_has_a_number_of_its_own),
        cmocka_unit_test(impossible_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
