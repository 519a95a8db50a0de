/* The checker: breaks each invariant by hand, and expects to be told that one. */
#include "tests/vcm/store_fixture.h"

#include "vcm/check/check.h"
#include "vcm/store/table.h"

#include "base/banned.h"

#define NUMBER_OF_A UINT64_C(1) /* the first mapping */

struct found {
    char text[64 * 1024];
    unsigned count;
};

static int note(void *context, const struct vcm_check_finding *finding, struct vcm_error *err)
{
    struct found *found = context;
    size_t used = strlen(found->text);

    (void)err;
    found->count++;
    snprintf(found->text + used, sizeof found->text - used, "|%s (%s)%s\n", finding->what,
             finding->where, finding->is_damage ? "" : " no damage");
    return VCM_OK;
}

static void check(struct fixture *fix, struct found *found)
{
    const struct vcm_check_options options = {.finished = true, .found = note, .context = found};
    uint64_t pages;

    memset(found, 0, sizeof *found);
    assert_ok(fix, vcm_check_store(&pages, fix->store, &options, &fix->err));
}

/* One way to break a store. */
typedef int (*break_fn)(struct vcm_kv_txn *txn, struct vcm_error *err);

static int apply(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    return (*(break_fn *)context)(txn, err);
}

static int edit_page(struct vcm_kv_txn *txn, const char *content, struct vcm_page_info *info,
                     struct vcm_error *err)
{
    struct vcm_page_id id = id_of(content);

    return vcm_page_store_page(info, txn, &id, err);
}

static int other_bytes(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_page_id id = id_of("p");

    return vcm_table_put_frame(txn, &id, text("{\"path\":\"file\",\"text\":\"P\"}\n"), err);
}

static int no_bytes(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_page_id id = id_of("p");

    return vcm_kv_delete(txn, VCM_TABLE_FRAMES, vcm_table_id_key(&id), err);
}

static int stray_bytes(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_page_id id = id_of("nobody");

    return vcm_table_put_frame(txn, &id, text("x\n"), err);
}

static int other_count_of_records(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_page_info info;

    int rc = edit_page(txn, "p", &info, err);
    info.records++;
    return rc == VCM_OK ? vcm_page_store_put_page(txn, &info, err) : rc;
}

static int other_count_of_pins(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_page_info info;

    int rc = edit_page(txn, "p", &info, err);
    info.pins++;
    return rc == VCM_OK ? vcm_page_store_put_page(txn, &info, err) : rc;
}

static int other_totals(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_page_totals totals;

    int rc = vcm_page_store_totals(&totals, txn, err);
    totals.tokens++;
    return rc == VCM_OK ? vcm_page_store_put_totals(txn, &totals, err) : rc;
}

static int no_holder(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    unsigned char key[VCM_HOLDER_KEY_BYTES];
    struct vcm_page_id id = id_of("q");

    return vcm_kv_delete(txn, VCM_TABLE_HOLDERS, vcm_table_holder_key(key, &id, NUMBER_OF_A), err);
}

static int stray_holder(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    unsigned char key[VCM_HOLDER_KEY_BYTES];
    struct vcm_page_id mine = id_of("p"), other = id_of("r");
    struct vcm_slice value;

    int rc = vcm_kv_get(&value, txn, VCM_TABLE_HOLDERS,
                        vcm_table_holder_key(key, &mine, NUMBER_OF_A), err);
    if (rc != VCM_OK)
        return rc;
    char copy[64];
    assert_true(value.len <= sizeof copy);
    memcpy(copy, value.data, value.len);
    return vcm_kv_put(txn, VCM_TABLE_HOLDERS, vcm_table_holder_key(key, &other, NUMBER_OF_A),
                      vcm_slice_of(copy, value.len), err);
}

static int a_gap(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    unsigned char key[VCM_ROW_KEY_BYTES];

    return vcm_kv_delete(txn, VCM_TABLE_ROWS, vcm_table_row_key(key, NUMBER_OF_A, 1), err);
}

static int no_page(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_page_id id = id_of("q");

    return vcm_kv_delete(txn, VCM_TABLE_PAGES, vcm_table_id_key(&id), err);
}

static int no_mapping(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    unsigned char key[8];

    vcm_wire_store_be64(key, NUMBER_OF_A);
    return vcm_kv_delete(txn, VCM_TABLE_MAPPINGS, vcm_slice_of(key, sizeof key), err);
}

static int a_mapping_under_way(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    return vcm_page_table_put_mapping(
        txn, 2, &(struct vcm_mapping_info){.state = VCM_MAPPING_BUILDING, .scope_id = text("a")},
        err);
}

static int a_number_to_come(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    return vcm_page_table_put_mapping(
        txn, 99, &(struct vcm_mapping_info){.state = VCM_MAPPING_DROPPING, .scope_id = text("a")},
        err);
}

