/* A store of format 1, written here byte for byte, becomes one of this format. */
#include <unistd.h>

#include "store_fixture.h"
#include "vcm/page_cache.h"
#include "vcm/tables.h"

#include "base/banned.h"

static const char *const old_tables[] = {"meta",  "scopes", "mappings",  "rows", "holders",
                                         "pages", "frames", "omissions", NULL};

static int put(struct vcm_kv_txn *txn, unsigned table, struct vcm_slice key, struct vcm_buf *value,
               struct vcm_error *err)
{
    int rc = vcm_buf_check(value, "a value", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, table, key, vcm_buf_slice(value), err);
    vcm_buf_clear(value);
    return rc;
}

/* Page, frame, holder and row of one page in a mapping. */
static int write_page(struct vcm_kv_txn *txn, struct vcm_scope *scope, uint64_t mapping,
                      uint32_t seq, const char *content, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(VCM_MIB), frame = VCM_BUF_INIT(VCM_MIB);
    struct vcm_page_record record = {
        .path = text("file"), .content_id = vcm_slice_of("\1\2\3", 3), .part = 1, .parts = 1};
    unsigned char row_key[VCM_ROW_KEY_BYTES], holder_key[VCM_HOLDER_KEY_BYTES];
    struct vcm_page_id id;

    vcm_page_serialise(&frame, text("file"), text(content));
    record.bytes = (uint32_t)frame.len;
    record.tokens = (uint32_t)(frame.len + 3) / 4;
    vcm_buf_append_byte(&frame, '\n');
    vcm_page_id_of(&id, vcm_buf_slice(&frame));
    vcm_wire_put_u8(&value, 0);
    vcm_wire_put_u64(&value, frame.len);
    vcm_wire_put_u32(&value, record.tokens);
    vcm_wire_put_u32(&value, 1);
    int rc = put(txn, VCM_TABLE_PAGES, vcm_table_id_key(&id), &value, err);
    scope->pages++;
    scope->records++;
    scope->tokens += record.tokens;
    scope->bytes += frame.len;
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_FRAMES, vcm_table_id_key(&id), &frame, err);
    vcm_wire_put_u32(&value, 1);
    vcm_wire_put_u32(&value, seq);
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_HOLDERS, vcm_table_holder_key(holder_key, &id, mapping), &value,
                 err);
    vcm_buf_append(&value, id.bytes, sizeof id.bytes);
    vcm_page_put_records(&value, &record, 1);
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_ROWS, vcm_table_row_key(row_key, mapping, seq), &value, err);
    vcm_buf_release(&frame);
    vcm_buf_release(&value);
    return rc;
}

static int write_scope(struct vcm_kv_txn *txn, const char *scope_id, uint64_t mapping, bool pinned,
                       const char *const *contents, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(VCM_MIB);
    struct vcm_scope scope = {.scope_id = text(scope_id), .mapping = mapping, .pinned = pinned};
    unsigned char key[8];
    int rc = VCM_OK;

    for (uint32_t i = 0; rc == VCM_OK && contents[i]; i++)
        rc = write_page(txn, &scope, mapping, i, contents[i], err);
    vcm_scope_put(&value, &scope);
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_SCOPES, text(scope_id), &value, err);
    vcm_wire_store_be64(key, mapping);
    vcm_wire_put_u8(&value, VCM_MAPPING_IN_FORCE);
    vcm_wire_put_bytes(&value, text(scope_id));
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_MAPPINGS, vcm_slice_of(key, sizeof key), &value, err);
    vcm_buf_release(&value);
    return rc;
}

static char *large_content(void)
{
    char *content = calloc(1, 6001);

    assert_non_null(content);
    memset(content, 'x', 6000);
    return content;
}

/* Two scopes that share a page, one of them pinned; short frames and a long one. */
static int write_old_store(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(VCM_MIB);
    char *large = context;

    int rc = write_scope(txn, "a", 1, false, PAGES("one", "two", large), err);
    if (rc == VCM_OK)
        rc = write_scope(txn, "b", 2, true, PAGES("two", "three"), err);
    vcm_wire_put_u32(&value, 1);
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_META, text(VCM_META_FORMAT), &value, err);
    vcm_buf_append_string(&value, "approx4");
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_META, text(VCM_META_TOKENIZER), &value, err);
    vcm_wire_put_u64(&value, 3);
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_META, text(VCM_META_NEXT_MAPPING), &value, err);
    for (unsigned i = 0; i < 3; i++)
        vcm_wire_put_u64(&value, i);
    if (rc == VCM_OK)
        rc = put(txn, VCM_TABLE_META, text(VCM_META_TOTALS), &value, err);
    vcm_buf_release(&value);
    return rc;
}

static void make_old_store(struct fixture *fix)
{
    char lock[512], *large = large_content(), *data = test_repo_path(&fix->disk, "data.mdb");
    struct vcm_kv *kv;

    close_store(fix);
    assert_int_equal(unlink(data), 0);
    snprintf(lock, sizeof lock, "%s/writer.lock", fix->disk.path);
    assert_ok(fix,
              vcm_kv_open(&kv,
                          &(struct vcm_kv_options){
                              .directory = fix->disk.path, .lock_path = lock, .tables = old_tables},
                          &fix->err));
    assert_ok(fix, vcm_kv_update(kv, write_old_store, large, 1000, NULL, &fix->err));
    vcm_kv_close(kv);
    free(data);
    free(large);
}

static void a_store_of_format_1_is_converted_by_its_first_writer(void **state)
{
    struct fixture *fix = *state;
    char *large = large_content();

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
    vcm_kv_read_end(txn);
    close_store(fix);
    fix->options.read_only = true;
    open_store(fix);
    free(large);
}

static void a_converted_store_is_one_like_any_other(void **state)
{
    struct fixture *fix = *state;

    make_old_store(fix);
    open_store(fix);
    struct vcm_page_store_limits limits = {.capacity = 300, .compressed_capacity = VCM_GIB};
    vcm_page_store_set_limits(fix->store, &limits);
    assert_ok(fix, vcm_page_cache_shrink(fix->store, NULL, &fix->err));
    assert_true(counts_of(fix).totals.resident_bytes <= 300);
    assert_ok(fix, vcm_mapping_set_pinned(fix->store, text("b"), false, NULL, &fix->err));
    assert_ok(fix, vcm_mapping_remove(fix->store, text("a"), NULL, &fix->err));
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
