/* States of pages, whatever is done to them in whatever order. */
#include <unistd.h>

#include "store_fixture.h"
#include "tests/support/memory_source.h"
#include "tests/support/random.h"
#include "vcm/store/dictionary.h"
#include "vcm/mapping/ingest.h"
#include "vcm/residency/loader.h"
#include "vcm/residency/lock.h"
#include "vcm/residency/page_cache.h"
#include "vcm/residency/pin.h"
#include "vcm/mapping/relimit.h"
#include "vcm/store/table.h"
#include "vcm/residency/transition.h"

#include "base/banned.h"

#define FILES     60
#define MANY      500 /* enough to train a dictionary with */
#define PAGES_MAX 3000

static struct vcm_tokenizer *tokenizer;

/* The trees that scopes are mapped from; a scope's row name tells which. */
struct tree {
    struct memory_item *items;
    unsigned count;
    struct memory_source source;
};
static struct tree trees[6];

static int open_tree(void *context, struct vcm_source **out, const struct vcm_scope *scope,
                     struct vcm_error *err)
{
    (void)context;
    (void)err;
    *out = &trees[scope->row_name.data[0] - '0'].source.source;
    return VCM_OK;
}

static int map_tree(struct fixture *fix, const char *scope_id, unsigned tree, bool pinned)
{
    char name[2] = {(char)('0' + tree), '\0'};
    struct vcm_scope scope = {.scope_id = text(scope_id),
                              .row_name = text(name),
                              .flush_threshold = 20,
                              .flush_token_budget = 700,
                              .pinned = pinned};
    struct vcm_ingest_result result;

    vcm_page_store_set_sources(fix->store, open_tree, NULL);
    vcm_error_reset(&fix->err);
    return vcm_ingest_run(&result, fix->store, &scope,
                          &(struct vcm_ingest_options){.source = &trees[tree].source.source,
                                                       .tokenizer = tokenizer,
                                                       .jobs = 1},
                          &fix->err);
}

struct pages {
    struct vcm_page_id ids[PAGES_MAX];
    unsigned count;
};

static int take_page(void *context, struct vcm_slice key, struct vcm_slice value,
                     struct vcm_error *err)
{
    struct pages *pages = context;

    (void)value;
    (void)err;
    assert_true(pages->count < PAGES_MAX);
    memcpy(pages->ids[pages->count++].bytes, key.data, key.len);
    return VCM_OK;
}

static void list_pages(struct pages *pages, struct fixture *fix)
{
    struct vcm_slice all = vcm_slice_of("", 0);
    struct vcm_kv_txn *txn = read_begin(fix);

    pages->count = 0;
    assert_ok(fix, vcm_table_each(txn, VCM_TABLE_PAGES, all, all, take_page, pages, &fix->err));
    vcm_kv_handle_read_end(txn);
}

static void set_limits(struct fixture *fix, uint64_t capacity, uint64_t compressed_capacity)
{
    const struct vcm_page_store_limits limits = {.capacity = capacity,
                                                 .compressed_capacity = compressed_capacity};

    vcm_page_store_set_limits(fix->store, &limits);
    fix->options.limits = NULL;
}

static void assert_limits(struct fixture *fix)
{
    struct vcm_page_totals totals = counts_of(fix).totals;
    struct vcm_page_store_limits limits;

    assert_ok(fix, vcm_page_store_read_limits(&limits, fix->store, &fix->err));
    assert_true(totals.resident_bytes <= limits.capacity);
    assert_true(totals.compressed_bytes <= limits.compressed_capacity);
    assert_true(totals.pinned_bytes <= limits.capacity);
}

/* The answers that a refusal may have. */
static void assert_done_or_full(const struct fixture *fix, int rc)
{
    if (rc != VCM_OK && rc != VCM_STORE_FULL)
        fail_msg("%s: %s", vcm_error_code_name((enum vcm_code)rc), fix->err.message);
}

