/* Operations on handles that stay open, as a server runs them. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "ops/table.h"
#include "tests/support/repo.h"

#include "base/banned.h"

#define CALLS 50u

struct place {
    struct test_repo directory, repo;
    char *home;
};

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof *place);

    assert_non_null(place);
    test_repo_init_directory(&place->directory);
    test_repo_init(&place->repo);
    for (unsigned i = 0; i < 40; i++) {
        char name[32], text[64];
        snprintf(name, sizeof name, "%s/f%u.txt", i % 2 ? "odd" : "even", i);
        snprintf(text, sizeof text, "the file of number %u\n", i);
        test_repo_write_text(&place->repo, name, text);
    }
    /* Two rows: who is interrupted in the first has not begun the second. */
    test_repo_write_text(&place->repo, ".colony/repo_map.yaml",
                         "schema_version: 1\nsources:\n"
                         "  - {name: even, type: git_repo, start_dir: even}\n"
                         "  - {name: odd, type: git_repo, start_dir: odd}\n");
    test_repo_commit(&place->repo, "first");
    place->home = test_repo_path(&place->directory, "home");
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;

    free(place->home);
    test_repo_release(&place->repo);
    test_repo_release(&place->directory);
    free(place);
    return 0;
}

static const struct vcm_op *operation(const char *name)
{
    size_t i = 0;

    while (vcm_ops[i] && strcmp(vcm_ops[i]->name, name) != 0)
        i++;
    assert_non_null(vcm_ops[i]);
    return vcm_ops[i];
}

/* Runs an operation with one positional argument, or none for NULL. */
static int run(struct vcm_buf *document, struct vcm_op_call *call, const char *name,
               const char *argument, struct vcm *vcm, struct vcm_error *err)
{
    const struct vcm_op *op = operation(name);
    struct vcm_op_value *values = calloc(vcm_op_param_total(op) + 1, sizeof *values);
    struct vcm_arena arena;

    assert_non_null(values);
    vcm_arena_init(&arena, VCM_MIB);
    if (argument)
        assert_int_equal(vcm_op_take(values, op, 0, argument, &arena, err), VCM_OK);
    call->values = values;
    vcm_buf_clear(document);
    int rc = vcm_op_run_on(document, call, op, vcm, err);
    call->values = NULL;
    vcm_arena_release(&arena);
    free(values);
    return rc;
}

static struct vcm *open_home(const struct place *place)
{
    struct vcm_error err = {0};
    struct vcm *vcm = NULL;

    assert_int_equal(vcm_open(&vcm, &(struct vcm_open_options){.home = place->home}, &err), VCM_OK);
    return vcm;
}

static void many_calls_share_one_handle(void **state)
{
    const struct place *place = *state;
    struct vcm_buf document = VCM_BUF_INIT(VCM_MIB), first = VCM_BUF_INIT(VCM_MIB);
    struct vcm_op_call call = {0};
    struct vcm_error err = {0};
    struct vcm *vcm = open_home(place);

    assert_int_equal(run(&document, &call, "map", place->repo.path, vcm, &err), VCM_OK);
    for (unsigned i = 0; i < CALLS; i++) {
        assert_int_equal(run(&document, &call, "scopes", NULL, vcm, &err), VCM_OK);
        if (i == 0)
            vcm_buf_append_slice(&first, vcm_buf_slice(&document));
        assert_string_equal(vcm_buf_text(&document), vcm_buf_text(&first));
        /* A failure leaves nothing behind. */
        assert_int_equal(run(&document, &call, "page", "000000", vcm, &err), VCM_NOT_FOUND);
        vcm_error_reset(&err);
        assert_null(call.vcm);
        assert_null(call.out);
    }
    assert_non_null(strstr(vcm_buf_text(&first), "\"records\":20"));
    vcm_close(vcm);
    vcm_buf_release(&document);
    vcm_buf_release(&first);
}

struct worker {
    const struct place *place;
    const char *name;
    unsigned done;
};

static void *work(void *context)
{
    struct worker *worker = context;
    struct vcm_buf document = VCM_BUF_INIT(VCM_MIB);
    struct vcm *vcm = open_home(worker->place);
    struct vcm_op_call call = {0};
    struct vcm_error err = {0};

    for (unsigned i = 0; i < CALLS; i++)
        worker->done +=
            run(&document, &call, worker->name, NULL, vcm, &err) == VCM_OK && document.len > 0;
    vcm_close(vcm);
    vcm_buf_release(&document);
    return NULL;
}

