/* Settings count from the moment they are set, for handles that were open before, too. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "api/config.h"
#include "api/vcm.h"
#include "tests/support/repo.h"
#include "tests/support/store_check.h"

#include "base/banned.h"

#define FILES     16
#define PAGES_MAX 128

/* `old` was opened, and has mapped, before `other` changes anything. */
struct fixture {
    struct test_repo repo;
    char *home, *store;
    struct vcm *old, *other;
    struct vcm_error err;
    char ids[PAGES_MAX][41];
    uint64_t bytes[PAGES_MAX], total;
    unsigned count;
};

static void assert_ok(const struct fixture *fix, int rc)
{
    if (rc != VCM_OK)
        fail_msg("%s: %s", vcm_error_code_name((enum vcm_code)rc), fix->err.message);
}

static void assert_code(struct fixture *fix, int rc, enum vcm_code expected)
{
    if (rc != (int)expected)
        fail_msg("%s, not %s: %s", vcm_error_code_name((enum vcm_code)rc),
                 vcm_error_code_name(expected), fix->err.message);
    vcm_error_reset(&fix->err);
}

static void write_files(struct fixture *fix, unsigned version)
{
    char name[32], text[4096];

    for (unsigned i = 0; i < FILES; i++) {
        size_t at = 0;
        for (unsigned line = 0; line < 60; line++)
            at += (size_t)snprintf(text + at, 100, "    value_%u = compute(%u, \"%u\", %u);\n",
                                   line, i * 31 + line * 7, i, version);
        snprintf(name, sizeof name, "dir%u/file%u.c", i / 4, i);
        test_repo_write_text(&fix->repo, name, text);
    }
    snprintf(name, sizeof name, "version %u", version);
    test_repo_commit(&fix->repo, name);
}

static int see_page(void *context, const struct vcm_page_entry *page, struct vcm_error *err)
{
    struct fixture *fix = context;

    (void)err;
    assert_true(fix->count < PAGES_MAX);
    snprintf(fix->ids[fix->count], sizeof fix->ids[0], "%s", page->page_id);
    fix->total += page->bytes;
    fix->bytes[fix->count++] = page->bytes;
    return VCM_OK;
}

static void list(struct fixture *fix)
{
    char *cursor = NULL;

    fix->count = 0;
    fix->total = 0;
    assert_ok(fix, vcm_pages(&cursor, fix->other, &(struct vcm_pages_query){0}, see_page, fix,
                             &fix->err));
    assert_null(cursor);
}

static enum vcm_code map_with(struct fixture *fix, struct vcm *vcm, bool pinned)
{
    struct vcm_map_result *result = NULL;

    assert_ok(fix, vcm_map(&result, vcm,
                           &(struct vcm_map_options){.repository = fix->repo.path,
                                                     .base_scope_id = "base",
                                                     .flush_token_budget = 1000,
                                                     .pinned = pinned},
                           &fix->err));
    enum vcm_code code = result->sources[0].code;
    vcm_map_result_free(result);
    return code;
}

static void open_handles(struct fixture *fix)
{
    const struct vcm_open_options options = {.home = fix->home};

    assert_ok(fix, vcm_open(&fix->old, &options, &fix->err));
    assert_ok(fix, vcm_open(&fix->other, &options, &fix->err));
}

static int set_up_empty(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    test_repo_init(&fix->repo);
    write_files(fix, 1);
    fix->home = test_repo_path(&fix->repo, ".git/home");
    fix->store = test_repo_path(&fix->repo, ".git/home/store");
    assert_int_equal(mkdir(fix->home, 0700), 0);
    test_repo_write_text(&fix->repo, ".git/home/config.yaml", "tokenizer: approx4\n");
    open_handles(fix);
    *state = fix;
    return 0;
}

static int set_up(void **state)
{
    set_up_empty(state);
    struct fixture *fix = *state;
    assert_int_equal(map_with(fix, fix->old, false), VCM_OK);
    list(fix);
    assert_true(fix->count > 10);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_close(fix->old);
    vcm_close(fix->other);
    store_check(fix->store, true);
    free(fix->home);
    free(fix->store);
    test_repo_release(&fix->repo);
    free(fix);
    return 0;
}

