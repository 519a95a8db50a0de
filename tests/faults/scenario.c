#include "tests/faults/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "api/vcm.h"
#include "git/repo.h"
#include "tests/support/random.h"
#include "tests/support/repo.h"
#include "tests/support/store_check.h"

#include "base/banned.h"

#define RUNS_MAX 100000u

struct scenario {
    struct test_repo repo, disk;
    struct vcm_git_repo *held; /* keeps libgit2 ready: it reads certificates whenever it starts */
    char home[300], store[320];
    char *commits[2];
    char expected[3][2 * VCM_HASH_SHA256_BYTES + 1]; /* of either commit, and of nothing */
    char page[41];
    struct vcm_error err;
};

static void write_files(struct scenario *s, unsigned revision)
{
    char line[64], *text = calloc(1, 40000);

    assert_non_null(text);
    for (unsigned i = 0; i < 700; i++) {
        snprintf(line, sizeof line, "line %u of a file to be cut, %u\n", i,
                 i == 350 ? revision : 0);
        memcpy(text + strlen(text), line, strlen(line) + 1);
    }
    test_repo_write_text(&s->repo, "long.txt", text);
    free(text);
    test_repo_write_text(&s->repo, "dir/a.c", revision ? "int a;\n" : "int b;\n");
    test_repo_write_text(&s->repo, "dir/empty", "");
    test_repo_write(&s->repo, "dir/lossy", "\xff\xfe", 2);
    test_repo_write(&s->repo, "binary", "\0\1", 2);
    test_repo_write_text(&s->repo, revision ? "other/new.md" : "other/old.md", "# Title\n");
    test_repo_commit(&s->repo, "x");
    s->commits[revision] = test_repo_git_output(&s->repo, "rev-parse", "HEAD", NULL);
    /* Reading a loose object is our own code: its failure would cost that file, and the map would
     * go on with the others. */
    test_repo_git(&s->repo, "gc", "--quiet", NULL);
}

static int keep_id(void *context, const struct vcm_page_entry *page, struct vcm_error *err)
{
    (void)err;
    snprintf(context, 41, "%s", page->page_id);
    return VCM_OK;
}

static int see_outcome(void *context, const struct vcm_page_outcome *page, struct vcm_error *err)
{
    int *rc = context;

    (void)err;
    if (page->error)
        *rc = (int)page->error->code;
    return VCM_OK;
}

static int see_pin(void *context, const struct vcm_pin_outcome *pin, struct vcm_error *err)
{
    (void)context;
    (void)pin;
    (void)err;
    return VCM_OK;
}

static int read_page(struct scenario *s, struct vcm *vcm, const char *id)
{
    struct vcm_page *page = NULL;

    int rc = vcm_page_open(&page, vcm, &(struct vcm_page_query){.page = id, .seq = -1}, &s->err);
    vcm_page_release(page);
    return rc;
}

static int evict_all(struct scenario *s, struct vcm *vcm, const char *target)
{
    struct vcm_evict_result result;

    return vcm_evict(&result, vcm, &(struct vcm_evict_query){.all = true, .target = target}, NULL,
                     NULL, &s->err);
}

static int fault_page(struct scenario *s, struct vcm *vcm, const char *id)
{
    int failed = VCM_OK;

    int rc = vcm_fault(vcm, &(struct vcm_fault_query){.pages = &id, .count = 1}, see_outcome,
                       &failed, &s->err);
    return rc == VCM_OK ? failed : rc;
}

