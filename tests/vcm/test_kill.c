/*
 * A process that maps, faults, pins, locks and evicts without end is killed at any moment. After
 * each death the store opens, what is in force is whole, its limits are kept, and the next mapping
 * gives what an undisturbed one gives. VCM_TEST_LONG=1 kills 300 times.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_fixture.h"
#include "tests/support/memory_source.h"
#include "tests/support/random.h"
#include "vcm/residency/loader.h"
#include "vcm/mapping/ingest.h"
#include "vcm/residency/lock.h"
#include "vcm/residency/page_cache.h"
#include "vcm/residency/pin.h"

#include "base/banned.h"

#define FILES   150
#define SEED    11
#define MOST_US 150000u

static const char *program;
static struct vcm_tokenizer *tokenizer;
static const struct vcm_page_store_limits limits = {.capacity = 100000,
                                                    .compressed_capacity = 20000};
static struct memory_source sources[2]; /* of the revisions; a scope's commit tells which */

static int open_again(void *context, struct vcm_source **out, const struct vcm_scope *scope,
                      struct vcm_error *err)
{
    (void)context;
    (void)err;
    *out = &sources[scope->commit.data[0] - '0'].source;
    return VCM_OK;
}

static int map_revision(struct vcm_page_store *store, unsigned revision, struct vcm_error *err)
{
    struct vcm_scope scope = {.scope_id = text("s"),
                              .commit = text(revision ? "1" : "0"),
                              .flush_threshold = 20,
                              .flush_token_budget = 300};
    struct vcm_ingest_result result;

    vcm_page_store_set_sources(store, open_again, NULL);
    return vcm_ingest_run(&result, store, &scope,
                          &(struct vcm_ingest_options){.source = &sources[revision].source,
                                                       .tokenizer = tokenizer,
                                                       .jobs = 2,
                                                       .reuse = revision == 1},
                          err);
}

struct pages {
    struct vcm_page_id ids[512];
    unsigned count;
};

struct list_context {
    struct vcm_kv_txn *txn;
    struct pages *pages;
};

static int take_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct pages *pages = context;

    (void)err;
    if (pages->count < sizeof pages->ids / sizeof pages->ids[0])
        pages->ids[pages->count++] = row->id;
    return VCM_OK;
}

static int take_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct list_context *list = context;

    return vcm_page_table_each_row(list->txn, scope->mapping, 0, take_row, list->pages, err);
}

/* Sends pages down, takes them back, pins and locks some. */
static int churn(struct vcm_page_store *store, unsigned round)
{
    struct vcm_loader_outcome outcomes[32];
    struct vcm_pin_departure departures[512];
    struct vcm_loader *loader = NULL;
    struct pages pages = {.count = 0};
    struct list_context list = {.pages = &pages};
    uint64_t released;
    bool changed;

    int rc = vcm_page_store_read_begin(&list.txn, store, NULL);
    if (rc == VCM_OK)
        rc = vcm_page_store_each_scope(list.txn, text(""), take_scope, &list, NULL);
    vcm_kv_handle_read_end(list.txn);
    if (rc == VCM_OK)
        rc = vcm_pin_send_down(departures, store, pages.ids, pages.count,
                               round % 3 == 0 ? VCM_PAGE_EVICTED : VCM_PAGE_COMPRESSED, NULL, NULL);
    if (rc == VCM_OK)
        rc = vcm_loader_open(&loader, store, NULL);
    for (unsigned at = 0; rc == VCM_OK && at + 32 <= pages.count; at += 32) {
        vcm_loader_load(outcomes, loader, pages.ids + at, 32, NULL);
        bool resident = outcomes[0].rc == VCM_OK;
        const struct vcm_lock_request lock = {.ids = pages.ids + at,
                                              .count = 1,
                                              .owner = "victim",
                                              .ttl_ms = 1000,
                                              .timeout_ms = VCM_LIMIT_LOCK_TIMEOUT_MS};
        struct vcm_slice none = {0};
        /* Either may have been sent down again meanwhile, or not find room. */
        if (resident && round % 2 == 0)
            vcm_lock_take(store, &lock, NULL, NULL);
        if (resident)
            vcm_pin_page(&changed, store, pages.ids + at + 1, none, round % 2 == 0, NULL, NULL);
    }
    if (rc == VCM_OK)
        rc = vcm_lock_release(&released, store, pages.ids, pages.count, NULL, NULL, NULL);
    vcm_loader_close(loader);
    return rc;
}

static int run_role(const char *directory)
{
    struct vcm_page_store *store;

    for (unsigned round = 0;; round++) {
        if (vcm_page_store_open(&store,
                                &(struct vcm_page_store_options){.directory = directory,
                                                                 .map_bytes = VCM_MIB,
                                                                 .limits = &limits},
                                NULL) != VCM_OK)
            return 1;
        if (round == 0 && write(1, "!", 1) != 1)
            return 2;
        if (map_revision(store, round % 2, NULL) != VCM_OK)
            return 3;
        if (churn(store, round) != VCM_OK)
            return 4;
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

static void a_writer_may_be_killed_at_any_moment(void **state)
{
    struct fixture *fix = *state;
    char expected[3][2 * VCM_HASH_SHA256_BYTES + 1], hex[2 * VCM_HASH_SHA256_BYTES + 1];
    unsigned rounds = getenv("VCM_TEST_LONG") ? 300 : 15, abandoned = 0;
    uint64_t seed = 20260131, not_resident = 0;

    fix->options.limits = &limits;
    vcm_page_store_set_limits(fix->store, &limits);

    print_message("seed %llu, %u rounds\n", (unsigned long long)seed, rounds);
    store_check_digest(expected[2], fix->disk.path); /* of nothing */
    for (unsigned revision = 0; revision < 2; revision++) {
        assert_ok(fix, map_revision(fix->store, revision, &fix->err));
        store_check_digest(expected[revision], fix->disk.path);
    }
    assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("s"), NULL, &fix->err));
    for (unsigned round = 0; round < rounds; round++) {
        close_store(fix);
        map_and_kill(fix, test_random_below(&seed, MOST_US));
        open_store(fix);
        store_check(fix->disk.path, false);
        struct vcm_page_totals totals = counts_of(fix).totals;
        assert_true(totals.resident_bytes <= limits.capacity);
        assert_true(totals.compressed_bytes <= limits.compressed_capacity);
        not_resident += totals.pages - totals.resident;
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
    assert_true(abandoned > 0 && not_resident > 0);
    assert_ok(fix, map_revision(fix->store, 0, &fix->err));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {STORE_TEST(a_writer_may_be_killed_at_any_moment)};

    if (vcm_tokenizer_open(&tokenizer, "approx4", NULL) != VCM_OK)
        return 1;
    struct memory_item *items[2];
    for (unsigned i = 0; i < 2; i++) {
        unsigned count;
        items[i] = memory_source_tree(&count, SEED, i, FILES);
        memory_source_init(&sources[i], items[i], count);
        sources[i].texts_in_ids = true;
    }
    if (argc == 3)
        _exit(run_role(argv[2]));
    program = argv[0];
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(items[0]);
    free(items[1]);
    vcm_tokenizer_close(tokenizer);
    return failed;
}