/* As a handle sees it that is opened for this alone. */
static struct vcm_stat stat_of(struct fixture *fix)
{
    const struct vcm_open_options options = {.home = fix->home};
    struct vcm_stat stat;
    struct vcm *vcm;

    assert_ok(fix, vcm_open(&vcm, &options, &fix->err));
    assert_ok(fix, vcm_stat(&stat, vcm, &fix->err));
    stat.home = stat.policy = NULL;
    vcm_close(vcm);
    return stat;
}

static int set_text(struct fixture *fix, const char *key, const char *value)
{
    return vcm_config_set(fix->other, key, value, &fix->err);
}

static void set(struct fixture *fix, const char *key, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    assert_ok(fix, set_text(fix, key, text));
}

static int ignore(void *context, const struct vcm_page_outcome *page, struct vcm_error *err)
{
    (void)context;
    (void)page;
    (void)err;
    return VCM_OK;
}

static void fault_all(struct fixture *fix, struct vcm *vcm)
{
    const char *pages[PAGES_MAX];

    for (unsigned i = 0; i < fix->count; i++)
        pages[i] = fix->ids[i];
    assert_ok(fix, vcm_fault(vcm, &(struct vcm_fault_query){.pages = pages, .count = fix->count},
                             ignore, NULL, &fix->err));
}

static void read_all(struct fixture *fix, struct vcm *vcm)
{
    for (unsigned i = 0; i < fix->count; i++) {
        struct vcm_page *page;
        assert_ok(fix, vcm_page_open(&page, vcm,
                                     &(struct vcm_page_query){.page = fix->ids[i], .seq = -1},
                                     &fix->err));
        vcm_page_release(page);
    }
}

static void evict_all(struct fixture *fix, struct vcm *vcm, const char *target)
{
    struct vcm_evict_result result;

    assert_ok(fix, vcm_evict(&result, vcm, &(struct vcm_evict_query){.all = true, .target = target},
                             NULL, NULL, &fix->err));
}

static int pin(struct fixture *fix, const char *name)
{
    return vcm_pin(fix->old, name, NULL, NULL, &fix->err);
}

static int lock_page(struct fixture *fix, const char *page)
{
    const struct vcm_lock_query lock = {.pages = &page, .count = 1, .ttl_ms = 60000};

    return vcm_lock(fix->old, &lock, NULL, NULL, &fix->err);
}

static int see_finding(void *context, const struct vcm_verify_finding *finding,
                       struct vcm_error *err)
{
    (void)err;
    snprintf(context, 512, "%s: %s", finding->where, finding->what);
    return VCM_OK;
}

static void assert_verifies(struct fixture *fix)
{
    struct vcm_verify_result result;
    char found[512] = "";

    assert_ok(fix, vcm_verify(&result, fix->other, false, see_finding, found, &fix->err));
    assert_string_equal(found, "");
}

static void an_open_handle_keeps_a_smaller_capacity(void **state)
{
    struct fixture *fix = *state;
    const uint64_t capacity = fix->total / 4;

    set(fix, "cache.capacity", capacity);
    assert_true(stat_of(fix).bytes_resident <= capacity);
    fault_all(fix, fix->old);
    assert_in_range(stat_of(fix).bytes_resident, 1, capacity);
    read_all(fix, fix->old);
    vcm_close(fix->old); /* which lets in what was read */
    assert_in_range(stat_of(fix).bytes_resident, 1, capacity);
    assert_ok(fix, vcm_open(&fix->old, &(struct vcm_open_options){.home = fix->home}, &fix->err));
    assert_verifies(fix);
}

static void an_open_handle_maps_within_a_smaller_capacity(void **state)
{
    struct fixture *fix = *state;
    const uint64_t capacity = fix->total / 4;

    set(fix, "cache.capacity", capacity);
    set(fix, "cache.compressed_capacity", 3000);
    for (unsigned version = 2; version < 5; version++) {
        write_files(fix, version);
        assert_int_equal(map_with(fix, fix->old, false), VCM_OK);
        assert_true(stat_of(fix).bytes_resident <= capacity);
        assert_true(stat_of(fix).bytes_compressed <= 3000);
    }
    assert_verifies(fix);
}