/* Sends the pages down and takes one back from either state; pins and locks it in between. */
static int move_pages(struct scenario *s, struct vcm *vcm, const char *id)
{
    static const char *const targets[] = {"compressed", "evicted"};
    uint64_t released;
    int rc = VCM_OK;

    for (unsigned i = 0; rc == VCM_OK && i < 2; i++) {
        rc = evict_all(s, vcm, targets[i]);
        if (rc == VCM_OK)
            rc = read_page(s, vcm, id);
        if (rc == VCM_OK)
            rc = fault_page(s, vcm, id);
    }
    const struct vcm_lock_query lock = {.pages = &id, .count = 1, .ttl_ms = 60000};
    if (rc == VCM_OK)
        rc = vcm_lock(vcm, &lock, NULL, NULL, &s->err);
    if (rc == VCM_OK)
        rc = vcm_pin(vcm, id, see_pin, NULL, &s->err);
    if (rc == VCM_OK)
        rc = vcm_unpin(vcm, id, see_pin, NULL, &s->err);
    if (rc == VCM_OK)
        rc = vcm_unlock(&released, vcm, &lock, NULL, NULL, &s->err);
    return rc;
}

static int read_everything(struct scenario *s, struct vcm *vcm)
{
    struct vcm_pages_query all = {0};
    struct vcm_stat stat;
    char *cursor = NULL, id[41] = "";

    int rc = vcm_pages(&cursor, vcm, &all, keep_id, id, &s->err);
    free(cursor);
    if (rc == VCM_OK)
        rc = read_page(s, vcm, id);
    if (rc == VCM_OK)
        rc = move_pages(s, vcm, id);
    return rc == VCM_OK ? vcm_stat(&stat, vcm, &s->err) : rc;
}

/* The code of the call or of the row. */
static int map(struct scenario *s, struct vcm *vcm, const struct vcm_map_options *options)
{
    struct vcm_map_result *result = NULL;

    int rc = vcm_map(&result, vcm, options, &s->err);
    if (rc == VCM_OK)
        rc = (int)result->sources[0].code;
    if (rc == VCM_OK && result->sources[0].coverage.failed > 0)
        rc = VCM_IO_ERROR;
    vcm_map_result_free(result);
    return rc;
}

static int map_revision(struct scenario *s, struct vcm *vcm, unsigned revision, bool pinned)
{
    return map(s, vcm,
               &(struct vcm_map_options){.repository = s->repo.path,
                                         .base_scope_id = "s",
                                         .commit = s->commits[revision],
                                         .flush_token_budget = 800,
                                         .pinned = pinned,
                                         .jobs = 1});
}

/* The whole use; the code of the call, or of the row, that failed. */
static int use(struct scenario *s, unsigned revision)
{
    struct vcm *vcm = NULL;

    vcm_error_reset(&s->err);
    int rc = vcm_open(&vcm, &(struct vcm_open_options){.home = s->home}, &s->err);
    if (rc == VCM_OK)
        rc = map_revision(s, vcm, revision, false);
    if (rc == VCM_OK)
        rc = read_everything(s, vcm);
    vcm_close(vcm);
    return rc;
}

static void use_undisturbed(struct scenario *s, unsigned revision)
{
    int rc = use(s, revision);

    if (rc != VCM_OK)
        fail_msg("an undisturbed run fails: %s %s", vcm_error_code_name((enum vcm_code)rc),
                 s->err.message);
}

/* A home without a store; the tokenizer that needs no vocabulary makes runs short. */
static void renew_home(const struct scenario *s)
{
    char *argv[] = {"rm", "-rf", (char *)s->home, NULL};

    assert_int_equal(test_repo_run(NULL, argv, NULL), 0);
    test_repo_write_text(&s->disk, "home/config.yaml", "tokenizer: approx4\n");
}

static void open_scenario(struct scenario *s)
{
    memset(s, 0, sizeof *s);
    if (access("/dev/shm", W_OK) == 0) /* where syncing takes no time */
        setenv("TMPDIR", "/dev/shm", 0);
    test_repo_init(&s->repo);
    test_repo_init_directory(&s->disk);
    snprintf(s->home, sizeof s->home, "%s/home", s->disk.path);
    snprintf(s->store, sizeof s->store, "%s/store", s->home);
    assert_int_equal(vcm_git_repo_open(&s->held, s->repo.path, NULL), VCM_OK);
    renew_home(s);
    for (unsigned revision = 0; revision < 2; revision++) {
        write_files(s, revision);
        use_undisturbed(s, revision);
        store_check_digest(s->expected[revision], s->store);
        store_check(s->store, true);
    }
}

