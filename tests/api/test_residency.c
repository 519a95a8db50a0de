/* Pages come and go: pins, locks, faults and evictions as a user of the library has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "api/vcm.h"
#include "base/limits.h"
#include "tests/support/repo.h"
#include "tests/support/store_check.h"

#include "base/banned.h"

#define FILES     12
#define PAGES_MAX 64

struct fixture {
    struct test_repo repo;
    char *home, *store;
    struct vcm *vcm;
    struct vcm_error err;
    char ids[PAGES_MAX][41];
    uint64_t bytes[PAGES_MAX];
    unsigned count;
};

static void assert_ok(const struct fixture *fix, int rc)
{
    if (rc != VCM_OK)
        fail_msg("%s: %s", vcm_error_code_name((enum vcm_code)rc), fix->err.message);
}

static void open_handle(struct fixture *fix)
{
    const struct vcm_open_options options = {.home = fix->home};

    assert_ok(fix, vcm_open(&fix->vcm, &options, &fix->err));
}

static void reopen(struct fixture *fix)
{
    vcm_close(fix->vcm);
    open_handle(fix);
}

/* Files of several kinds, one of them cut into parts over several pages. */
static void write_files(struct fixture *fix)
{
    char name[32], *text = calloc(1, 64 * 1024);

    assert_non_null(text);
    for (unsigned i = 0; i < FILES; i++) {
        size_t at = 0;
        for (unsigned line = 0; line < 60; line++)
            at += (size_t)snprintf(text + at, 100, "    value_%u = compute(%u, \"%u\");\n", line,
                                   i * 31 + line * 7, i);
        snprintf(name, sizeof name, "dir%u/file%u.c", i / 4, i);
        test_repo_write_text(&fix->repo, name, text);
    }
    for (size_t at = 0, line = 0; at < 40000; line++)
        at += (size_t)snprintf(text + at, 100, "line %zu of a long file: %zu\n", line, line * line);
    test_repo_write_text(&fix->repo, "long.txt", text);
    test_repo_write(&fix->repo, "lossy", "\xff\xfe text", 7);
    test_repo_write_text(&fix->repo, "empty", "");
    free(text);
    test_repo_commit(&fix->repo, "first");
}

static int see_page(void *context, const struct vcm_page_entry *page, struct vcm_error *err)
{
    struct fixture *fix = context;

    (void)err;
    assert_true(fix->count < PAGES_MAX);
    snprintf(fix->ids[fix->count], sizeof fix->ids[0], "%s", page->page_id);
    fix->bytes[fix->count++] = page->bytes;
    return VCM_OK;
}

static void list(struct fixture *fix)
{
    char *cursor = NULL;

    fix->count = 0;
    assert_ok(fix,
              vcm_pages(&cursor, fix->vcm, &(struct vcm_pages_query){0}, see_page, fix, &fix->err));
    assert_null(cursor);
}

static enum vcm_code map_as(struct fixture *fix, bool pinned)
{
    struct vcm_map_result *result = NULL;

    vcm_error_reset(&fix->err);
    assert_ok(fix, vcm_map(&result, fix->vcm,
                           &(struct vcm_map_options){.repository = fix->repo.path,
                                                     .base_scope_id = "base",
                                                     .flush_token_budget = 1000,
                                                     .pinned = pinned},
                           &fix->err));
    enum vcm_code code = result->sources[0].code;
    vcm_map_result_free(result);
    return code;
}

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    test_repo_init(&fix->repo);
    write_files(fix);
    fix->home = test_repo_path(&fix->repo, ".git/home");
    fix->store = test_repo_path(&fix->repo, ".git/home/store");
    assert_int_equal(mkdir(fix->home, 0700), 0);
    test_repo_write_text(&fix->repo, ".git/home/config.yaml", "tokenizer: approx4\n");
    open_handle(fix);
    assert_int_equal(map_as(fix, false), VCM_OK);
    list(fix);
    assert_true(fix->count > 10);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_close(fix->vcm);
    store_check(fix->store, true);
    free(fix->home);
    free(fix->store);
    test_repo_release(&fix->repo);
    free(fix);
    return 0;
}

static struct vcm_stat stat_of(struct fixture *fix)
{
    struct vcm_stat stat;

