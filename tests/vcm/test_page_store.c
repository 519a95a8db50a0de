#include "store_fixture.h"
#include "vcm/store/table.h"

#include "base/banned.h"

static int append_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    (void)err;
    vcm_buf_append_slice(context, scope->scope_id);
    vcm_buf_append_byte(context, ' ');
    return VCM_OK;
}

static void assert_scopes(struct fixture *fix, const char *prefix, const char *expected)
{
    struct vcm_buf seen = VCM_BUF_INIT(4096);
    struct vcm_kv_txn *txn = read_begin(fix);

    assert_ok(fix, vcm_page_store_each_scope(txn, text(prefix), append_scope, &seen, &fix->err));
    assert_string_equal(vcm_buf_text(&seen), expected);
    vcm_kv_handle_read_end(txn);
    vcm_buf_release(&seen);
}

static void scopes_come_in_the_order_of_their_ids(void **state)
{
    struct fixture *fix = *state;

    map_pages(fix, "b", PAGES("1"));
    map_pages(fix, "a:z", PAGES("2"));
    map_pages(fix, "a", PAGES("3"));
    map_pages(fix, "Z", PAGES("4"));
    map_pages(fix, "a:b", PAGES("5"));
    assert_scopes(fix, "", "Z a a:b a:z b ");
    assert_scopes(fix, "a", "a a:b a:z ");
    assert_scopes(fix, "a:", "a:b a:z ");
    assert_scopes(fix, "c", "");
}

static void what_a_scope_says_of_itself_comes_back(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope in = {
        .scope_id = text("tool-1a2b3c4d"),
        .row_name = text("default"),
        .source_type = text("git_repo"),
        .repo_root = text("/home/me/tool"),
        .origin = text("https://example.org/tool"),
        .origin_url = text("https://example.org/tool"),
        .branch = text("main"),
        .commit = text("0123456789abcdef0123456789abcdef01234567"),
        .fingerprint = {1, 2, 3, [31] = 255},
        .flush_threshold = 20,
        .flush_token_budget = 4096,
        .pinned = true,
        .mapped_at = 1700000000,
    };
    struct vcm_mapping *mapping = begin_pinned(fix, "tool-1a2b3c4d", true);
    struct vcm_mapping_result result;
    struct vcm_scope out;

    assert_ok(fix, add_page(mapping, &in, "one", &fix->err));
    in.coverage.tracked = in.coverage.by_outcome[VCM_SOURCE_PAGED] = 1;
    assert_ok(fix, add_omission(mapping, &in, "bin", VCM_SOURCE_BINARY, NULL, &fix->err));
    assert_ok(fix, vcm_mapping_commit(mapping, &in, &result, &fix->err));

    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix, vcm_page_store_scope(&out, txn, in.scope_id, &fix->err));
    vcm_kv_handle_read_end(txn);
    assert_true(vcm_slice_equal(out.row_name, in.row_name));
    assert_true(vcm_slice_equal(out.source_type, in.source_type));
    assert_true(vcm_slice_equal(out.repo_root, in.repo_root));
    assert_true(vcm_slice_equal(out.origin, in.origin));
    assert_true(vcm_slice_equal(out.origin_url, in.origin_url));
    assert_true(vcm_slice_equal(out.branch, in.branch));
    assert_true(vcm_slice_equal(out.commit, in.commit));
    assert_memory_equal(out.fingerprint, in.fingerprint, sizeof in.fingerprint);
    assert_int_equal(out.flush_threshold, 20);
    assert_int_equal(out.flush_token_budget, 4096);
    assert_true(out.pinned);
    assert_int_equal(out.mapped_at, 1700000000);
    assert_int_equal(out.pages, 1);
    assert_int_equal(out.coverage.tracked, 2);
    vcm_scope_release(&out);
}