static void close_scenario(struct scenario *s)
{
    vcm_git_repo_close(s->held);
    test_repo_release(&s->repo);
    test_repo_release(&s->disk);
    free(s->commits[0]);
    free(s->commits[1]);
}

/* What a reader finds after a run that was disturbed: nothing, or the pages of one commit. */
static void check_store(struct scenario *s, bool was_mapped, unsigned long n)
{
    char hex[2 * VCM_HASH_SHA256_BYTES + 1];
    struct vcm_page_store *store = NULL;
    struct vcm_error err = {0};

    int rc = vcm_page_store_open(
        &store, &(struct vcm_page_store_options){.directory = s->store, .read_only = true}, &err);
    if (rc == VCM_NOT_FOUND && !was_mapped)
        return;
    if (rc != VCM_OK)
        fail_msg("after fault %lu the store does not open: %s", n, err.message);
    vcm_page_store_close(store);
    store_check(s->store, false);
    store_check_digest(hex, s->store);
    bool known = strcmp(hex, s->expected[1]) == 0 ||
                 (was_mapped ? strcmp(hex, s->expected[0]) == 0 : strcmp(hex, s->expected[2]) == 0);
    if (!known)
        fail_msg("after fault %lu the store holds something else", n);
}

/* One run with a fault; false when the fault no longer came. */
static bool run_once(struct scenario *s, const struct scenario_fault *fault, bool was_mapped,
                     unsigned long n, unsigned variant)
{
    char hex[2 * VCM_HASH_SHA256_BYTES + 1];

    if (was_mapped)
        use_undisturbed(s, 0);
    else
        renew_home(s);
    fault->arm(n, variant);
    int rc = use(s, 1);
    bool came = fault->disarm();
    if (rc != VCM_OK && (!came || !fault->is_expected(rc)))
        fail_msg("fault %lu.%u: %s %s", n, variant, vcm_error_code_name((enum vcm_code)rc),
                 s->err.message);
    check_store(s, was_mapped, n);
    use_undisturbed(s, 1);
    store_check(s->store, true);
    store_check_digest(hex, s->store);
    assert_string_equal(hex, s->expected[1]);
    return came;
}

/* The first run that is tried: any, when only some are. */
static unsigned long first_run(const struct scenario_fault *fault, unsigned variant,
                               unsigned *stride)
{
    const char *seed_text = getenv("VCM_TEST_SEED");
    uint64_t seed = seed_text ? strtoull(seed_text, NULL, 10) : 1611;

    *stride = getenv("VCM_TEST_LONG") ? 1 : fault->stride;
    if (variant == 0)
        print_message("seed %llu, every %u\n", (unsigned long long)seed, *stride);
    seed += variant;
    return 1 + test_random_below(&seed, *stride);
}

static void run_all(struct scenario *s, const struct scenario_fault *fault, bool was_mapped)
{
    unsigned long runs = 0;

    for (unsigned variant = 0; variant < fault->variants; variant++) {
        unsigned stride;
        unsigned long n = first_run(fault, variant, &stride);
        for (; n < RUNS_MAX && run_once(s, fault, was_mapped, n, variant); n += stride)
            runs++;
        assert_true(n < RUNS_MAX);
    }
    print_message("%lu runs met a fault\n", runs);
    assert_true(runs > 5);
}

void scenario_first_map(const struct scenario_fault *fault)
{
    struct scenario s;

    open_scenario(&s);
    struct test_repo empty;
    struct vcm_page_store *store;
    test_repo_init_directory(&empty);
    assert_int_equal(vcm_page_store_open(
                         &store, &(struct vcm_page_store_options){.directory = empty.path}, NULL),
                     VCM_OK);
    store_check_digest(s.expected[2], empty.path);
    vcm_page_store_close(store);
    test_repo_release(&empty);
    run_all(&s, fault, false);
    close_scenario(&s);
}

