/*
 * Plain reads and faults load pages by the same rules: on random stores the same reads through both
 * give the same bytes, states and counters, and both keep the promises of loader.h.
 */
#include "mapped.h"
#include "tests/support/random.h"
#include "vcm/residency/evict.h"
#include "vcm/residency/loader.h"
#include "vcm/mapping/relimit.h"

#include "base/banned.h"

#define STORES   16u
#define READS    12u
#define SOME_MAX 40u

/* One of two equal stores, and the way in which its pages are read. */
struct side {
    struct fixture *fix;
    struct mapped mapped;
    struct vcm_page_cache *cache; /* plain reads, or */
    struct vcm_loader *loader;    /* faults */
};

#define FILE_BYTES ((size_t)20000)
#define PATH_BYTES ((size_t)16)

/* Files of all lengths, some of one part and some of many, in one block. */
static struct memory_item *make_files(unsigned count, uint64_t random)
{
    struct memory_item *items = calloc(count, sizeof *items + PATH_BYTES + FILE_BYTES);

    assert_non_null(items);
    for (unsigned i = 0; i < count; i++) {
        char *path = (char *)(items + count) + i * (PATH_BYTES + FILE_BYTES);
        char *content = path + PATH_BYTES;
        size_t bytes = 1 + test_random_below(&random, i % 2 ? 600 : (unsigned)FILE_BYTES - 80);
        snprintf(path, PATH_BYTES, "d%u/%u.txt", i / 4, i);
        for (size_t at = 0; at < bytes;)
            at += (size_t)snprintf(content + at, 80, "%llx\n",
                                   (unsigned long long)test_random(&random));
        items[i] = (struct memory_item){path, content, VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL};
    }
    return items;
}

static void open_side(struct side *side, uint64_t seed, unsigned files, bool reads)
{
    void *state = NULL;

    fixture_setup(&state);
    side->fix = state;
    map_items(&side->mapped, side->fix, make_files(files, seed), files);
    side->cache = NULL;
    side->loader = NULL;
    if (reads)
        assert_ok(side->fix, vcm_page_cache_open(&side->cache, side->fix->store, &side->fix->err));
    else
        assert_ok(side->fix, vcm_loader_open(&side->loader, side->fix->store, &side->fix->err));
}

static void close_side(struct side *side)
{
    void *state = side->fix;

    vcm_page_cache_close(side->cache);
    vcm_loader_close(side->loader);
    release_mapped(&side->mapped);
    fixture_teardown(&state);
}

/* Limits and states that `random` chooses. */
static void unsettle(struct side *side, uint64_t random)
{
    struct mapped *mapped = &side->mapped;
    const struct vcm_page_store_limits limits = {
        .capacity = 3000 + test_random_below(&random, 60000),
        .compressed_capacity = (uint64_t)test_random_below(&random, 3) * 8000,
        .policy = test_random_below(&random, VCM_EVICT_POLICY_END)};

    vcm_page_store_set_limits(side->fix->store, &limits);
    struct vcm_page_id chosen[2][PAGES_MAX];
    unsigned counts[2] = {0, 0};
    for (unsigned i = 0; i < mapped->count; i++) {
        unsigned which = test_random_below(&random, 3);
        if (which < 2)
            chosen[which][counts[which]++] = mapped->ids[i];
    }
    for (unsigned which = 0; which < 2; which++) {
        struct vcm_pin_departure departures[PAGES_MAX];
        assert_ok(side->fix,
                  vcm_pin_send_down(departures, side->fix->store, chosen[which], counts[which],
                                    which == 0 ? VCM_PAGE_COMPRESSED : VCM_PAGE_EVICTED, NULL,
                                    &side->fix->err));
    }
    assert_ok(side->fix, vcm_relimit_shrink(side->fix->store, NULL, &side->fix->err));
}

