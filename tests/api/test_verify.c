/*
 * vcm_verify() checks in a process that it forks. Other threads of the program may be anywhere in
 * the library at that moment, and none of them is in the child.
 */
#include "tests/api/handle_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/error.h"

#include "base/banned.h"

#define CHECKS 12u

struct fixture {
    struct handle_fixture base;
    struct vcm *mapping, *ingesting; /* of the same home, for a thread each */
    atomic_bool over;
    unsigned failures;
};

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);
    char name[32], text[64];

    assert_non_null(fix);
    test_repo_init(&fix->base.repo);
    for (unsigned i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "d%u/f", i);
        snprintf(text, sizeof text, "the text of file %u\n", i);
        test_repo_write_text(&fix->base.repo, name, text);
    }
    handle_fixture_open(&fix->base);
    fix->mapping = handle_fixture_open_again(&fix->base);
    fix->ingesting = handle_fixture_open_again(&fix->base);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_close(fix->mapping);
    vcm_close(fix->ingesting);
    return handle_fixture_tear_down(state);
}

static void *map_on(void *context)
{
    struct fixture *fix = context;
    unsigned round = 0;

    while (!atomic_load(&fix->over)) {
        const struct vcm_map_options options = {
            .repository = fix->base.repo.path,
            .base_scope_id = "tool",
            .flush_threshold = 1 + round++ % 2,
        };
        struct vcm_map_result *result = NULL;
        fix->failures += vcm_map(&result, fix->mapping, &options, NULL) != VCM_OK;
        vcm_map_result_free(result);
    }
    return NULL;
}

static int pass_file(void *context, const struct vcm_kb_file *file, struct vcm_error *err)
{
    (void)context;
    (void)file;
    (void)err;
    return VCM_OK;
}

static void *ingest_on(void *context)
{
    struct fixture *fix = context;
    char text[64];
    unsigned round = 0;

    while (!atomic_load(&fix->over)) {
        int len = snprintf(text, sizeof text, "# Notes\n\nthe text of round %u\n", round++);
        const struct vcm_kb_bytes document = {"notes.md", text, (size_t)len};
        const struct vcm_kb_ingest_options options = {.documents = &document, .document_count = 1};
        fix->failures += vcm_kb_ingest(fix->ingesting, &options, pass_file, NULL, NULL) != VCM_OK;
    }
    return NULL;
}

static int end_at_finding(void *context, const struct vcm_verify_finding *finding,
                          struct vcm_error *err)
{
    (void)context;
    return vcm_error_set(err, VCM_STORE_CORRUPT, "%s: %s", finding->where, finding->what);
}

static void verify_ends_beside_threads_that_write(void **state)
{
    struct fixture *fix = *state;
    struct vcm_verify_result result;
    pthread_t mapper, ingester;
    int rc = VCM_OK;

    assert_int_equal(pthread_create(&mapper, NULL, map_on, fix), 0);
    assert_int_equal(pthread_create(&ingester, NULL, ingest_on, fix), 0);
    for (unsigned i = 0; rc == VCM_OK && i < CHECKS; i++)
        rc = vcm_verify(&result, fix->base.vcm, false, end_at_finding, NULL, &fix->base.err);
    atomic_store(&fix->over, true);
    assert_int_equal(pthread_join(mapper, NULL), 0);
    assert_int_equal(pthread_join(ingester, NULL), 0);
    assert_int_equal(fix->failures, 0);
    if (rc != VCM_OK)
        fail_msg("%s", fix->base.err.message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(verify_ends_beside_threads_that_write, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