    vcm_error_reset(&fix->err);
    assert_ok(fix, vcm_stat(&stat, fix->vcm, &fix->err));
    return stat;
}

static void set(struct fixture *fix, const char *key, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    assert_ok(fix, vcm_config_set(fix->vcm, key, text, &fix->err));
}

/* What became of the last page, and of how many. */
struct seen {
    unsigned count, failed, stayed;
    char state[16], fault[16], stays[16], message[512];
    uint64_t locked_until;
};

static int see(void *context, const struct vcm_page_outcome *page, struct vcm_error *err)
{
    struct seen *seen = context;

    (void)err;
    seen->count++;
    seen->failed += page->error != NULL;
    seen->stayed += page->stays != NULL;
    snprintf(seen->state, sizeof seen->state, "%s", page->state);
    snprintf(seen->fault, sizeof seen->fault, "%s", page->fault ? page->fault : "");
    snprintf(seen->stays, sizeof seen->stays, "%s", page->stays ? page->stays : "");
    if (page->error)
        snprintf(seen->message, sizeof seen->message, "%s", page->error->message);
    seen->locked_until = page->locked_until;
    return VCM_OK;
}

static struct seen fault_page(struct fixture *fix, const char *id)
{
    struct seen seen = {0};

    assert_ok(fix, vcm_fault(fix->vcm, &(struct vcm_fault_query){.pages = &id, .count = 1}, see,
                             &seen, &fix->err));
    assert_int_equal(seen.count, 1);
    return seen;
}

static struct vcm_evict_result evict_all(struct fixture *fix, const char *target)
{
    struct vcm_evict_result result;

    assert_ok(fix,
              vcm_evict(&result, fix->vcm, &(struct vcm_evict_query){.all = true, .target = target},
                        NULL, NULL, &fix->err));
    return result;
}

/* Every page's bytes, one behind the other. */
static char *read_all(struct fixture *fix, size_t *len)
{
    char *bytes = NULL;

    *len = 0;
    for (unsigned i = 0; i < fix->count; i++) {
        struct vcm_page *page;
        assert_ok(fix, vcm_page_open(&page, fix->vcm,
                                     &(struct vcm_page_query){.page = fix->ids[i], .seq = -1},
                                     &fix->err));
        bytes = realloc(bytes, *len + page->bytes);
        assert_non_null(bytes);
        memcpy(bytes + *len, page->frame, page->bytes);
        *len += page->bytes;
        vcm_page_release(page);
    }
    return bytes;
}

static void pages_come_back_bit_for_bit_from_every_state(void **state)
{
    static const char *const targets[] = {"compressed", "evicted"};
    struct fixture *fix = *state;
    size_t len, again;
    char *expected = read_all(fix, &len);
    uint64_t hits = stat_of(fix).hits;

    assert_int_equal(hits, fix->count);
    for (unsigned i = 0; i < 2; i++) {
        struct vcm_stat before = stat_of(fix);
        evict_all(fix, targets[i]);
        store_check(fix->store, true);
        struct vcm_stat down = stat_of(fix);
        assert_int_equal(down.pages_resident, 0);
        assert_int_equal(i == 0 ? down.pages_compressed : down.pages_evicted, fix->count);
        char *bytes = read_all(fix, &again);
        assert_int_equal(again, len);
        assert_memory_equal(bytes, expected, len);
        free(bytes);
        reopen(fix); /* which lets them in */
        struct vcm_stat after = stat_of(fix);
        assert_int_equal(after.pages_resident, fix->count);
        uint64_t hit = after.hits - before.hits, minor = after.minor_faults - before.minor_faults;
        assert_int_equal(hit + minor + after.major_faults - before.major_faults, fix->count);
        assert_int_equal(minor, i == 0 ? fix->count : 0);
        assert_int_equal(hit > 0, i == 1); /* other parts of a file come with the first */
    }
    free(expected);
}

static void a_fault_says_how_the_page_was_found(void **state)
{
    struct fixture *fix = *state;

    assert_string_equal(fault_page(fix, fix->ids[0]).fault, "hit");
    evict_all(fix, "compressed");
    struct seen seen = fault_page(fix, fix->ids[0]);
    assert_string_equal(seen.fault, "minor");
    assert_string_equal(seen.state, "resident");
    evict_all(fix, "evicted");
    seen = fault_page(fix, fix->ids[0]);
    assert_string_equal(seen.fault, "major");
    assert_string_equal(seen.state, "resident");
    struct vcm_stat stat = stat_of(fix);
    assert_int_equal(stat.hits, 1);
    assert_int_equal(stat.minor_faults, 1);
    assert_int_equal(stat.major_faults, 1);
}