static int other_scope(struct vcm_kv_txn *txn, struct vcm_error *err, uint64_t pages,
                       uint64_t tracked)
{
    struct vcm_buf value = VCM_BUF_INIT(VCM_MIB);
    struct vcm_scope scope;

    int rc = vcm_page_store_scope(&scope, txn, text("a"), err);
    if (rc != VCM_OK)
        return rc;
    scope.pages += pages;
    scope.coverage.tracked += tracked;
    vcm_scope_put(&value, &scope);
    vcm_scope_release(&scope);
    rc = vcm_kv_put(txn, VCM_TABLE_SCOPES, text("a"), vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    return rc;
}

static int other_count_of_pages(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    return other_scope(txn, err, 1, 0);
}

static int other_coverage(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    return other_scope(txn, err, 0, 1);
}

static int lock_of(struct vcm_kv_txn *txn, const struct vcm_page_id *id, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(VCM_KIB);
    unsigned char key[VCM_PAGE_ID_BYTES + 16] = {0}, digest[VCM_HASH_SHA256_BYTES];

    vcm_hash_sha256_of(digest, text("o"));
    memcpy(key, id->bytes, sizeof id->bytes);
    memcpy(key + sizeof id->bytes, digest, 16);
    vcm_wire_put_string(&value, "o");
    vcm_wire_put_u64(&value, UINT64_MAX / 2);
    vcm_wire_put_string(&value, "");
    int rc =
        vcm_kv_put(txn, VCM_TABLE_LOCKS, vcm_slice_of(key, sizeof key), vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    return rc;
}

static int a_lock_of_nothing(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_page_id id = id_of("nothing");

    return lock_of(txn, &id, err);
}

static int a_lock_of_an_evicted_page(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_page_info info;

    int rc = edit_page(txn, "q", &info, err);
    info.state = VCM_PAGE_EVICTED;
    if (rc == VCM_OK)
        rc = vcm_kv_delete(txn, VCM_TABLE_FRAMES, vcm_table_id_key(&info.id), err);
    if (rc == VCM_OK)
        rc = vcm_page_store_put_page(txn, &info, err);
    return rc == VCM_OK ? lock_of(txn, &info.id, err) : rc;
}

static int stray_dictionary(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    unsigned char key[8];

    vcm_wire_store_be64(key, 99);
    return vcm_kv_put(txn, VCM_TABLE_DICTIONARY_BYTES, vcm_slice_of(key, sizeof key),
                      text("a dictionary"), err);
}

static int no_path(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    unsigned char key[VCM_PATH_KEY_BYTES];

    return vcm_kv_delete(txn, VCM_TABLE_PATHS,
                         vcm_page_table_path_key(key, NUMBER_OF_A, text("file"), 0), err);
}

static int stray_path(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    unsigned char key[VCM_PATH_KEY_BYTES];

    return vcm_kv_put(txn, VCM_TABLE_PATHS,
                      vcm_page_table_path_key(key, NUMBER_OF_A, text("other"), 0), text("other"),
                      err);
}

static int nothing(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    (void)txn;
    (void)err;
    return VCM_OK;
}

static const struct {
    break_fn how;
    const char *expected; /* NULL: nothing is wrong */
} ways[] = {
    {nothing, NULL},
    {other_bytes, "|S1"},
    {no_bytes, "|S2"},
    {stray_bytes, "|S2"},
    {other_count_of_records, "|S2"},
    {other_count_of_records, "|S6"},
    {no_page, "|S3"},
    {no_holder, "|S4"},
    {stray_holder, "|S4"},
    {no_holder, "|S5"},
    {no_mapping, "|S7"},
    {a_gap, "|S8"},
    {other_count_of_pages, "|S8"},
    {other_coverage, "|S9"},
    {other_totals, "|S10"},
    {a_number_to_come, "|S11"},
    {a_mapping_under_way, "|S12"},
    {other_count_of_pins, "|S15"},
    {a_lock_of_nothing, "|S16"},
    {a_lock_of_an_evicted_page, "|S16"},
    {no_path, "|S17"},
    {stray_path, "|S17"},
    {stray_dictionary, "|S18"},
};

static void whatever_is_broken_is_told_by_its_invariant(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct fixture *fix = NULL;
        struct found found;
        break_fn how = ways[i].how;
        fixture_setup((void **)&fix);
        map_pages(fix, "a", PAGES("p", "q", "p"));
        map_pages(fix, "b", PAGES("r", "p"));
        assert_ok(fix, vcm_kv_handle_update(fix->store->kv, apply, &how, 1000, NULL, &fix->err));
        check(fix, &found);
        if (ways[i].expected ? !strstr(found.text, ways[i].expected) : found.count > 0)
            fail_msg("way %zu: %s expected, and there is %s", i,
                     ways[i].expected ? ways[i].expected : "nothing", found.text);
        close_store(fix);
        test_repo_release(&fix->disk);
        free(fix);
    }
}

static int refuse(void *context, const struct vcm_check_finding *finding, struct vcm_error *err)
{
    (void)finding;
    ++*(unsigned *)context;
    return vcm_error_set(err, VCM_UNSUPPORTED, "enough");
}

static void who_is_told_can_end_it(void **state)
{
    struct fixture *fix = NULL;
    unsigned told = 0;
    uint64_t pages;
    break_fn how = no_page;
    const struct vcm_check_options options = {.found = refuse, .context = &told};

    (void)state;
    fixture_setup((void **)&fix);
    map_pages(fix, "a", PAGES("p", "q", "p"));
    assert_ok(fix, vcm_kv_handle_update(fix->store->kv, apply, &how, 1000, NULL, &fix->err));
    assert_int_equal(vcm_check_store(&pages, fix->store, &options, &fix->err), VCM_UNSUPPORTED);
    assert_string_equal(fix->err.message, "enough");
    assert_int_equal(told, 1);
    close_store(fix);
    test_repo_release(&fix->disk);
    free(fix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_is_broken_is_told_by_its_invariant),
        cmocka_unit_test(who_is_told_can_end_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
