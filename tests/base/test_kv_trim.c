/* Pages of the map that leave memory before the system needs it. */
#include "kv_fixture.h"

#include "base/banned.h"

#define VALUE_BYTES 30000u

static int change_bulk(struct vcm_kv *kv, vcm_kv_change_fn change, unsigned first, unsigned count)
{
    struct bulk bulk = {.first = first, .count = count, .bytes = VALUE_BYTES};
    return vcm_kv_handle_update(kv, change, &bulk, LATER_MS, NULL, NULL);
}

/* Pages of mapped files that are in this process's memory. */
static long shared_pages(void)
{
    long size, resident, shared = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    assert_int_equal(fscanf(statm, "%ld %ld %ld", &size, &resident, &shared), 3);
    fclose(statm);
    return shared;
}

/* Of a store with a thousand values, which are all there afterwards. */
static void assert_trimming_frees(struct vcm_kv *kv)
{
    assert_int_equal(count_bulk(kv, 0, 1000, VALUE_BYTES), 1000);
    long before = shared_pages();
    vcm_kv_trim(kv);
    assert_true(shared_pages() + 5000 < before);
    assert_int_equal(count_bulk(kv, 0, 1000, VALUE_BYTES), 1000);
}

static void trimming_takes_pages_out_of_memory_and_loses_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    vcm_kv_trim(kv);
    assert_int_equal(change_bulk(kv, put_bulk, 0, 1000), VCM_OK);
    assert_trimming_frees(kv);
    vcm_kv_handle_close(kv);
}

static void trimming_finds_a_map_that_has_moved(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.map_bytes = VCM_MIB;
    struct vcm_kv *kv = open_store(fixture);
    assert_int_equal(change_bulk(kv, put_bulk, 0, 2), VCM_OK);
    vcm_kv_trim(kv);
    assert_int_equal(change_bulk(kv, put_bulk, 2, 1000), VCM_OK);
    assert_trimming_frees(kv);
    vcm_kv_handle_close(kv);
}

static void trimming_above_a_limit_leaves_what_is_below(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    assert_int_equal(change_bulk(kv, put_bulk, 0, 1000), VCM_OK);
    assert_int_equal(count_bulk(kv, 0, 1000, VALUE_BYTES), 1000);
    long before = shared_pages();
    vcm_kv_trim_above(kv, 1024 * VCM_MIB);
    assert_true(shared_pages() + 100 > before);
    vcm_kv_trim_above(kv, VCM_MIB);
    assert_true(shared_pages() + 5000 < before);
    vcm_kv_handle_close(kv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(trimming_takes_pages_out_of_memory_and_loses_nothing),
        STORE_TEST(trimming_finds_a_map_that_has_moved),
        STORE_TEST(trimming_above_a_limit_leaves_what_is_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