static void every_truncation_of_a_scope_is_corrupt(void **state)
{
    struct vcm_buf value = VCM_BUF_INIT(4096);
    struct vcm_scope scope = {.scope_id = text("s"), .commit = text("c"), .mapping = 9}, out;

    (void)state;
    vcm_scope_put(&value, &scope);
    for (size_t len = 0; len < value.len; len++) {
        struct vcm_error err = {0};
        assert_int_equal(vcm_scope_get(&out, vcm_slice_of(value.data, len), &err),
                         VCM_STORE_CORRUPT);
        assert_null(out.memory);
    }
    vcm_buf_release(&value);
}

static void rows_are_read_from_any_place_on(void **state)
{
    struct fixture *fix = *state;
    struct vcm_buf seen = VCM_BUF_INIT(4096);
    struct vcm_page_row row;
    struct vcm_scope scope;

    map_pages(fix, "a", PAGES("1", "2", "3"));
    map_pages(fix, "b", PAGES("4"));
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix, vcm_page_store_scope(&scope, txn, text("a"), &fix->err));
    assert_ok(fix, vcm_page_table_each_row(txn, scope.mapping, 2, append_row, &seen, &fix->err));
    assert_int_equal(strncmp(vcm_buf_text(&seen), "2:", 2), 0);
    assert_int_equal(seen.len, strlen("2:0123456789ab "));
    assert_ok(fix, vcm_page_table_row(&row, txn, scope.mapping, 1, &fix->err));
    struct vcm_page_id second = id_of("2");
    assert_memory_equal(&row.id, &second, sizeof second);
    assert_int_equal(vcm_page_table_row(&row, txn, scope.mapping, 3, &fix->err), VCM_NOT_FOUND);
    assert_int_equal(fix->err.code, VCM_OK);
    vcm_kv_handle_read_end(txn);
    vcm_scope_release(&scope);
    vcm_buf_release(&seen);
}

static int append_holder(void *context, const struct vcm_page_holder *holder, struct vcm_error *err)
{
    (void)err;
    vcm_buf_append_format(context, "%.*s x%u at %u, ", (int)holder->scope_id.len,
                          holder->scope_id.data, holder->occurrences, holder->first_seq);
    return VCM_OK;
}

static void a_page_knows_who_holds_it_and_how_often(void **state)
{
    struct fixture *fix = *state;
    struct vcm_buf seen = VCM_BUF_INIT(4096);
    struct vcm_page_id shared = id_of("shared"), absent = id_of("absent");
    uint32_t seq = 9;

    map_pages(fix, "a", PAGES("x", "shared", "y", "shared"));
    map_pages(fix, "b", PAGES("shared"));
    struct vcm_mapping *building = begin(fix, "c");
    struct vcm_scope scope = {.scope_id = text("c")};
    assert_ok(fix, add_page(building, &scope, "shared", &fix->err));

    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix, vcm_page_table_each_holder(txn, &shared, append_holder, &seen, &fix->err));
    assert_string_equal(vcm_buf_text(&seen), "a x2 at 1, b x1 at 0, ");
    vcm_buf_clear(&seen);
    assert_ok(fix, vcm_page_table_each_holder(txn, &absent, append_holder, &seen, &fix->err));
    assert_int_equal(seen.len, 0);
    assert_int_equal(vcm_page_table_first_seq(&seq, txn, &absent, 1, &fix->err), VCM_NOT_FOUND);
    assert_int_equal(fix->err.code, VCM_OK);
    vcm_kv_handle_read_end(txn);
    vcm_buf_release(&seen);
    vcm_mapping_abort(building);
}

static int append_omission(void *context, const struct vcm_page_omission *omission,
                           struct vcm_error *err)
{
    (void)err;
    vcm_buf_append_format(context, "%.*s %s %.*s, ", (int)omission->path.len, omission->path.data,
                          vcm_outcome_name(omission->outcome), (int)omission->reason.len,
                          omission->reason.data);
    return VCM_OK;
}