static int see_pin(void *context, const struct vcm_pin_outcome *pin, struct vcm_error *err)
{
    unsigned *changed = context;

    (void)err;
    *changed += pin->changed;
    return VCM_OK;
}

static int pin(struct fixture *fix, const char *name, bool pinned, unsigned *changed)
{
    unsigned ignored;

    vcm_error_reset(&fix->err);
    *(changed ? changed : &ignored) = 0;
    return (pinned ? vcm_pin : vcm_unpin)(fix->vcm, name, see_pin, changed ? changed : &ignored,
                                          &fix->err);
}

static void a_pinned_page_stays_and_its_pin_is_its_own(void **state)
{
    struct fixture *fix = *state;
    unsigned changed;

    evict_all(fix, "evicted");
    assert_ok(fix, pin(fix, fix->ids[2], true, &changed));
    assert_int_equal(changed, 1);
    assert_int_equal(stat_of(fix).pages_resident, 1);
    assert_ok(fix, pin(fix, fix->ids[2], true, &changed));
    assert_int_equal(changed, 0);
    struct seen seen = {0};
    struct vcm_evict_result result;
    assert_ok(fix, vcm_evict(&result, fix->vcm,
                             &(struct vcm_evict_query){.pages = (const char *[]){fix->ids[2]},
                                                       .count = 1},
                             see, &seen, &fix->err));
    assert_string_equal(seen.stays, "pinned");
    assert_int_equal(result.pages_stayed, 1);
    assert_ok(fix, pin(fix, "base", true, &changed));
    assert_int_equal(stat_of(fix).pages_pinned, fix->count);
    assert_ok(fix, pin(fix, "base", false, &changed));
    assert_int_equal(stat_of(fix).pages_pinned, 1);
    assert_ok(fix, pin(fix, fix->ids[2], false, &changed));
    assert_int_equal(stat_of(fix).pages_pinned, 0);
    assert_int_equal(pin(fix, "nothing", true, NULL), VCM_NOT_FOUND);
}

static void what_is_pinned_or_locked_never_exceeds_the_capacity(void **state)
{
    struct fixture *fix = *state;
    struct vcm_stat before = stat_of(fix);
    uint64_t least = fix->bytes[0] + fix->bytes[1] + 10;

    assert_ok(fix, pin(fix, fix->ids[0], true, NULL));
    set(fix, "cache.capacity", least);
    struct vcm_stat small = stat_of(fix);
    assert_true(small.bytes_resident <= least);
    assert_int_equal(small.pages, before.pages);
    assert_int_equal(pin(fix, "base", true, NULL), VCM_STORE_FULL);
    assert_int_equal(stat_of(fix).pages_pinned, 1);
    assert_int_equal(stat_of(fix).pages_resident, small.pages_resident);
    assert_int_equal(stat_of(fix).pages_compressed, small.pages_compressed);

    const char *second = fix->ids[1], *third = fix->ids[2];
    vcm_error_reset(&fix->err);
    struct vcm_lock_query lock = {.pages = &second, .count = 1, .ttl_ms = 60000};
    assert_ok(fix, vcm_lock(fix->vcm, &lock, NULL, NULL, &fix->err));
    lock.pages = &third;
    assert_int_equal(vcm_lock(fix->vcm, &lock, NULL, NULL, &fix->err), VCM_STORE_FULL);
    assert_int_equal(pin(fix, third, true, NULL), VCM_STORE_FULL);
    assert_int_equal(map_as(fix, true), VCM_STORE_FULL);
    vcm_error_reset(&fix->err);
    assert_int_equal(vcm_config_set(fix->vcm, "cache.capacity", "100", &fix->err), VCM_STORE_FULL);
    vcm_error_reset(&fix->err);
    struct vcm_stat stat = stat_of(fix);
    assert_int_equal(stat.pages_pinned, 1);
    assert_int_equal(stat.pages_locked, 1);
    assert_int_equal(stat.bytes_capacity, least);
    assert_true(stat.bytes_resident <= least);
}

