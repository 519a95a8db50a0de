#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/ordered.h"

#include "base/banned.h"

struct state {
    size_t next; /* the job whose result is expected */
    size_t failing, ending;
    unsigned workers;
};

static void *run(void *context, size_t job, unsigned worker, struct vcm_error *err)
{
    struct state *state = context;

    assert_true(worker < state->workers);
    if (job % 7 == 0)
        usleep(200); /* a slow one is overtaken */
    if (job == state->failing) {
        vcm_error_set(err, VCM_IO_ERROR, "job %zu", job);
        return NULL;
    }
    size_t *result = malloc(sizeof *result);
    if (!result)
        abort();
    *result = job;
    return result;
}

static int take(void *context, size_t job, void *result, struct vcm_error *err)
{
    struct state *state = context;

    assert_int_equal(job, state->next++);
    assert_int_equal(*(size_t *)result, job);
    free(result);
    return job == state->ending ? vcm_error_set(err, VCM_TIMEOUT, "enough") : VCM_OK;
}

static int work(struct state *state, size_t jobs, unsigned workers, struct vcm_error *err)
{
    struct vcm_ordered ordered = {
        .jobs = jobs, .workers = workers, .run = run, .take = take, .drop = free, .context = state};

    state->workers = vcm_ordered_workers(&ordered);
    return vcm_ordered_run(&ordered, err);
}

static void results_come_in_the_order_of_the_jobs(void **unused)
{
    static const size_t jobs[] = {0, 1, 5, 300};

    (void)unused;
    for (unsigned workers = 0; workers < 6; workers++)
        for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
            struct state state = {.failing = SIZE_MAX, .ending = SIZE_MAX};
            assert_int_equal(work(&state, jobs[i], workers, NULL), VCM_OK);
            assert_int_equal(state.next, jobs[i]);
        }
}

static void the_first_failure_ends_the_work(void **unused)
{
    struct vcm_error err = {0};
    struct state state = {.failing = 100, .ending = SIZE_MAX};

    (void)unused;
    assert_int_equal(work(&state, 300, 4, &err), VCM_IO_ERROR);
    assert_string_equal(err.message, "job 100");
    assert_int_equal(state.next, 100);
}

static void the_taker_ends_the_work(void **unused)
{
    struct state state = {.failing = SIZE_MAX, .ending = 40};

    (void)unused;
    assert_int_equal(work(&state, 300, 4, NULL), VCM_TIMEOUT);
    assert_int_equal(state.next, 41);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_in_the_order_of_the_jobs),
        cmocka_unit_test(the_first_failure_ends_the_work),
        cmocka_unit_test(the_taker_ends_the_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