static void two_threads_run_on_handles_of_their_own(void **state)
{
    const struct place *place = *state;
    struct worker workers[] = {{.place = place, .name = "pages"}, {.place = place, .name = "stat"}};
    struct vcm_buf document = VCM_BUF_INIT(VCM_MIB);
    struct vcm *vcm = open_home(place);
    struct vcm_op_call call = {0};
    struct vcm_error err = {0};
    pthread_t threads[2];

    assert_int_equal(run(&document, &call, "map", place->repo.path, vcm, &err), VCM_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].done, CALLS);
    }
    vcm_close(vcm);
    vcm_buf_release(&document);
}

/* Another thread cancels a call while that reports progress. */
struct interruption {
    struct vcm_cancel cancel;
    sem_t begun, asked;
    bool waited;
};

static void wait_for_request(void *context, const struct vcm_progress *progress)
{
    struct interruption *interruption = context;

    (void)progress;
    if (interruption->waited)
        return;
    interruption->waited = true;
    sem_post(&interruption->begun);
    while (sem_wait(&interruption->asked) != 0)
        continue;
}

static void *interrupt(void *context)
{
    struct interruption *interruption = context;

    while (sem_wait(&interruption->begun) != 0)
        continue;
    vcm_cancel_request(&interruption->cancel);
    sem_post(&interruption->asked);
    return NULL;
}

static void a_call_that_is_interrupted_leaves_the_handle_usable(void **state)
{
    const struct place *place = *state;
    struct vcm_buf document = VCM_BUF_INIT(VCM_MIB);
    struct interruption interruption = {.waited = false};
    struct vcm_op_call call = {.progress = wait_for_request,
                               .progress_context = &interruption,
                               .cancel = &interruption.cancel};
    struct vcm *vcm = open_home(place);
    struct vcm_error err = {0};
    pthread_t thread;

    assert_int_equal(sem_init(&interruption.begun, 0, 0), 0);
    assert_int_equal(sem_init(&interruption.asked, 0, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, interrupt, &interruption), 0);
    assert_int_equal(run(&document, &call, "map", place->repo.path, vcm, &err), VCM_INTERRUPTED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(interruption.waited);

    /* The flag was that call's: it still asks, and the next call has another, or none. */
    call = (struct vcm_op_call){0};
    vcm_error_reset(&err);
    assert_int_equal(run(&document, &call, "map", place->repo.path, vcm, &err), VCM_OK);
    assert_non_null(strstr(vcm_buf_text(&document), "\"status\":\"mapped\""));
    call.cancel = &interruption.cancel;
    assert_int_equal(run(&document, &call, "verify", NULL, vcm, &err), VCM_INTERRUPTED);
    vcm_error_reset(&err);
    vcm_cancel_reset(&interruption.cancel);
    assert_int_equal(run(&document, &call, "verify", NULL, vcm, &err), VCM_OK);
    assert_non_null(strstr(vcm_buf_text(&document), "\"ok\":true"));
    vcm_close(vcm);
    sem_destroy(&interruption.begun);
    sem_destroy(&interruption.asked);
    vcm_buf_release(&document);
}

static void the_flag_of_the_handle_counts_again_afterwards(void **state)
{
    const struct place *place = *state;
    struct vcm_buf document = VCM_BUF_INIT(VCM_MIB);
    struct vcm_cancel own = {0}, other = {0};
    struct vcm_op_call call = {.cancel = &other};
    struct vcm_error err = {0};
    struct vcm *vcm = NULL;

    assert_int_equal(
        vcm_open(&vcm, &(struct vcm_open_options){.home = place->home, .cancel = &own}, &err),
        VCM_OK);
    vcm_cancel_request(&own);
    assert_int_equal(run(&document, &call, "map", place->repo.path, vcm, &err), VCM_OK);
    call.cancel = NULL;
    assert_int_equal(run(&document, &call, "verify", NULL, vcm, &err), VCM_INTERRUPTED);
    assert_ptr_equal(vcm_set_cancel(vcm, NULL), &own);
    assert_null(vcm_set_cancel(vcm, &own));
    assert_null(vcm_set_cancel(NULL, &own));
    vcm_close(vcm);
    vcm_buf_release(&document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(many_calls_share_one_handle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_threads_run_on_handles_of_their_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_call_that_is_interrupted_leaves_the_handle_usable, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_flag_of_the_handle_counts_again_afterwards, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