static int frame_of(struct vcm_buf *out, struct fixture *fix, const struct vcm_page_id *id)
{
    struct vcm_page_cache_frame frame;
    struct vcm_page_cache *cache;
    struct vcm_kv_txn *txn = read_begin(fix);

    assert_ok(fix, vcm_page_cache_open(&cache, fix->store, &fix->err));
    int rc = vcm_page_cache_peek(&frame, cache, txn, id, &fix->err);
    if (rc == VCM_OK)
        vcm_buf_append_slice(out, frame.bytes);
    vcm_page_cache_release(&frame);
    vcm_page_cache_close(cache);
    vcm_kv_handle_read_end(txn);
    return rc;
}

static int lock_page(struct fixture *fix, const struct vcm_page_id *id, uint64_t seconds)
{
    struct vcm_buf frame = VCM_BUF_INIT(VCM_MIB);

    assert_ok(fix, frame_of(&frame, fix, id));
    struct vcm_slice bytes = vcm_buf_slice(&frame);
    int rc = vcm_lock_take(fix->store,
                           &(struct vcm_lock_request){.ids = id,
                                                      .frames = &bytes,
                                                      .count = 1,
                                                      .owner = "test",
                                                      .ttl_ms = seconds * 1000,
                                                      .timeout_ms = VCM_LIMIT_LOCK_TIMEOUT_MS},
                           NULL, &fix->err);
    vcm_buf_release(&frame);
    return rc;
}

static int pin_page(struct fixture *fix, const struct vcm_page_id *id, bool pinned)
{
    struct vcm_buf frame = VCM_BUF_INIT(VCM_MIB);
    bool changed;

    assert_ok(fix, frame_of(&frame, fix, id));
    int rc = vcm_pin_page(&changed, fix->store, id, vcm_buf_slice(&frame), pinned, NULL, &fix->err);
    vcm_buf_release(&frame);
    return rc;
}

static void load(struct vcm_loader_outcome *outcomes, struct fixture *fix,
                 const struct vcm_page_id *ids, size_t count)
{
    struct vcm_loader *loader;

    assert_ok(fix, vcm_loader_open(&loader, fix->store, &fix->err));
    vcm_loader_load(outcomes, loader, ids, count, NULL);
    vcm_loader_close(loader);
}

/* Without its shared memory, as after a crash of the machine, or with it. */
static void reopen_store(struct fixture *fix, bool crashed)
{
    char *path = test_repo_path(&fix->disk, "residency");

    close_store(fix);
    if (crashed)
        unlink(path);
    free(path);
    open_store(fix);
    vcm_page_store_set_sources(fix->store, open_tree, NULL);
}

/* One thing of the many that may happen to a store. */
static void do_something(struct fixture *fix, const struct pages *pages, uint64_t *seed)
{
    static const char *const scopes[] = {"a", "b", "c"};
    const char *scope = scopes[test_random_below(seed, 3)];
    struct vcm_pin_departure departures[20];
    struct vcm_loader_outcome outcomes[20];
    struct vcm_page_id ids[20];
    uint64_t released;
    bool flag = test_random_below(seed, 2) == 1;

    vcm_error_reset(&fix->err);
    for (unsigned i = 0; i < 20; i++)
        ids[i] = pages->ids[test_random_below(seed, pages->count > 0 ? pages->count : 1)];
    unsigned what = pages->count == 0 ? 0 : test_random_below(seed, 12);
    switch (what) {
    case 0:
    case 1:
        assert_done_or_full(fix, map_tree(fix, scope, test_random_below(seed, 4), flag && what));
        break;
    case 2: {
        int rc = vcm_mapping_pin_set(fix->store, text(scope), flag, NULL, &fix->err);
        if (rc != VCM_NOT_FOUND)
            assert_done_or_full(fix, rc);
        break;
    }
    case 3:
        assert_done_or_full(fix, pin_page(fix, &ids[0], flag));
        break;
    case 4:
        assert_done_or_full(fix, lock_page(fix, &ids[0], 1000));
        break;
    case 5:
        assert_ok(fix, vcm_lock_release(&released, fix->store, ids, 20, NULL, NULL, &fix->err));
        break;
    case 6:
    case 7:
        assert_ok(fix, vcm_pin_send_down(departures, fix->store, ids, 20,
                                         flag ? VCM_PAGE_COMPRESSED : VCM_PAGE_EVICTED, NULL,
                                         &fix->err));
        break;
    case 8:
    case 9:
        load(outcomes, fix, ids, 20);
        for (unsigned i = 0; i < 20; i++)
            assert_true(outcomes[i].rc == VCM_OK || outcomes[i].rc == VCM_STORE_FULL);
        break;
    case 10: {
        int rc = vcm_mapping_drop_scope(fix->store, text(scope), NULL, &fix->err);
        assert_true(rc == VCM_OK || rc == VCM_NOT_FOUND);
        break;
    }
    default:
        reopen_store(fix, flag);
        break;
    }
}