/* The pages of the scope with their states. */
struct image {
    unsigned count;
    char lines[PAGES_MAX][80];
};

static int see_state(void *context, const struct vcm_page_entry *page, struct vcm_error *err)
{
    struct image *image = context;

    (void)err;
    assert_true(image->count < PAGES_MAX);
    snprintf(image->lines[image->count++], sizeof image->lines[0], "%s %s %d", page->page_id,
             page->state, page->pinned);
    return VCM_OK;
}

static struct image image_of(struct fixture *fix)
{
    struct image image;
    char *cursor = NULL;

    memset(&image, 0, sizeof image);
    assert_ok(fix, vcm_pages(&cursor, fix->vcm, &(struct vcm_pages_query){0}, see_state, &image,
                             &fix->err));
    assert_null(cursor);
    return image;
}

/* More than one write batch. */
static enum vcm_code map_large(struct fixture *fix, struct test_repo *large)
{
    struct vcm_map_result *result = NULL;
    char name[32], *text = calloc(1, 500 * 1024);

    assert_non_null(text);
    for (unsigned file = 0; file < 24; file++) {
        size_t at = 0;
        for (unsigned line = 0; at < 490 * 1024; line++)
            at += (size_t)snprintf(text + at, 100, "%u is the number of line %u of a large file\n",
                                   file, line);
        snprintf(name, sizeof name, "f%u", file);
        test_repo_write_text(large, name, text);
    }
    free(text);
    test_repo_commit(large, "large");
    assert_ok(fix, vcm_map(&result, fix->vcm,
                           &(struct vcm_map_options){
                               .repository = large->path, .base_scope_id = "large", .pinned = true},
                           &fix->err));
    enum vcm_code code = result->sources[0].code;
    vcm_map_result_free(result);
    return code;
}

static void a_pinned_row_that_is_refused_leaves_every_page_as_it_was(void **state)
{
    struct fixture *fix = *state;
    struct test_repo large;

    test_repo_init(&large);
    set(fix, "cache.capacity", 10 * 1024 * 1024);
    struct image before = image_of(fix);
    assert_int_equal(map_large(fix, &large), VCM_STORE_FULL);
    struct image after = image_of(fix);
    assert_memory_equal(&after, &before, sizeof after);

    /* A scope that is pinned already, and grows. */
    assert_int_equal(map_as(fix, true), VCM_OK);
    set(fix, "cache.capacity", stat_of(fix).bytes_resident + 100);
    before = image_of(fix);
    test_repo_write_text(&fix->repo, "dir0/more.c",
                         "int more; /* than there is room for: with what is around it the file has "
                         "over a hundred bytes */\n");
    test_repo_commit(&fix->repo, "more");
    assert_int_equal(map_as(fix, true), VCM_STORE_FULL);
    after = image_of(fix);
    assert_memory_equal(&after, &before, sizeof after);
    vcm_error_reset(&fix->err);
    test_repo_release(&large);
}

static uint64_t unlock(struct fixture *fix, const char *id, const char *owner, bool force)
{
    uint64_t released = 9;

    assert_ok(fix, vcm_unlock(&released, fix->vcm,
                              &(struct vcm_lock_query){
                                  .pages = &id, .count = 1, .owner = owner, .force = force},
                              NULL, NULL, &fix->err));
    return released;
}

static struct seen lock(struct fixture *fix, const char *id, const char *owner, uint64_t ttl_ms)
{
    struct seen seen = {0};

    assert_ok(
        fix,
        vcm_lock(
            fix->vcm,
            &(struct vcm_lock_query){
                .pages = &id, .count = 1, .owner = owner, .ttl_ms = ttl_ms, .reason = "a test"},
            see, &seen, &fix->err));
    return seen;
}

