/* What is pinned and does not fit is refused, and every page is what it was. */
#include "store_fixture.h"
#include "vcm/residency/lock.h"
#include "vcm/residency/page_cache.h"
#include "vcm/residency/pin.h"
#include "vcm/mapping/relimit.h"
#include "vcm/store/table.h"

#include "base/banned.h"

#define PAGE_BYTES 100000u
#define BATCH      (VCM_LIMIT_BATCH_BYTES / PAGE_BYTES + 1) /* pages that are more than one */

static void set_capacity(struct fixture *fix, unsigned pages, uint64_t compressed_capacity)
{
    vcm_page_store_set_limits(fix->store, &(struct vcm_page_store_limits){
                                              .capacity = (uint64_t)pages * (PAGE_BYTES + 100),
                                              .compressed_capacity = compressed_capacity});
}

/* Pages number `first` and those after it, all of one size. */
static int try_map(struct fixture *fix, const char *scope_id, unsigned first, unsigned count,
                   bool pinned, struct vcm_mapping_result *result)
{
    struct vcm_scope scope = {.scope_id = text(scope_id)};
    char *content = malloc(PAGE_BYTES + 1);
    int rc = VCM_OK;

    assert_non_null(content);
    struct vcm_mapping *mapping = begin_pinned(fix, scope_id, pinned);
    for (unsigned i = first; rc == VCM_OK && i < first + count; i++) {
        memset(content, 'x', PAGE_BYTES);
        content[snprintf(content, 32, "page %u ", i)] = ' ';
        content[PAGE_BYTES] = '\0';
        rc = add_page(mapping, &scope, content, &fix->err);
    }
    free(content);
    if (rc == VCM_OK)
        return vcm_mapping_commit(mapping, &scope, result, &fix->err);
    vcm_mapping_abort(mapping);
    return rc;
}

static struct vcm_mapping_result map(struct fixture *fix, const char *scope_id, unsigned first,
                                     unsigned count, bool pinned)
{
    struct vcm_mapping_result result = {0};

    assert_ok(fix, try_map(fix, scope_id, first, count, pinned, &result));
    return result;
}

static int add_entry(void *context, struct vcm_slice key, struct vcm_slice value,
                     struct vcm_error *err)
{
    (void)err;
    vcm_hash_sha256_update(context, key.data, key.len);
    vcm_hash_sha256_update(context, value.data, value.len);
    return VCM_OK;
}

/* Every page with its state and bytes, who holds it, and every row. */
struct image {
    unsigned char digest[VCM_HASH_SHA256_BYTES];
    struct vcm_page_totals totals;
};

static struct image image_of(struct fixture *fix)
{
    static const enum vcm_table tables[] = {
        VCM_TABLE_PAGES,   VCM_TABLE_FRAMES, VCM_TABLE_COMPRESSED, VCM_TABLE_ROWS,
        VCM_TABLE_HOLDERS, VCM_TABLE_SCOPES, VCM_TABLE_MAPPINGS,   VCM_TABLE_LOCKS,
        VCM_TABLE_PATHS,   VCM_TABLE_ORPHANS};
    struct vcm_slice all = vcm_slice_of("", 0);
    struct vcm_hash_sha256 hash;
    struct image image;

    memset(&image, 0, sizeof image);
    vcm_hash_sha256_init(&hash);
    struct vcm_kv_txn *txn = read_begin(fix);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        assert_ok(fix, vcm_table_each(txn, tables[i], all, all, add_entry, &hash, &fix->err));
    assert_ok(fix, vcm_page_store_totals(&image.totals, txn, &fix->err));
    vcm_kv_handle_read_end(txn);
    vcm_hash_sha256_final(&hash, image.digest);
    return image;
}

static void assert_same(struct fixture *fix, const struct image *before)
{
    struct image after = image_of(fix);

    assert_memory_equal(&after.totals, &before->totals, sizeof after.totals);
    assert_memory_equal(after.digest, before->digest, sizeof after.digest);
    store_check(fix->disk.path, true);
}

static void assert_refused(struct fixture *fix, const struct image *before, int rc)
{
    assert_int_equal(rc, VCM_STORE_FULL);
    assert_non_null(strstr(fix->err.message, "cache.capacity"));
    vcm_error_reset(&fix->err);
    assert_same(fix, before);
}

/* With room for compressed pages and without: those who would go, would go to either place. */
static const uint64_t tiers[] = {VCM_GIB, 0};

