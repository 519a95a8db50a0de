/*
 * A process that maps without end is killed at any moment. After each death the store opens, what
 * is in force is whole, and the next mapping gives what an undisturbed one gives. VCM_TEST_LONG=1
 * kills 300 times.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store_fixture.h"
#include "tests/support/memory_source.h"
#include "tests/support/random.h"
#include "vcm/ingest.h"

#include "base/banned.h"

#define FILES   150
#define SEED    11
#define MOST_US 60000u

static const char *program;
static struct vcm_tokenizer *tokenizer;

static int map_revision(struct vcm_page_store *store, unsigned revision, struct vcm_error *err)
{
    struct vcm_scope scope = {
        .scope_id = text("s"), .flush_threshold = 20, .flush_token_budget = 300};
    struct vcm_ingest_result result;
    struct memory_source memory;
    unsigned count;
    struct memory_item *items = memory_source_tree(&count, SEED, revision, FILES);

    memory_source_init(&memory, items, count);
    int rc = vcm_ingest_run(
        &result, store, &scope,
        &(struct vcm_ingest_options){.source = &memory.source, .tokenizer = tokenizer, .jobs = 2},
        err);
    free(items);
    return rc;
}

static int run_role(const char *directory)
{
    struct vcm_page_store *store;

    for (unsigned round = 0;; round++) {
        if (vcm_page_store_open(
                &store,
                &(struct vcm_page_store_options){.directory = directory, .map_bytes = VCM_MIB},
                NULL) != VCM_OK)
            return 1;
        if (round == 0 && write(1, "!", 1) != 1)
            return 2;
        if (map_revision(store, round % 2, NULL) != VCM_OK)
            return 3;
        vcm_page_store_close(store);
    }
}

/* Starts the mapper, waits until it has the store open and a little longer, and kills it. */
static void map_and_kill(const struct fixture *fix, unsigned delay_us)
{
    const struct timespec delay = {0, (long)delay_us * 1000};
    int out[2], status;
    char byte;

    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(out[1], 1);
        execl(program, program, "map", fix->disk.path, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    assert_int_equal(read(out[0], &byte, 1), 1);
    nanosleep(&delay, NULL);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(out[0]);
    assert_true(WIFSIGNALED(status));
}

static void a_mapper_may_be_killed_at_any_moment(void **state)
{
    struct fixture *fix = *state;
    char expected[3][2 * VCM_HASH_SHA256_BYTES + 1], hex[2 * VCM_HASH_SHA256_BYTES + 1];
    unsigned rounds = getenv("VCM_TEST_LONG") ? 300 : 15, abandoned = 0;
    uint64_t seed = 20260131;

    print_message("seed %llu, %u rounds\n", (unsigned long long)seed, rounds);
    store_check_digest(expected[2], fix->disk.path); /* of nothing */
    for (unsigned revision = 0; revision < 2; revision++) {
        assert_ok(fix, map_revision(fix->store, revision, &fix->err));
        store_check_digest(expected[revision], fix->disk.path);
    }
    assert_ok(fix, vcm_mapping_remove(fix->store, text("s"), NULL, &fix->err));
    for (unsigned round = 0; round < rounds; round++) {
        close_store(fix);
        map_and_kill(fix, test_random_below(&seed, MOST_US));
        open_store(fix);
        store_check(fix->disk.path, false);
        store_check_digest(hex, fix->disk.path);
        assert_true(strcmp(hex, expected[0]) == 0 || strcmp(hex, expected[1]) == 0 ||
                    strcmp(hex, expected[2]) == 0);
        abandoned += counts_of(fix).unfinished > 0;
        if (round % 3 == 0)
            continue; /* the next victim meets what this one left */
        unsigned revision = test_random_below(&seed, 2);
        assert_ok(fix, map_revision(fix->store, revision, &fix->err));
        store_check(fix->disk.path, true);
        store_check_digest(hex, fix->disk.path);
        assert_string_equal(hex, expected[revision]);
    }
    print_message("%u of %u deaths left something to clear away\n", abandoned, rounds);
    assert_true(abandoned > 0);
    assert_ok(fix, map_revision(fix->store, 0, &fix->err));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {STORE_TEST(a_mapper_may_be_killed_at_any_moment)};

    if (vcm_tokenizer_open(&tokenizer, "approx4", NULL) != VCM_OK)
        return 1;
    if (argc == 3)
        _exit(run_role(argv[2]));
    program = argv[0];
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    vcm_tokenizer_close(tokenizer);
    return failed;
}