void scenario_second_map(const struct scenario_fault *fault)
{
    struct scenario s;

    open_scenario(&s);
    run_all(&s, fault, true);
    close_scenario(&s);
}

/* One operation on a store that is mapped: what goes before it undisturbed, and itself. */
struct operation {
    const char *name;
    int (*prepare)(struct scenario *s, struct vcm *vcm);
    int (*run)(struct scenario *s, struct vcm *vcm);
};

static int prepare_evicted(struct scenario *s, struct vcm *vcm)
{
    return evict_all(s, vcm, "evicted");
}

static int prepare_resident(struct scenario *s, struct vcm *vcm)
{
    char *cursor = NULL;
    int rc = vcm_config_set(vcm, "cache.capacity", "1GiB", &s->err);

    if (rc == VCM_OK)
        rc = vcm_pin(vcm, "s", see_pin, NULL, &s->err);
    if (rc == VCM_OK)
        rc = vcm_unpin(vcm, "s", see_pin, NULL, &s->err);
    if (rc == VCM_OK)
        rc = vcm_pages(&cursor, vcm, &(struct vcm_pages_query){0}, keep_id, s->page, &s->err);
    free(cursor);
    return rc;
}

static int prepare_unpinned(struct scenario *s, struct vcm *vcm)
{
    int rc = prepare_resident(s, vcm);
    return rc == VCM_OK ? evict_all(s, vcm, "evicted") : rc;
}

static int run_fault(struct scenario *s, struct vcm *vcm)
{
    int rc = fault_page(s, vcm, s->page);
    return rc == VCM_OK ? read_page(s, vcm, s->page) : rc;
}

static int run_compress(struct scenario *s, struct vcm *vcm)
{
    return evict_all(s, vcm, "compressed");
}

static int run_lock(struct scenario *s, struct vcm *vcm)
{
    const char *id = s->page;
    const struct vcm_lock_query lock = {
        .pages = &id, .count = 1, .ttl_ms = 60000, .reason = "reading"};
    uint64_t released;

    int rc = vcm_lock(vcm, &lock, NULL, NULL, &s->err);
    return rc == VCM_OK ? vcm_unlock(&released, vcm, &lock, NULL, NULL, &s->err) : rc;
}

static int run_pin_page(struct scenario *s, struct vcm *vcm)
{
    int rc = vcm_pin(vcm, s->page, see_pin, NULL, &s->err);
    return rc == VCM_OK ? vcm_unpin(vcm, s->page, see_pin, NULL, &s->err) : rc;
}

static int run_pin_scope(struct scenario *s, struct vcm *vcm)
{
    return vcm_pin(vcm, "s", see_pin, NULL, &s->err);
}

static int run_config(struct scenario *s, struct vcm *vcm)
{
    int rc = vcm_config_set(vcm, "cache.capacity", "8KiB", &s->err);
    return rc == VCM_OK ? vcm_config_set(vcm, "cache.policy", "lru", &s->err) : rc;
}

static int run_gc(struct scenario *s, struct vcm *vcm)
{
    struct vcm_gc_counts counts;
    return vcm_gc(&counts, vcm, &s->err);
}

/* Another scope of other pages fills the capacity, so that some of them go for what is pinned. */
static int prepare_full(struct scenario *s, struct vcm *vcm)
{
    char capacity[32];
    struct vcm_stat stat;

    int rc = vcm_config_set(vcm, "cache.capacity", "1GiB", &s->err);
    if (rc == VCM_OK)
        rc = map_revision(s, vcm, 0, true);
    if (rc == VCM_OK)
        rc = map(s, vcm,
                 &(struct vcm_map_options){.repository = s->repo.path,
                                           .base_scope_id = "other",
                                           .commit = s->commits[0],
                                           .flush_token_budget = 500,
                                           .jobs = 1});
    if (rc == VCM_OK)
        rc = vcm_pin(vcm, "other", see_pin, NULL, &s->err);
    if (rc == VCM_OK)
        rc = vcm_unpin(vcm, "other", see_pin, NULL, &s->err);
    if (rc == VCM_OK)
        rc = vcm_stat(&stat, vcm, &s->err);
    if (rc != VCM_OK)
        return rc;
    snprintf(capacity, sizeof capacity, "%llu", (unsigned long long)stat.bytes_resident);
    return vcm_config_set(vcm, "cache.capacity", capacity, &s->err);
}