static void whatever_is_done_the_invariants_hold(void **state)
{
    struct fixture *fix = *state;
    unsigned steps = getenv("VCM_TEST_LONG") ? 2000 : 150;
    struct pages *pages = calloc(1, sizeof *pages);
    uint64_t seed = 20260815;

    print_message("seed %llu, %u steps\n", (unsigned long long)seed, steps);
    const struct vcm_page_store_limits limits = {.capacity = 60000, .compressed_capacity = 12000};
    fix->options.limits = &limits;
    vcm_page_store_set_limits(fix->store, &limits);
    for (unsigned i = 0; i < steps; i++) {
        list_pages(pages, fix);
        do_something(fix, pages, &seed);
        vcm_error_reset(&fix->err);
        assert_limits(fix);
        if (i % 10 == 0)
            store_check(fix->disk.path, true);
    }
    free(pages);
}

static void a_bulk_load_does_not_flush_the_working_set(void **state)
{
    struct fixture *fix = *state;
    struct pages *hot = calloc(1, sizeof *hot);

    assert_ok(fix, map_tree(fix, "a", 0, false));
    list_pages(hot, fix);
    set_limits(fix, counts_of(fix).totals.resident_bytes + 20000, VCM_GIB);
    assert_ok(fix, map_tree(fix, "b", 1, false));
    assert_ok(fix, map_tree(fix, "c", 2, false));
    assert_limits(fix);
    struct vcm_kv_txn *txn = read_begin(fix);
    for (unsigned i = 0; i < hot->count; i++) {
        struct vcm_page_info info;
        assert_ok(fix, vcm_page_store_page(&info, txn, &hot->ids[i], &fix->err));
        assert_int_equal(info.state, VCM_PAGE_RESIDENT);
    }
    vcm_kv_handle_read_end(txn);
    assert_true(counts_of(fix).totals.compressed > 0);
    free(hot);
}

static void what_is_used_stays_longer_than_what_is_not(void **state)
{
    struct fixture *fix = *state;
    struct pages *all = calloc(1, sizeof *all);
    struct vcm_page_cache *cache;
    unsigned hot = 0;

    assert_ok(fix, map_tree(fix, "a", 0, false));
    list_pages(all, fix);
    assert_ok(fix, vcm_page_cache_open(&cache, fix->store, &fix->err));
    struct vcm_kv_txn *txn = read_begin(fix);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < all->count; i += 3) {
            struct vcm_page_cache_frame frame;
            assert_ok(fix, vcm_page_cache_read(&frame, cache, txn, &all->ids[i], &fix->err));
            vcm_page_cache_release(&frame);
        }
    vcm_kv_handle_read_end(txn);
    vcm_page_cache_close(cache);
    set_limits(fix, counts_of(fix).totals.resident_bytes / 2, VCM_GIB);
    assert_ok(fix, vcm_relimit_shrink(fix->store, NULL, &fix->err));
    assert_limits(fix);
    txn = read_begin(fix);
    for (unsigned i = 0; i < all->count; i += 3) {
        struct vcm_page_info info;
        assert_ok(fix, vcm_page_store_page(&info, txn, &all->ids[i], &fix->err));
        hot += info.state == VCM_PAGE_RESIDENT;
    }
    vcm_kv_handle_read_end(txn);
    assert_int_equal(hot, (all->count + 2) / 3);
    free(all);
}