static void omissions_come_back_in_order(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope = {.scope_id = text("a")};
    struct vcm_buf seen = VCM_BUF_INIT(4096);
    struct vcm_mapping *mapping = begin(fix, "a");
    struct vcm_mapping_result result;

    assert_ok(fix,
              add_omission(mapping, &scope, "z", VCM_SOURCE_FAILED, "object_missing", &fix->err));
    assert_ok(fix, add_page(mapping, &scope, "1", &fix->err));
    assert_ok(fix, add_omission(mapping, &scope, "a", VCM_SOURCE_SYMLINK, NULL, &fix->err));
    assert_ok(fix, vcm_mapping_commit(mapping, &scope, &result, &fix->err));
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix,
              vcm_page_table_each_omission(txn, scope.mapping, append_omission, &seen, &fix->err));
    assert_string_equal(vcm_buf_text(&seen), "z failed object_missing, a symlink , ");
    vcm_kv_handle_read_end(txn);
    vcm_buf_release(&seen);
}

static void pages_are_found_by_any_prefix(void **state)
{
    struct fixture *fix = *state;
    char content[4000][8];
    const char *list[4001] = {NULL};
    struct vcm_page_id found[8], wanted;
    char hex[VCM_PAGE_ID_HEX + 1];
    unsigned count, expected = 0;

    for (unsigned i = 0; i < 4000; i++) {
        snprintf(content[i], sizeof content[i], "%u", i);
        list[i] = content[i];
    }
    map_pages(fix, "a", list);
    wanted = id_of("1234");
    vcm_page_id_to_hex(hex, &wanted);
    for (unsigned i = 0; i < 4000; i++) {
        struct vcm_page_id other = id_of(content[i]);
        expected +=
            other.bytes[0] == wanted.bytes[0] && other.bytes[1] >> 4 == wanted.bytes[1] >> 4;
    }
    struct vcm_kv_txn *txn = read_begin(fix);
    for (size_t len = VCM_PAGE_ID_HEX; len >= 8; len--) {
        hex[len] = '\0';
        assert_ok(fix, vcm_page_store_find_pages(found, &count, 8, txn, hex, &fix->err));
        assert_int_equal(count, 1);
        assert_memory_equal(&found[0], &wanted, sizeof wanted);
    }
    hex[3] = '\0';
    assert_ok(fix, vcm_page_store_find_pages(found, &count, 8, txn, hex, &fix->err));
    assert_int_equal(count, expected < 8 ? expected : 8);
    hex[1] = '\0';
    assert_ok(fix, vcm_page_store_find_pages(found, &count, 8, txn, hex, &fix->err));
    assert_int_equal(count, 8);
    assert_ok(fix, vcm_page_store_find_pages(found, &count, 8, txn, "xyz", &fix->err));
    assert_int_equal(count, 0);
    assert_ok(fix, vcm_page_store_find_pages(found, &count, 8, txn, "", &fix->err));
    assert_int_equal(count, 0);
    vcm_kv_handle_read_end(txn);
}

static int stop(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    unsigned *calls = context;

    (void)scope;
    ++*calls;
    return *calls < 10   ? VCM_STOP
           : *calls < 20 ? VCM_NOT_FOUND
                         : vcm_error_set(err, VCM_STORE_BUSY, "later");
}

static void a_visitor_may_say_enough_or_fail(void **state)
{
    struct fixture *fix = *state;
    unsigned calls = 0;

    map_pages(fix, "a", PAGES("1"));
    map_pages(fix, "b", PAGES("1"));
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_int_equal(vcm_page_store_each_scope(txn, text(""), stop, &calls, &fix->err), VCM_OK);
    assert_int_equal(calls, 1);
    calls = 10;
    assert_int_equal(vcm_page_store_each_scope(txn, text(""), stop, &calls, &fix->err),
                     VCM_NOT_FOUND);
    assert_int_equal(vcm_page_store_each_scope(txn, text(""), stop, &calls, NULL), VCM_NOT_FOUND);
    assert_int_equal(calls, 12);
    calls = 20;
    assert_int_equal(vcm_page_store_each_scope(txn, text(""), stop, &calls, &fix->err),
                     VCM_STORE_BUSY);
    vcm_kv_handle_read_end(txn);
}