static void read_page(struct side *side, const struct vcm_page_id *id)
{
    struct fixture *fix = side->fix;
    struct vcm_page_cache_frame frame;
    struct vcm_loader_outcome outcome;
    struct vcm_page_id made;

    if (side->cache) {
        struct vcm_kv_txn *txn = read_begin(fix);
        assert_ok(fix, vcm_page_cache_read(&frame, side->cache, txn, id, &fix->err));
        vcm_page_id_of(&made, frame.bytes);
        assert_memory_equal(&made, id, sizeof made);
        vcm_page_cache_release(&frame);
        vcm_kv_handle_read_end(txn);
        vcm_page_cache_flush(side->cache);
    } else {
        vcm_loader_load(&outcome, side->loader, id, 1, NULL);
        assert_int_equal(outcome.rc, VCM_OK);
    }
}

static void assert_same(struct side *a, struct side *b)
{
    struct vcm_page_cache_counters left = counters_of(a->fix), right = counters_of(b->fix);

    for (unsigned i = 0; i < a->mapped.count; i++)
        assert_int_equal(state_of(a->fix, &a->mapped.ids[i]), state_of(b->fix, &b->mapped.ids[i]));
    assert_int_equal(left.hits, right.hits);
    assert_int_equal(left.minor_faults, right.minor_faults);
    assert_int_equal(left.major_faults, right.major_faults);
    assert_int_equal(left.evictions, right.evictions);
    assert_int_equal(left.private_answers, right.private_answers);
}

static struct vcm_page_store_limits limits_of(struct side *side)
{
    struct vcm_page_store_limits limits;

    assert_ok(side->fix, vcm_page_store_read_limits(&limits, side->fix->store, &side->fix->err));
    return limits;
}

/* The page is in if it fits at all, and the store keeps its limits. */
static void assert_promises(struct side *side, const struct vcm_page_id *id, unsigned reads)
{
    const struct vcm_page_store_limits limits = limits_of(side);
    struct vcm_page_cache_counters counters = counters_of(side->fix);
    struct vcm_page_totals totals;
    struct vcm_page_info info;

    struct vcm_kv_txn *txn = read_begin(side->fix);
    assert_ok(side->fix, vcm_page_store_totals(&totals, txn, &side->fix->err));
    assert_ok(side->fix, vcm_page_store_page(&info, txn, id, &side->fix->err));
    vcm_kv_handle_read_end(txn);
    if (info.bytes <= limits.capacity)
        assert_int_equal(info.state, VCM_PAGE_RESIDENT);
    assert_true(totals.resident_bytes <= limits.capacity);
    assert_true(totals.compressed_bytes <= limits.compressed_capacity);
    assert_int_equal(counters.hits + counters.minor_faults + counters.major_faults, reads);
    assert_true(counters.private_answers <= counters.minor_faults + counters.major_faults);
}

static void reads_and_faults_of_random_stores_end_alike(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= STORES; seed++) {
        struct side a, b;
        uint64_t random = seed;
        unsigned files = 2 + test_random_below(&random, 20);
        open_side(&a, seed, files, true);
        open_side(&b, seed, files, false);
        assert_int_equal(a.mapped.count, b.mapped.count);
        unsettle(&a, random);
        unsettle(&b, random);
        test_random(&random);
        for (unsigned i = 1; i <= READS; i++) {
            const struct vcm_page_id *id =
                &a.mapped.ids[test_random_below(&random, a.mapped.count)];
            read_page(&a, id);
            read_page(&b, id);
            assert_same(&a, &b);
            assert_promises(&a, id, i);
            assert_promises(&b, id, i);
        }
        close_side(&a);
        close_side(&b);
    }
}