static int count_dictionary(void *context, struct vcm_slice key, struct vcm_slice value,
                            struct vcm_error *err)
{
    (void)key;
    (void)value;
    (void)err;
    ++*(unsigned *)context;
    return VCM_OK;
}

static unsigned dictionaries(struct fixture *fix)
{
    struct vcm_slice all = vcm_slice_of("", 0);
    struct vcm_kv_txn *txn = read_begin(fix);
    unsigned count = 0;

    assert_ok(fix, vcm_table_each(txn, VCM_TABLE_DICTIONARIES, all, all, count_dictionary, &count,
                                  &fix->err));
    vcm_kv_handle_read_end(txn);
    return count;
}

static void a_scope_has_a_dictionary_that_goes_with_it(void **state)
{
    struct fixture *fix = *state;
    struct pages *all = calloc(1, sizeof *all);
    struct vcm_pin_departure departures[PAGES_MAX];

    assert_ok(fix, map_tree(fix, "a", 4, false));
    assert_ok(fix, map_tree(fix, "b", 5, false));
    list_pages(all, fix);
    uint64_t bytes = counts_of(fix).totals.resident_bytes;
    assert_ok(fix, vcm_pin_send_down(departures, fix->store, all->ids, all->count,
                                     VCM_PAGE_COMPRESSED, NULL, &fix->err));
    assert_int_equal(dictionaries(fix), 2);
    assert_true(counts_of(fix).totals.compressed_bytes < bytes / 2);
    store_check(fix->disk.path, true);
    assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("a"), NULL, &fix->err));
    assert_int_equal(dictionaries(fix), 1);
    assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("b"), NULL, &fix->err));
    assert_int_equal(dictionaries(fix), 0);
    free(all);
}

struct wear {
    uint64_t number;
};