static void a_store_that_is_not_there_is_not_found_by_a_reader(void **state)
{
    struct fixture *fix = *state;
    struct test_repo empty;
    struct vcm_page_store *store;

    test_repo_init_directory(&empty);
    assert_int_equal(vcm_page_store_open(&store,
                                         &(struct vcm_page_store_options){.directory = empty.path,
                                                                          .read_only = true},
                                         &fix->err),
                     VCM_NOT_FOUND);
    assert_null(store);
    test_repo_release(&empty);
}

static int write_other_format(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    (void)context;
    return vcm_kv_put(txn, VCM_TABLE_META, text(VCM_META_FORMAT), vcm_slice_of("\4\0\0\0", 4), err);
}

static int write_own_format(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    (void)context;
    return vcm_kv_put(txn, VCM_TABLE_META, text(VCM_META_FORMAT), vcm_slice_of("\3\0\0\0", 4), err);
}

static void a_newer_format_is_refused(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_store *store;

    assert_ok(
        fix, vcm_kv_handle_update(fix->store->kv, write_other_format, NULL, 1000, NULL, &fix->err));
    for (unsigned read_only = 0; read_only < 2; read_only++) {
        fix->options.read_only = read_only;
        vcm_error_reset(&fix->err);
        assert_int_equal(vcm_page_store_open(&store, &fix->options, &fix->err), VCM_UNSUPPORTED);
        assert_null(store);
        assert_non_null(strstr(fix->err.message, "format 4"));
    }
    vcm_error_reset(&fix->err);
    assert_ok(fix,
              vcm_kv_handle_update(fix->store->kv, write_own_format, NULL, 1000, NULL, &fix->err));
}

static int lose_frame(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    return vcm_kv_delete(txn, VCM_TABLE_FRAMES, vcm_table_id_key(context), err);
}

static int put_frame(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    return vcm_table_put_frame(txn, context, text("{\"path\":\"file\",\"text\":\"1\"}\n"), err);
}

static void a_page_without_its_bytes_is_corrupt(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_id id = id_of("1");
    struct vcm_slice frame;

    map_pages(fix, "a", PAGES("1"));
    assert_ok(fix, vcm_kv_handle_update(fix->store->kv, lose_frame, &id, 1000, NULL, &fix->err));
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_int_equal(vcm_page_store_frame(&frame, txn, &id, &fix->err), VCM_STORE_CORRUPT);
    vcm_kv_handle_read_end(txn);
    vcm_error_reset(&fix->err);
    assert_ok(fix, vcm_kv_handle_update(fix->store->kv, put_frame, &id, 1000, NULL, &fix->err));
}

static void assert_value(struct fixture *fix, struct vcm_kv_txn *txn, enum vcm_table table,
                         struct vcm_slice key, const char *expected, size_t len)
{
    struct vcm_slice value;

    assert_ok(fix, vcm_kv_get(&value, txn, table, key, &fix->err));
    assert_int_equal(value.len, len);
    assert_memory_equal(value.data, expected, len);
}

#define BYTES(literal) (literal), sizeof(literal) - 1