/* Of some, those that are told to be in are in, and only what does not fit is left out. */
static void fault_some(struct side *side, const struct vcm_page_id *ids, unsigned count)
{
    uint64_t capacity = limits_of(side).capacity, asked = 0, in = 0;
    struct vcm_loader_outcome outcomes[SOME_MAX];
    struct vcm_page_cache_counters before = counters_of(side->fix);

    vcm_loader_load(outcomes, side->loader, ids, count, NULL);
    struct vcm_kv_txn *txn = read_begin(side->fix);
    unsigned left_out = 0;
    for (unsigned i = 0; i < count; i++) {
        struct vcm_page_info info;
        assert_ok(side->fix, vcm_page_store_page(&info, txn, &ids[i], &side->fix->err));
        assert_true(outcomes[i].is_read);
        assert_int_equal(outcomes[i].rc, info.state == VCM_PAGE_RESIDENT ? VCM_OK : VCM_STORE_FULL);
        left_out += info.state != VCM_PAGE_RESIDENT;
        in += info.state == VCM_PAGE_RESIDENT ? info.bytes : 0;
        asked += info.bytes;
    }
    vcm_kv_handle_read_end(txn);
    assert_int_equal(left_out == 0, asked <= capacity);
    assert_true(in <= capacity);
    assert_int_equal(counters_of(side->fix).private_answers - before.private_answers, left_out);
}

static void of_a_fault_of_some_pages_all_come_in_that_fit(void **state)
{
    unsigned full = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= STORES; seed++) {
        struct side side;
        uint64_t random = seed;
        open_side(&side, seed, 4 + test_random_below(&random, 20), false);
        unsettle(&side, random);
        for (unsigned round = 0; round < 6; round++) {
            unsigned count = 1 + test_random_below(&random, SOME_MAX - 1);
            if (count > side.mapped.count)
                count = side.mapped.count;
            unsigned first = test_random_below(&random, side.mapped.count - count + 1);
            fault_some(&side, side.mapped.ids + first, count);
        }
        full += counters_of(side.fix).private_answers > 0;
        close_side(&side);
    }
    assert_true(full > 0 && full < STORES); /* both kinds of stores were there */
}

/* Among pages that are in demand newcomers are the first to go: not this one for its group. */
static void a_page_stays_when_its_group_comes_in_with_it(void **state)
{
    unsigned majors = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct side side;
        open_side(&side, seed, 12, true);
        const struct vcm_page_store_limits limits = {.capacity = 30000};
        vcm_page_store_set_limits(side.fix->store, &limits);
        assert_ok(side.fix, vcm_relimit_shrink(side.fix->store, NULL, &side.fix->err));
        for (unsigned i = 0; i < 4 * side.mapped.count; i++) {
            unsigned number = i % side.mapped.count;
            if (state_of(side.fix, &side.mapped.ids[number]) == VCM_PAGE_RESIDENT)
                read_page(&side, &side.mapped.ids[number]);
        }
        for (unsigned i = 0; i < side.mapped.count; i++) {
            uint64_t before = counters_of(side.fix).major_faults;
            read_page(&side, &side.mapped.ids[i]);
            majors += counters_of(side.fix).major_faults > before;
            assert_int_equal(state_of(side.fix, &side.mapped.ids[i]), VCM_PAGE_RESIDENT);
        }
        close_side(&side);
    }
    assert_true(majors > 20);
}

static void a_page_that_is_named_twice_counts_once(void **state)
{
    struct vcm_loader_outcome outcomes[3];
    struct side side;

    (void)state;
    open_side(&side, 1, 4, false);
    send_all_down(&side.mapped, VCM_PAGE_COMPRESSED);
    const struct vcm_page_id ids[3] = {side.mapped.ids[0], side.mapped.ids[1], side.mapped.ids[0]};
    vcm_loader_load(outcomes, side.loader, ids, 3, NULL);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(outcomes[i].rc, VCM_OK);
        assert_int_equal(outcomes[i].was, VCM_PAGE_COMPRESSED);
    }
    assert_int_equal(counters_of(side.fix).minor_faults, 2);
    close_side(&side);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_fault_of_some_pages_all_come_in_that_fit),
        cmocka_unit_test(a_page_stays_when_its_group_comes_in_with_it),
        cmocka_unit_test(a_page_that_is_named_twice_counts_once),
        cmocka_unit_test(reads_and_faults_of_random_stores_end_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