static void locks_have_owners_and_the_latest_counts(void **state)
{
    struct fixture *fix = *state;
    const char *id = fix->ids[3];

    evict_all(fix, "evicted");
    struct seen mine = lock(fix, id, NULL, 60000);
    assert_string_equal(mine.state, "resident");
    struct seen other = lock(fix, id, "other", 600000);
    assert_true(other.locked_until > mine.locked_until);
    assert_int_equal(lock(fix, id, "other", 1000).locked_until, other.locked_until);
    assert_int_equal(stat_of(fix).pages_locked, 1);
    assert_int_equal(evict_all(fix, "evicted").pages_stayed, 1);
    assert_int_equal(unlock(fix, id, NULL, false), 1);
    assert_int_equal(unlock(fix, id, NULL, false), 0);
    assert_int_equal(stat_of(fix).pages_locked, 1);
    assert_int_equal(unlock(fix, id, NULL, true), 1);
    assert_int_equal(stat_of(fix).pages_locked, 0);
    assert_int_equal(evict_all(fix, "evicted").pages_stayed, 0);
}

static void a_lock_past_its_time_counts_for_nothing(void **state)
{
    struct fixture *fix = *state;

    lock(fix, fix->ids[0], NULL, 1);
    for (unsigned i = 0; i < 50 && stat_of(fix).pages_locked > 0; i++)
        usleep(100000);
    assert_int_equal(stat_of(fix).pages_locked, 0);
    assert_int_equal(evict_all(fix, "compressed").pages_stayed, 0);
    assert_int_equal(unlock(fix, fix->ids[0], NULL, true), 0);
}

/* Of the library, where no option's parser has looked at it. */
static void a_lock_that_is_too_long_is_refused(void **state)
{
    static const uint64_t too_long[] = {UINT64_MAX, UINT64_MAX - 1000, VCM_LIMIT_LOCK_TTL_MS + 1};
    struct fixture *fix = *state;
    const char *id = fix->ids[0];
    struct seen seen = {0};
    uint64_t until;

    for (unsigned i = 0; i < sizeof too_long / sizeof *too_long; i++) {
        struct vcm_lock_query lock_query = {.pages = &id, .count = 1, .ttl_ms = too_long[i]};
        struct vcm_fault_query fault_query = {.pages = &id, .count = 1, .lock_ms = too_long[i]};
        assert_int_equal(vcm_lock(fix->vcm, &lock_query, NULL, NULL, &fix->err),
                         VCM_INVALID_ARGUMENT);
        assert_non_null(strstr(fix->err.message, "87840h"));
        vcm_error_reset(&fix->err);
        assert_int_equal(vcm_fault(fix->vcm, &fault_query, see, &seen, &fix->err),
                         VCM_INVALID_ARGUMENT);
        vcm_error_reset(&fix->err);
        assert_int_equal(stat_of(fix).pages_locked, 0);
    }
    lock(fix, id, NULL, VCM_LIMIT_LOCK_TTL_MS - 1000);
    for (unsigned i = 0; i < sizeof too_long / sizeof *too_long; i++) {
        assert_int_equal(vcm_lock_extend(&until, fix->vcm, id, NULL, too_long[i], &fix->err),
                         VCM_INVALID_ARGUMENT);
        assert_non_null(strstr(fix->err.message, "87840h"));
        vcm_error_reset(&fix->err);
    }
    assert_int_equal(vcm_lock_extend(&until, fix->vcm, id, NULL, 60000, &fix->err),
                     VCM_INVALID_ARGUMENT);
    vcm_error_reset(&fix->err);
}

static void a_fault_may_lock_what_it_brings(void **state)
{
    struct fixture *fix = *state;
    const char *ids[] = {fix->ids[1], fix->ids[4]};
    struct seen seen = {0};

    evict_all(fix, "compressed");
    assert_ok(
        fix,
        vcm_fault(fix->vcm,
                  &(struct vcm_fault_query){
                      .pages = ids, .count = 2, .lock_ms = 60000, .owner = "me", .priority = 3},
                  see, &seen, &fix->err));
    assert_int_equal(seen.count, 2);
    assert_true(seen.locked_until > 0);
    assert_int_equal(stat_of(fix).pages_locked, 2);
}