static void a_table_of_several_batches_that_does_not_fit_sends_nobody_away(void **state)
{
    struct fixture *fix = *state;
    struct vcm_mapping_result result;

    for (unsigned i = 0; i < 2; i++) {
        set_capacity(fix, BATCH + 20, tiers[i]);
        map(fix, "other", 0, BATCH, false);
        struct image before = image_of(fix);
        assert_refused(fix, &before, try_map(fix, "s", 1000, 3 * BATCH, true, &result));
        /* It would fit but for what is pinned by now. */
        map(fix, "other", 0, BATCH, true);
        before = image_of(fix);
        assert_refused(fix, &before, try_map(fix, "s", 1000, 21, true, &result));
        assert_refused(fix, &before, try_map(fix, "s", 1000, BATCH + 10, true, &result));
        map(fix, "s", 1000, 20, true);
        assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("s"), NULL, &fix->err));
        assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("other"), NULL, &fix->err));
    }
}

static void a_table_of_several_batches_that_fits_sends_others_away(void **state)
{
    struct fixture *fix = *state;

    for (unsigned i = 0; i < 2; i++) {
        set_capacity(fix, 3 * BATCH, tiers[i]);
        map(fix, "other", 0, 2 * BATCH, false);
        struct vcm_mapping_result result = map(fix, "s", 1000, 3 * BATCH - 1, true);
        assert_int_equal(result.pages_created, 3 * BATCH - 1);
        struct image after = image_of(fix);
        assert_int_equal(after.totals.pinned, 3 * BATCH - 1);
        assert_true(after.totals.resident >= 3 * BATCH - 1);
        assert_true(after.totals.resident <= 3 * BATCH);
        store_check(fix->disk.path, true);
        assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("s"), NULL, &fix->err));
        assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("other"), NULL, &fix->err));
    }
}

static void a_page_that_is_there_twice_is_counted_once(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope = {.scope_id = text("s")};
    struct vcm_mapping_result result;

    set_capacity(fix, 3, VCM_GIB);
    map(fix, "other", 0, 3, false);
    struct vcm_mapping *mapping = begin_pinned(fix, "s", true);
    char *content = malloc(PAGE_BYTES + 1);
    assert_non_null(content);
    content[PAGE_BYTES] = '\0';
    for (unsigned i = 0; i < 3 * BATCH; i++) {
        memset(content, 'a' + (int)(i % 3), PAGE_BYTES);
        assert_ok(fix, add_page(mapping, &scope, content, &fix->err));
    }
    free(content);
    assert_ok(fix, vcm_mapping_commit(mapping, &scope, &result, &fix->err));
    assert_int_equal(image_of(fix).totals.pinned, 3);
    assert_int_equal(image_of(fix).totals.pages, 6);
}

static void a_pinned_scope_is_mapped_anew_in_the_room_of_its_former_table(void **state)
{
    struct fixture *fix = *state;
    struct vcm_mapping_result result;

    set_capacity(fix, 3 * BATCH, VCM_GIB);
    map(fix, "other", 0, 10, false);
    map(fix, "s", 1000, 3 * BATCH - 5, true);
    struct image before = image_of(fix);
    assert_refused(fix, &before, try_map(fix, "s", 1000, 3 * BATCH + 1, true, &result));
    assert_refused(fix, &before, try_map(fix, "s", 5000, 3 * BATCH + 1, true, &result));
    /* An edit of a few pages, and one of all. */
    result = map(fix, "s", 1010, 3 * BATCH - 5, true);
    assert_int_equal(result.pages_created, 10);
    assert_int_equal(result.pages_dropped, 10);
    store_check(fix->disk.path, true);
    result = map(fix, "s", 5000, 3 * BATCH, true);
    assert_int_equal(result.pages_created, 3 * BATCH);
    assert_int_equal(result.pages_dropped, 3 * BATCH - 5);
    struct image after = image_of(fix);
    assert_int_equal(after.totals.pinned, 3 * BATCH);
    assert_int_equal(after.totals.pages, 3 * BATCH + 10);
    store_check(fix->disk.path, true);
}

