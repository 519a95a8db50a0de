#include "base/hash.h"
#include "store_fixture.h"
#include "vcm/mapping/mapping_paths.h"

#include "base/banned.h"

#define PAGE_COUNT   80u
#define PAGE_RECORDS 100u
#define PATH_BYTES   1000

static const char *path_of(char out[PATH_BYTES + 1], unsigned page, unsigned record)
{
    snprintf(out, PATH_BYTES + 1, "%0*u/%u", PATH_BYTES - 20, page, record);
    return out;
}

static void add_paths(struct fixture *fix, struct vcm_mapping *mapping, struct vcm_scope *scope,
                      const char *const *paths, unsigned count)
{
    struct vcm_page_record records[PAGE_RECORDS] = {0};
    struct vcm_page_built page = {.records = records, .record_count = count};
    struct vcm_buf frame = VCM_BUF_INIT(4 * VCM_MIB);

    for (unsigned i = 0; i < count; i++) {
        size_t before = frame.len;
        records[i] = (struct vcm_page_record){
            .path = text(paths[i]), .content_id = vcm_slice_of("\1\2\3", 3), .part = 1, .parts = 1};
        vcm_page_serialise(&frame, records[i].path, text("x"));
        records[i].bytes = (uint32_t)(frame.len - before);
        records[i].tokens = (records[i].bytes + 3) / 4;
        vcm_buf_append_byte(&frame, '\n');
        page.tokens += records[i].tokens;
    }
    page.frame = vcm_buf_slice(&frame);
    vcm_page_id_of(&page.id, page.frame);
    assert_ok(fix, vcm_mapping_add_page(mapping, &page, &fix->err));
    scope->pages++;
    scope->records += count;
    scope->tokens += page.tokens;
    scope->bytes += frame.len;
    vcm_buf_release(&frame);
}

static void add_page_of_paths(struct fixture *fix, struct vcm_mapping *mapping,
                              struct vcm_scope *scope, unsigned number)
{
    static char texts[PAGE_RECORDS][PATH_BYTES + 1];
    const char *paths[PAGE_RECORDS];

    for (unsigned i = 0; i < PAGE_RECORDS; i++)
        paths[i] = path_of(texts[i], number, i);
    add_paths(fix, mapping, scope, paths, PAGE_RECORDS);
}

static int take_seq(void *context, uint32_t seq, struct vcm_error *err)
{
    (void)err;
    *(uint32_t *)context = *(uint32_t *)context == UINT32_MAX ? seq : UINT32_MAX - 1;
    return VCM_OK;
}

static void a_table_of_more_paths_than_are_kept_has_each_of_them_once(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope = {.scope_id = text("s")};
    struct vcm_mapping_result result;
    char path[PATH_BYTES + 1];

    assert_true((size_t)PAGE_COUNT * PAGE_RECORDS * (PATH_BYTES - 20) > VCM_MAPPING_PATHS_BYTES);
    struct vcm_mapping *mapping = begin(fix, "s");
    for (unsigned i = 0; i < PAGE_COUNT; i++)
        add_page_of_paths(fix, mapping, &scope, i);
    assert_ok(fix, vcm_mapping_commit(mapping, &scope, &result, &fix->err));
    assert_int_equal(result.pages_created, PAGE_COUNT);

    struct vcm_kv_txn *txn = read_begin(fix);
    for (unsigned i = 0; i < PAGE_COUNT * PAGE_RECORDS; i++) {
        uint32_t seq = UINT32_MAX;
        path_of(path, i / PAGE_RECORDS, i % PAGE_RECORDS);
        assert_ok(fix, vcm_page_table_each_path(txn, scope.mapping, text(path), take_seq, &seq,
                                                &fix->err));
        assert_int_equal(seq, i / PAGE_RECORDS);
    }
    vcm_kv_handle_read_end(txn);
}

static void assert_found_in_row(struct fixture *fix, const struct vcm_scope *scope,
                                const char *path, uint32_t row)
{
    struct vcm_kv_txn *txn = read_begin(fix);
    uint32_t seq = UINT32_MAX;

    assert_ok(fix,
              vcm_page_table_each_path(txn, scope->mapping, text(path), take_seq, &seq, &fix->err));
    assert_int_equal(seq, row);
    vcm_kv_handle_read_end(txn);
}

/* The last two have one hash. What a source reports is not trusted to be free of such paths, or of
 * paths that it reports twice; the fixture ends with a check of the store. */
static void paths_that_share_a_hash_or_come_twice_are_found(void **state)
{
    static const char *const paths[] = {"a", "b", "a", "42ce2ebd41236c39", "7c7297ec11ae85c0", "b"};
    const unsigned count = sizeof paths / sizeof paths[0];
    struct fixture *fix = *state;
    struct vcm_scope scope = {.scope_id = text("s")};
    struct vcm_mapping_result result;

    assert_int_equal(vcm_hash_checksum(text(paths[3]), 0), vcm_hash_checksum(text(paths[4]), 0));
    struct vcm_mapping *mapping = begin(fix, "s");
    add_paths(fix, mapping, &scope, paths, count);
    add_paths(fix, mapping, &scope, (const char *const[]){"x", "y"}, 2);
    assert_ok(fix, vcm_mapping_commit(mapping, &scope, &result, &fix->err));
    for (unsigned i = 0; i < count; i++)
        assert_found_in_row(fix, &scope, paths[i], 0);
    assert_found_in_row(fix, &scope, "x", 1);
    assert_found_in_row(fix, &scope, "42ce2ebd41236c3", UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_table_of_more_paths_than_are_kept_has_each_of_them_once),
        STORE_TEST(paths_that_share_a_hash_or_come_twice_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