/* Keys and values of a store with one page and one omission, as docs/FORMAT.md lays them out. */
static void the_tables_have_the_documented_bytes(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope = {.scope_id = text("sc")};
    struct vcm_mapping *mapping = begin(fix, "sc");
    struct vcm_mapping_result result;
    struct vcm_page_id id = id_of("1");
    static const char list[17] = {1, 0, 4, 'f', 'i', 'l', 'e', 3, 1, 2, 3, 7, 26, 0, 0, 1, 1};
    char row[20 + sizeof list], holder[20 + 8] = {0};
    static const char frame[2040] = "{\"path\":\"file\",\"text\":\"1\"}\n";
    unsigned char path_key[20] = {[7] = 1};
    struct vcm_slice key = vcm_slice_of("\0\0\0\0\0\0\0\1\0\0\0\0", 12);

    assert_ok(fix, add_page(mapping, &scope, "1", &fix->err));
    assert_ok(fix, add_omission(mapping, &scope, "x", VCM_SOURCE_FAILED, "why", &fix->err));
    assert_ok(fix, vcm_mapping_commit(mapping, &scope, &result, &fix->err));
    memcpy(row, id.bytes, 20);
    memcpy(row + 20, list, sizeof list);
    memcpy(holder, id.bytes, 20);
    holder[27] = 1;
    vcm_wire_store_be64(path_key + 8, vcm_hash_checksum(text("file"), 0));

    struct vcm_kv_txn *txn = read_begin(fix);
    assert_value(fix, txn, VCM_TABLE_META, text("format"), BYTES("\3\0\0\0"));
    assert_value(fix, txn, VCM_TABLE_META, text("tokenizer"), BYTES("approx4"));
    assert_value(fix, txn, VCM_TABLE_META, text("next_mapping"), BYTES("\2\0\0\0\0\0\0\0"));
    assert_value(fix, txn, VCM_TABLE_META, text("totals"),
                 BYTES("\1\0\0\0\0\0\0\0"
                       "\1\0\0\0\0\0\0\0"
                       "\0\0\0\0\0\0\0\0"
                       "\0\0\0\0\0\0\0\0"
                       "\x1b\0\0\0\0\0\0\0"
                       "\0\0\0\0\0\0\0\0"
                       "\0\0\0\0\0\0\0\0"
                       "\7\0\0\0\0\0\0\0"));
    assert_value(fix, txn, VCM_TABLE_MAPPINGS, vcm_slice_of(key.data, 8), BYTES("\1\0\2sc"));
    assert_value(fix, txn, VCM_TABLE_ROWS, key, row, sizeof row);
    assert_value(fix, txn, VCM_TABLE_HOLDERS, vcm_slice_of(holder, sizeof holder),
                 BYTES("\1\0\0\0\0\0\0\0"));
    assert_value(fix, txn, VCM_TABLE_PAGES, vcm_table_id_key(&id),
                 BYTES("\0\0\0\0\0\0"
                       "\x1b\0\0\0\0\0\0\0"
                       "\7\0\0\0"
                       "\1\0\0\0"
                       "\0\0\0\0\0\0\0\0"
                       "\0\0\0\0\0\0\0\0"));
    assert_value(fix, txn, VCM_TABLE_FRAMES, vcm_table_id_key(&id), frame, sizeof frame);
    assert_value(fix, txn, VCM_TABLE_PATHS, vcm_slice_of(path_key, sizeof path_key), BYTES("file"));
    assert_value(fix, txn, VCM_TABLE_OMISSIONS, key, BYTES("\6\1x\1x\3\1\2\3\3why"));
    vcm_kv_handle_read_end(txn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(scopes_come_in_the_order_of_their_ids),
        STORE_TEST(what_a_scope_says_of_itself_comes_back),
        cmocka_unit_test(every_truncation_of_a_scope_is_corrupt),
        STORE_TEST(rows_are_read_from_any_place_on),
        STORE_TEST(a_page_knows_who_holds_it_and_how_often),
        STORE_TEST(omissions_come_back_in_order),
        STORE_TEST(pages_are_found_by_any_prefix),
        STORE_TEST(a_visitor_may_say_enough_or_fail),
        STORE_TEST(a_store_that_is_not_there_is_not_found_by_a_reader),
        STORE_TEST(a_newer_format_is_refused),
        STORE_TEST(a_page_without_its_bytes_is_corrupt),
        STORE_TEST(the_tables_have_the_documented_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