static int run_pinned_map(struct scenario *s, struct vcm *vcm)
{
    return map_revision(s, vcm, 1, true);
}

static const struct operation operations[] = {
    {"fault", prepare_evicted, run_fault},
    {"compress", prepare_resident, run_compress},
    {"evict", prepare_resident, prepare_evicted},
    {"lock", prepare_evicted, run_lock},
    {"pin a page", prepare_evicted, run_pin_page},
    {"config", prepare_resident, run_config},
    {"gc", prepare_evicted, run_gc},
    {"pin a scope", prepare_unpinned, run_pin_scope},
    {"map a pinned row", prepare_full, run_pinned_map},
};

static int operate(struct scenario *s, int (*run)(struct scenario *s, struct vcm *vcm))
{
    struct vcm *vcm = NULL;

    vcm_error_reset(&s->err);
    int rc = vcm_open(&vcm, &(struct vcm_open_options){.home = s->home}, &s->err);
    if (rc == VCM_OK)
        rc = run(s, vcm);
    vcm_close(vcm);
    return rc;
}

static void operate_undisturbed(struct scenario *s, const struct operation *operation,
                                int (*run)(struct scenario *s, struct vcm *vcm))
{
    int rc = operate(s, run);

    if (rc != VCM_OK)
        fail_msg("%s: an undisturbed run fails: %s %s", operation->name,
                 vcm_error_code_name((enum vcm_code)rc), s->err.message);
}

static bool operate_once(struct scenario *s, const struct scenario_fault *fault,
                         const struct operation *operation, unsigned long n, unsigned variant)
{
    char hex[2 * VCM_HASH_SHA256_BYTES + 1];

    operate_undisturbed(s, operation, operation->prepare);
    store_check(s->store, true);
    store_check_digest(s->expected[0], s->store);
    fault->arm(n, variant);
    int rc = operate(s, operation->run);
    bool came = fault->disarm();
    if (rc != VCM_OK && (!came || !fault->is_expected(rc)))
        fail_msg("%s, fault %lu.%u: %s %s", operation->name, n, variant,
                 vcm_error_code_name((enum vcm_code)rc), s->err.message);
    store_check(s->store, false);
    store_check_digest(hex, s->store);
    if (strcmp(hex, s->expected[0]) != 0 && strcmp(hex, s->expected[1]) != 0)
        fail_msg("%s: after fault %lu.%u the store holds something else", operation->name, n,
                 variant);
    operate_undisturbed(s, operation, operation->run);
    store_check(s->store, false);
    store_check_digest(hex, s->store);
    assert_string_equal(hex, s->expected[1]);
    return came;
}

void scenario_operations(const struct scenario_fault *fault)
{
    struct scenario s;

    open_scenario(&s);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        const struct operation *operation = &operations[i];
        unsigned long runs = 0;
        operate_undisturbed(&s, operation, prepare_resident);
        operate_undisturbed(&s, operation, operation->prepare);
        operate_undisturbed(&s, operation, operation->run);
        store_check_digest(s.expected[1], s.store);
        for (unsigned variant = 0; variant < fault->variants; variant++) {
            unsigned stride;
            unsigned long n = first_run(fault, variant, &stride);
            for (; n < RUNS_MAX && operate_once(&s, fault, operation, n, variant); n += stride)
                runs++;
            assert_true(n < RUNS_MAX);
        }
        print_message("%s: %lu runs met a fault\n", operation->name, runs);
        assert_true(runs > 1);
    }
    close_scenario(&s);
}