static void an_open_handle_sends_pages_down_within_a_smaller_compressed_capacity(void **state)
{
    struct fixture *fix = *state;

    set(fix, "cache.compressed_capacity", 0);
    evict_all(fix, fix->old, "compressed");
    assert_int_equal(stat_of(fix).bytes_compressed, 0);
    assert_int_equal(stat_of(fix).pages_evicted, fix->count);
}

static void an_open_handle_pins_and_locks_within_a_smaller_capacity(void **state)
{
    struct fixture *fix = *state;

    assert_ok(fix, pin(fix, fix->ids[0]));
    set(fix, "cache.capacity", fix->bytes[0] + fix->bytes[1] + 10);
    assert_code(fix, pin(fix, "base"), VCM_STORE_FULL);
    assert_ok(fix, lock_page(fix, fix->ids[1]));
    assert_code(fix, pin(fix, fix->ids[2]), VCM_STORE_FULL);
    assert_code(fix, lock_page(fix, fix->ids[2]), VCM_STORE_FULL);
    write_files(fix, 2);
    assert_int_equal(map_with(fix, fix->old, true), VCM_STORE_FULL);
    struct vcm_stat stat = stat_of(fix);
    assert_int_equal(stat.pages_pinned, 1);
    assert_int_equal(stat.pages_locked, 1);
    assert_true(stat.bytes_resident <= stat.bytes_capacity);
    assert_verifies(fix);
}

/* The checks that come before anything is written go by the new capacity, too. */
static void an_open_handle_pins_within_a_larger_capacity(void **state)
{
    struct fixture *fix = *state;

    set(fix, "cache.capacity", fix->bytes[0] + 10);
    assert_code(fix, pin(fix, "base"), VCM_STORE_FULL);
    write_files(fix, 2);
    assert_int_equal(map_with(fix, fix->old, true), VCM_STORE_FULL);
    set(fix, "cache.capacity", 4 * fix->total);
    assert_ok(fix, pin(fix, "base"));
    assert_int_equal(map_with(fix, fix->old, true), VCM_OK);
    assert_int_equal(stat_of(fix).pages_pinned, stat_of(fix).pages);
    assert_verifies(fix);
}

static void what_is_written_by_hand_counts_with_the_next_write(void **state)
{
    struct fixture *fix = *state;
    char line[64], *path = test_repo_path(&fix->repo, ".git/home/config.yaml");

    evict_all(fix, fix->old, "evicted");
    snprintf(line, sizeof line, "cache.capacity: %llu\n", (unsigned long long)(fix->total / 4));
    int fd = open(path, O_WRONLY | O_APPEND);
    free(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, line, strlen(line)), strlen(line));
    close(fd);
    fault_all(fix, fix->old);
    assert_in_range(stat_of(fix).bytes_resident, 1, fix->total / 4);
}

static void views_keep_a_smaller_capacity(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_view *view, *other;

    assert_ok(fix, vcm_page_view_open(&view, fix->old, fix->ids[0], &fix->err));
    set(fix, "cache.capacity", 4 * fix->bytes[0]);
    assert_code(fix, vcm_page_view_open(&other, fix->old, fix->ids[0], &fix->err), VCM_STORE_BUSY);
    assert_null(other);
    vcm_page_view_release(view);
}

static void policies_change_under_open_handles(void **state)
{
    static const char *const policies[] = {"lru", "sieve", "lfu", "s3fifo"};
    struct fixture *fix = *state;
    struct vcm_stat stat;

    set(fix, "cache.capacity", fix->total / 3);
    for (unsigned i = 0; i < 4; i++) {
        assert_ok(fix, set_text(fix, "cache.policy", policies[i]));
        fault_all(fix, fix->old);
        fault_all(fix, fix->other);
        assert_true(stat_of(fix).bytes_resident <= fix->total / 3);
        assert_ok(fix, vcm_stat(&stat, fix->old, &fix->err));
        assert_string_equal(stat.policy, policies[i]);
        assert_verifies(fix);
    }
}

