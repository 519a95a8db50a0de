/* A store of format 1 becomes one of this format. */
#include <unistd.h>

#include "store_fixture.h"
#include "tests/support/old_store.h"
#include "vcm/residency/page_cache.h"
#include "vcm/mapping/relimit.h"

#include "base/banned.h"

static void make_old_store(struct fixture *fix)
{
    char *data = test_repo_path(&fix->disk, "data.mdb");

    close_store(fix);
    assert_int_equal(unlink(data), 0);
    assert_ok(fix, old_store_write(fix->disk.path, &fix->err));
    free(data);
}

static void a_store_of_format_1_is_converted_by_its_first_writer(void **state)
{
    struct fixture *fix = *state;
    char large[OLD_STORE_LARGE_BYTES + 1];

    old_store_large(large);
    make_old_store(fix);
    fix->options.read_only = true;
    assert_int_equal(vcm_page_store_open(&fix->store, &fix->options, &fix->err), VCM_UNSUPPORTED);
    assert_null(fix->store);
    assert_non_null(strstr(fix->err.message, "format 1"));
    vcm_error_reset(&fix->err);
    fix->options.read_only = false;
    open_store(fix);
    store_check(fix->disk.path, true);
    struct vcm_page_totals totals = counts_of(fix).totals;
    assert_int_equal(totals.pages, 4);
    assert_int_equal(totals.resident, 4);
    assert_int_equal(totals.pinned, 2);
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_pages(fix, txn, "a", PAGES("one", "two", large));
    assert_pages(fix, txn, "b", PAGES("two", "three"));
    vcm_kv_handle_read_end(txn);
    close_store(fix);
    fix->options.read_only = true;
    open_store(fix);
}

static void a_converted_store_is_one_like_any_other(void **state)
{
    struct fixture *fix = *state;

    make_old_store(fix);
    open_store(fix);
    struct vcm_page_store_limits limits = {.capacity = 300, .compressed_capacity = VCM_GIB};
    vcm_page_store_set_limits(fix->store, &limits);
    assert_ok(fix, vcm_relimit_shrink(fix->store, NULL, &fix->err));
    assert_true(counts_of(fix).totals.resident_bytes <= 300);
    assert_ok(fix, vcm_mapping_pin_set(fix->store, text("b"), false, NULL, &fix->err));
    assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("a"), NULL, &fix->err));
    assert_int_equal(counts_of(fix).pages, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_store_of_format_1_is_converted_by_its_first_writer),
        STORE_TEST(a_converted_store_is_one_like_any_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