static void what_is_gone_is_named_and_the_descriptor_stays(void **state)
{
    struct fixture *fix = *state;
    char *objects = test_repo_path(&fix->repo, ".git/objects");
    char *aside = test_repo_path(&fix->repo, ".git/aside");
    struct vcm_page *page;

    evict_all(fix, "evicted");
    assert_int_equal(rename(objects, aside), 0);
    assert_int_equal(mkdir(objects, 0700), 0);
    struct seen seen = fault_page(fix, fix->ids[0]);
    assert_int_equal(seen.failed, 1);
    assert_string_equal(seen.state, "evicted");
    assert_non_null(strstr(seen.message, fix->repo.path));
    assert_non_null(strstr(seen.message, "'empty' (content e69de29b"));
    assert_int_equal(vcm_page_open(&page, fix->vcm,
                                   &(struct vcm_page_query){.page = fix->ids[0], .seq = -1},
                                   &fix->err),
                     VCM_NOT_FOUND);
    assert_null(page);
    vcm_error_reset(&fix->err);
    assert_int_equal(stat_of(fix).major_faults, 0);
    assert_int_equal(stat_of(fix).pages, fix->count);
    assert_int_equal(rmdir(objects), 0);
    assert_int_equal(rename(aside, objects), 0);
    assert_string_equal(fault_page(fix, fix->ids[0]).fault, "major");
    free(objects);
    free(aside);
}

/* With a capacity of a few pages every read is answered, and the store keeps its limits. */
static void a_store_many_times_its_capacity_is_read_as_a_whole(void **state)
{
    struct fixture *fix = *state;
    uint64_t total = stat_of(fix).bytes_resident;
    size_t len, again;
    char *expected = read_all(fix, &len);

    set(fix, "cache.capacity", total / 5);
    set(fix, "cache.compressed_capacity", total / 20);
    for (unsigned round = 0; round < 3; round++) {
        char *bytes = read_all(fix, &again);
        assert_int_equal(again, len);
        assert_memory_equal(bytes, expected, len);
        free(bytes);
        reopen(fix);
        struct vcm_stat stat = stat_of(fix);
        assert_true(stat.bytes_resident <= total / 5);
        assert_true(stat.bytes_compressed <= total / 20);
        assert_true(stat.pages_resident > 0 && stat.pages_evicted > 0);
    }
    free(expected);
}

static void a_view_keeps_its_page_and_outlives_the_handle(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_view *view, *other;

    assert_ok(fix, vcm_page_view_open(&view, fix->vcm, fix->ids[1], &fix->err));
    assert_string_equal(view->page_id, fix->ids[1]);
    assert_int_equal(view->bytes, fix->bytes[1]);
    assert_int_equal(evict_all(fix, "evicted").pages_stayed, 1);
    assert_int_equal(stat_of(fix).pages_resident, 1);
    reopen(fix);
    assert_int_equal(evict_all(fix, "evicted").pages_stayed, 1);
    assert_int_equal(view->data[view->bytes - 1], '\n');
    set(fix, "cache.capacity", 4 * fix->bytes[1]);
    assert_int_equal(vcm_page_view_open(&other, fix->vcm, fix->ids[1], &fix->err), VCM_STORE_BUSY);
    assert_null(other);
    vcm_page_view_release(view);
    vcm_page_view_release(NULL);
    vcm_error_reset(&fix->err);
    assert_int_equal(evict_all(fix, "evicted").pages_stayed, 0);
    assert_int_equal(vcm_page_view_open(&other, fix->vcm, "ffffffffffff", &fix->err),
                     VCM_NOT_FOUND);
}

#define RESIDENCY_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RESIDENCY_TEST(pages_come_back_bit_for_bit_from_every_state),
        RESIDENCY_TEST(a_fault_says_how_the_page_was_found),
        RESIDENCY_TEST(a_pinned_page_stays_and_its_pin_is_its_own),
        RESIDENCY_TEST(what_is_pinned_or_locked_never_exceeds_the_capacity),
        RESIDENCY_TEST(a_pinned_row_that_is_refused_leaves_every_page_as_it_was),
        RESIDENCY_TEST(locks_have_owners_and_the_latest_counts),
        RESIDENCY_TEST(a_lock_past_its_time_counts_for_nothing),
        RESIDENCY_TEST(a_lock_that_is_too_long_is_refused),
        RESIDENCY_TEST(a_fault_may_lock_what_it_brings),
        RESIDENCY_TEST(what_is_gone_is_named_and_the_descriptor_stays),
        RESIDENCY_TEST(a_store_many_times_its_capacity_is_read_as_a_whole),
        RESIDENCY_TEST(a_view_keeps_its_page_and_outlives_the_handle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