static void an_open_handle_maps_with_the_tokenizer_that_is_set(void **state)
{
    struct fixture *fix = *state;
    struct vcm_stat stat;

    assert_ok(fix, vcm_stat(&stat, fix->old, &fix->err));
    assert_string_equal(stat.tokenizer, "approx4");
    assert_ok(fix, set_text(fix, "tokenizer", "o200k_base"));
    assert_int_equal(map_with(fix, fix->old, false), VCM_OK);
    assert_string_equal(stat_of(fix).tokenizer, "o200k_base");
    uint64_t tokens = stat_of(fix).tokens;
    assert_int_equal(map_with(fix, fix->other, false), VCM_OK);
    assert_int_equal(stat_of(fix).tokens, tokens);
    assert_code(fix, set_text(fix, "tokenizer", "approx4"), VCM_INVALID_ARGUMENT);
}

static void an_open_handle_maps_with_the_defaults_that_are_set(void **state)
{
    struct fixture *fix = *state;
    struct vcm_stat known;

    assert_ok(fix, vcm_stat(&known, fix->old, &fix->err));
    set(fix, "mmap.flush_threshold", 1);
    assert_ok(fix, set_text(fix, "mmap.pinned", "true"));
    assert_int_equal(map_with(fix, fix->old, false), VCM_OK);
    struct vcm_stat stat = stat_of(fix);
    assert_true(stat.pages >= FILES);
    assert_int_equal(stat.pages_pinned, stat.pages);
}

static int see_value(void *context, const struct vcm_config_entry *entry, struct vcm_error *err)
{
    (void)err;
    snprintf(context, 64, "%s", entry->value);
    return VCM_OK;
}

static void an_open_handle_shows_what_is_set(void **state)
{
    struct fixture *fix = *state;
    struct vcm_stat stat;
    char value[64];

    assert_ok(fix, vcm_stat(&stat, fix->old, &fix->err));
    set(fix, "cache.capacity", 12345678);
    assert_ok(fix, set_text(fix, "credentials.example.org", "SECRET"));
    assert_ok(fix, vcm_stat(&stat, fix->old, &fix->err));
    assert_int_equal(stat.bytes_capacity, 12345678);
    assert_ok(fix,
              vcm_config_get(fix->old, "credentials.example.org", see_value, value, &fix->err));
    assert_string_equal(value, "SECRET");
}

/* A file that was just written may be written again within the same tick of the clock. */
static void a_file_that_was_just_written_is_read_again(void **state)
{
    struct fixture *fix = *state;
    char *path = test_repo_path(&fix->repo, ".git/home/config.yaml");
    struct vcm_config_file fresh, old, missing;

    test_repo_write_text(&fix->repo, ".git/home/config.yaml", "tokenizer: approx4\n");
    vcm_config_look(&fresh, path);
    assert_false(vcm_config_is_same(&fresh, &fresh));
    free(path);
    vcm_config_look(&old, "/etc");
    assert_true(vcm_config_is_same(&old, &old));
    vcm_config_look(&missing, "/nothing/at/all");
    assert_true(vcm_config_is_same(&missing, &missing));
    assert_false(vcm_config_is_same(&missing, &fresh));
    assert_false(vcm_config_is_same(&old, &fresh));
    assert_false(vcm_config_is_same(&(struct vcm_config_file){0}, &missing));
}

static void what_is_written_by_hand_again_and_again_counts(void **state)
{
    struct fixture *fix = *state;
    char line[64];

    evict_all(fix, fix->old, "evicted");
    for (unsigned i = 1; i < 8; i++) { /* the size stays, and mostly the time */
        const unsigned long long capacity = 10000 + 1000 * i;
        snprintf(line, sizeof line, "tokenizer: approx4\ncache.capacity: %llu\n", capacity);
        test_repo_write_text(&fix->repo, ".git/home/config.yaml", line);
        fault_all(fix, fix->old);
        assert_in_range(stat_of(fix).bytes_resident, capacity - 3000, capacity);
    }
}

#define WRITERS  2
#define ROUNDS   8
#define PAUSE_US 2000