/* Says of the dictionary of scope a that it once did ten times as well. */
static int wear_change(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    const struct wear *wear = context;
    struct vcm_buf value = VCM_BUF_INIT(1024);
    unsigned char key[8];

    vcm_wire_store_be64(key, wear->number);
    vcm_wire_put_bytes(&value, text("a"));
    vcm_wire_put_u64(&value, 0);
    vcm_wire_put_u32(&value, 100000);
    vcm_wire_put_u8(&value, 0);
    vcm_wire_put_u32(&value, VCM_DICTIONARY_WINDOW - 1);
    vcm_wire_put_u64(&value, 1000);
    vcm_wire_put_u64(&value, 1000);
    int rc =
        vcm_kv_put(txn, VCM_TABLE_DICTIONARIES, vcm_slice_of(key, 8), vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    return rc;
}

static int take_number(void *context, struct vcm_slice key, struct vcm_slice value,
                       struct vcm_error *err)
{
    (void)value;
    (void)err;
    *(uint64_t *)context = vcm_wire_load_be64((const unsigned char *)key.data);
    return VCM_OK;
}

static void a_dictionary_that_stops_paying_is_trained_anew(void **state)
{
    struct fixture *fix = *state;
    struct pages *all = calloc(1, sizeof *all);
    struct vcm_pin_departure departures[PAGES_MAX];
    struct vcm_loader_outcome *outcomes = calloc(PAGES_MAX, sizeof *outcomes);
    struct vcm_slice every = vcm_slice_of("", 0);
    struct wear wear = {0};

    assert_ok(fix, map_tree(fix, "a", 4, false));
    list_pages(all, fix);
    assert_ok(fix, vcm_pin_send_down(departures, fix->store, all->ids, 1, VCM_PAGE_COMPRESSED, NULL,
                                     &fix->err));
    load(outcomes, fix, all->ids, 1);
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix, vcm_table_each(txn, VCM_TABLE_DICTIONARIES, every, every, take_number,
                                  &wear.number, &fix->err));
    vcm_kv_handle_read_end(txn);
    assert_true(wear.number > 0);
    assert_ok(fix, vcm_kv_handle_update(fix->store->kv, wear_change, &wear, 1000, NULL, &fix->err));
    assert_ok(fix, vcm_pin_send_down(departures, fix->store, all->ids, 3, VCM_PAGE_COMPRESSED, NULL,
                                     &fix->err));
    assert_int_equal(dictionaries(fix), 2);
    store_check(fix->disk.path, true);
    load(outcomes, fix, all->ids, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(outcomes[i].rc, VCM_OK);
    assert_ok(fix, map_tree(fix, "a", 5, false)); /* sweeps what nothing needs */
    assert_int_equal(dictionaries(fix), 1);
    free(outcomes);
    free(all);
}

/* A lock as builds wrote it that counted in seconds. */
static int put_old_lock(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    const struct vcm_page_id *id = context;
    struct vcm_buf value = VCM_BUF_INIT(VCM_KIB);
    unsigned char key[VCM_PAGE_ID_BYTES + 16] = {0};

    memcpy(key, id->bytes, sizeof id->bytes);
    vcm_wire_put_string(&value, "o");
    vcm_wire_put_u64(&value, 2000000000);
    vcm_wire_put_string(&value, "");
    int rc =
        vcm_kv_put(txn, VCM_TABLE_LOCKS, vcm_slice_of(key, sizeof key), vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    return rc;
}

static void a_lock_that_was_stored_in_seconds_ends_when_it_should(void **state)
{
    struct fixture *fix = *state;
    struct pages *pages = calloc(1, sizeof *pages);
    uint64_t until_ms;

    assert_ok(fix, map_tree(fix, "a", 0, false));
    list_pages(pages, fix);
    assert_ok(fix, vcm_kv_handle_update(fix->store->kv, put_old_lock, &pages->ids[0],
                                        VCM_LIMIT_LOCK_TIMEOUT_MS, NULL, &fix->err));
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix, vcm_lock_until(&until_ms, txn, &pages->ids[0], 1999999999999, &fix->err));
    assert_int_equal(until_ms, 2000000000000);
    assert_ok(fix, vcm_lock_until(&until_ms, txn, &pages->ids[0], 2000000000000, &fix->err));
    assert_int_equal(until_ms, 0);
    vcm_kv_handle_read_end(txn);
    free(pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(whatever_is_done_the_invariants_hold),
        STORE_TEST(a_bulk_load_does_not_flush_the_working_set),
        STORE_TEST(what_is_used_stays_longer_than_what_is_not),
        STORE_TEST(a_scope_has_a_dictionary_that_goes_with_it),
        STORE_TEST(a_dictionary_that_stops_paying_is_trained_anew),
        STORE_TEST(a_lock_that_was_stored_in_seconds_ends_when_it_should),
    };
    if (vcm_tokenizer_open(&tokenizer, "approx4", NULL) != VCM_OK)
        return 1;
    for (unsigned i = 0; i < 6; i++) { /* trees 0 and 3 share most of their pages */
        trees[i].items = memory_source_tree(&trees[i].count, i == 3 ? 100 : 100 + i, i == 3,
                                            i < 4 ? FILES : MANY);
        memory_source_init(&trees[i].source, trees[i].items, trees[i].count);
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (unsigned i = 0; i < 6; i++)
        free(trees[i].items);
    vcm_tokenizer_close(tokenizer);
    return failed;
}