static void what_others_pin_or_lock_is_not_room_of_the_former_table(void **state)
{
    struct fixture *fix = *state;
    struct vcm_mapping_result result;

    set_capacity(fix, 20, VCM_GIB);
    map(fix, "s", 0, 20, true);
    map(fix, "sharer", 0, 5, true);
    struct image before = image_of(fix);
    assert_refused(fix, &before, try_map(fix, "s", 100, 16, true, &result));
    map(fix, "s", 100, 15, true);
    assert_int_equal(image_of(fix).totals.pinned, 20);
    /* Held by one who does not pin it, but locked. */
    map(fix, "sharer", 100, 1, false);
    struct vcm_page_id locked;
    struct vcm_kv_txn *txn = read_begin(fix);
    struct vcm_page_row row;
    struct vcm_scope sharer;
    assert_ok(fix, vcm_page_store_scope(&sharer, txn, text("sharer"), &fix->err));
    assert_ok(fix, vcm_page_table_row(&row, txn, sharer.mapping, 0, &fix->err));
    locked = row.id;
    vcm_scope_release(&sharer);
    vcm_kv_handle_read_end(txn);
    assert_ok(fix,
              vcm_lock_take(fix->store,
                            &(struct vcm_lock_request){.ids = &locked,
                                                       .count = 1,
                                                       .owner = "o",
                                                       .reason = "",
                                                       .ttl_ms = VCM_LIMIT_LOCK_TTL_MS,
                                                       .timeout_ms = VCM_LIMIT_LOCK_TIMEOUT_MS},
                            NULL, &fix->err));
    before = image_of(fix);
    assert_refused(fix, &before, try_map(fix, "s", 200, 20, true, &result));
    map(fix, "s", 200, 19, true);
    store_check(fix->disk.path, true);
}

static void pinning_a_scope_or_a_page_that_does_not_fit_sends_nobody_away(void **state)
{
    struct fixture *fix = *state;

    for (unsigned i = 0; i < 2; i++) {
        set_capacity(fix, BATCH, tiers[i]);
        map(fix, "s", 1000, 2 * BATCH, false);
        map(fix, "other", 0, 10, false);
        struct image before = image_of(fix);
        assert_refused(fix, &before,
                       vcm_mapping_pin_set(fix->store, text("s"), true, NULL, &fix->err));
        assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("s"), NULL, &fix->err));
        map(fix, "s", 1000, BATCH, true);
        before = image_of(fix);
        struct vcm_page_id id;
        struct vcm_kv_txn *txn = read_begin(fix);
        struct vcm_scope other;
        struct vcm_page_row row;
        assert_ok(fix, vcm_page_store_scope(&other, txn, text("other"), &fix->err));
        assert_ok(fix, vcm_page_table_row(&row, txn, other.mapping, 0, &fix->err));
        id = row.id;
        vcm_scope_release(&other);
        vcm_kv_handle_read_end(txn);
        bool changed;
        char *frame = calloc(1, PAGE_BYTES);
        assert_non_null(frame);
        assert_refused(fix, &before,
                       vcm_pin_page(&changed, fix->store, &id, vcm_slice_of(frame, PAGE_BYTES),
                                    true, NULL, &fix->err));
        free(frame);
        assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("s"), NULL, &fix->err));
        assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("other"), NULL, &fix->err));
    }
}

static void a_capacity_below_what_is_pinned_sends_nobody_away(void **state)
{
    struct fixture *fix = *state;

    set_capacity(fix, 10 * BATCH, VCM_GIB);
    map(fix, "s", 1000, 10, true);
    map(fix, "other", 0, 3 * BATCH, false);
    struct image before = image_of(fix);
    set_capacity(fix, 9, VCM_GIB);
    assert_refused(fix, &before, vcm_relimit_shrink(fix->store, NULL, &fix->err));
    set_capacity(fix, 10, VCM_GIB);
    assert_ok(fix, vcm_relimit_shrink(fix->store, NULL, &fix->err));
    assert_int_equal(image_of(fix).totals.resident, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_table_of_several_batches_that_does_not_fit_sends_nobody_away),
        STORE_TEST(a_table_of_several_batches_that_fits_sends_others_away),
        STORE_TEST(a_page_that_is_there_twice_is_counted_once),
        STORE_TEST(a_pinned_scope_is_mapped_anew_in_the_room_of_its_former_table),
        STORE_TEST(what_others_pin_or_lock_is_not_room_of_the_former_table),
        STORE_TEST(a_capacity_below_what_is_pinned_sends_nobody_away),
        STORE_TEST(pinning_a_scope_or_a_page_that_does_not_fit_sends_nobody_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