/* Brings pages in, pins and locks them, for as long as it is told to, with a handle of its own. */
struct writer {
    struct fixture *fix;
    struct vcm *vcm;
    const atomic_bool *over;
    struct vcm_error err;
    unsigned failures; /* but for those that want of room explains */
};

static bool is_refusal(int rc)
{
    return rc == VCM_STORE_FULL || rc == VCM_STORE_BUSY;
}

static void *write_on(void *context)
{
    struct writer *writer = context;
    const struct fixture *fix = writer->fix;
    struct vcm_error *err = &writer->err;

    for (unsigned i = 0; !atomic_load(writer->over); i = (i + 1) % fix->count) {
        const char *page = fix->ids[i];
        const struct vcm_lock_query lock = {.pages = &page, .count = 1, .ttl_ms = 60000};
        uint64_t released;
        int rc = vcm_fault(writer->vcm, &(struct vcm_fault_query){.pages = &page, .count = 1},
                           ignore, NULL, err);
        writer->failures += rc != VCM_OK;
        rc = vcm_pin(writer->vcm, page, NULL, NULL, err);
        writer->failures += rc != VCM_OK && !is_refusal(rc);
        rc = vcm_lock(writer->vcm, &lock, NULL, NULL, err);
        writer->failures += rc != VCM_OK && !is_refusal(rc);
        rc = vcm_unpin(writer->vcm, page, NULL, NULL, err);
        writer->failures += rc != VCM_OK && !is_refusal(rc);
        rc = vcm_unlock(&released, writer->vcm, &lock, NULL, NULL, err);
        writer->failures += rc != VCM_OK && !is_refusal(rc);
        vcm_error_reset(err);
        usleep(PAUSE_US); /* for the others, who ask for the lock now and then */
    }
    return NULL;
}

static void no_writer_exceeds_a_capacity_that_was_set(void **state)
{
    struct fixture *fix = *state;
    const struct vcm_open_options options = {.home = fix->home};
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    atomic_bool over = false;
    char value[32];

    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.fix = fix, .over = &over};
        assert_ok(fix, vcm_open(&writers[i].vcm, &options, &fix->err));
        assert_int_equal(pthread_create(&threads[i], NULL, write_on, &writers[i]), 0);
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        const uint64_t capacity = i % 2 == 0 ? 3 * fix->bytes[0] : fix->total;
        snprintf(value, sizeof value, "%llu", (unsigned long long)capacity);
        int rc = set_text(fix, "cache.capacity", value);
        if (!is_refusal(rc))
            assert_ok(fix, rc);
        vcm_error_reset(&fix->err);
        for (unsigned look = 0; rc == VCM_OK && look < 5; look++)
            assert_true(stat_of(fix).bytes_resident <= capacity);
    }
    atomic_store(&over, true);
    for (unsigned i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(writers[i].failures, 0);
        vcm_close(writers[i].vcm);
    }
    assert_verifies(fix);
}

#define SETTINGS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define EMPTY_TEST(name)    cmocka_unit_test_setup_teardown(name, set_up_empty, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SETTINGS_TEST(an_open_handle_keeps_a_smaller_capacity),
        SETTINGS_TEST(an_open_handle_maps_within_a_smaller_capacity),
        SETTINGS_TEST(an_open_handle_sends_pages_down_within_a_smaller_compressed_capacity),
        SETTINGS_TEST(an_open_handle_pins_and_locks_within_a_smaller_capacity),
        SETTINGS_TEST(an_open_handle_pins_within_a_larger_capacity),
        SETTINGS_TEST(what_is_written_by_hand_counts_with_the_next_write),
        SETTINGS_TEST(what_is_written_by_hand_again_and_again_counts),
        SETTINGS_TEST(a_file_that_was_just_written_is_read_again),
        SETTINGS_TEST(views_keep_a_smaller_capacity),
        SETTINGS_TEST(policies_change_under_open_handles),
        SETTINGS_TEST(no_writer_exceeds_a_capacity_that_was_set),
        EMPTY_TEST(an_open_handle_maps_with_the_tokenizer_that_is_set),
        EMPTY_TEST(an_open_handle_maps_with_the_defaults_that_are_set),
        SETTINGS_TEST(an_open_handle_shows_what_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
