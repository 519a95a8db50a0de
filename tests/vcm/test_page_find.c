#include "store_fixture.h"
#include "vcm/store/page_find.h"

#include "base/banned.h"

struct found {
    struct vcm_buf text;
    unsigned stop_after;
    unsigned count;
};

static int append_found(void *context, const struct vcm_page_found *found, struct vcm_error *err)
{
    struct found *all = context;

    (void)err;
    vcm_buf_append_format(&all->text, "%u.%u:%.*s ", found->seq, found->index,
                          (int)found->record->path.len, found->record->path.data);
    return ++all->count == all->stop_after ? VCM_STOP : VCM_OK;
}

/* Maps one page of two records for each pair of paths. */
static uint64_t map_paths(struct fixture *fix, const char *const paths[][2], unsigned count)
{
    struct vcm_scope scope = {.scope_id = text("sample")};
    struct vcm_mapping *mapping = begin(fix, "sample");
    struct vcm_mapping_result result;

    for (unsigned i = 0; i < count; i++) {
        struct vcm_buf frame = VCM_BUF_INIT(4096);
        struct vcm_page_record records[2] = {{.part = 1, .parts = 1}, {.part = 1, .parts = 1}};
        struct vcm_page_built page = {.records = records, .record_count = 2, .tokens = 2};
        for (unsigned r = 0; r < 2; r++) {
            size_t before = frame.len;
            vcm_page_serialise(&frame, text(paths[i][r]), text("text"));
            records[r].path = text(paths[i][r]);
            records[r].bytes = (uint32_t)(frame.len - before);
            records[r].tokens = 1;
            vcm_buf_append_byte(&frame, '\n');
        }
        page.frame = vcm_buf_slice(&frame);
        vcm_page_id_of(&page.id, page.frame);
        assert_ok(fix, vcm_mapping_add_page(mapping, &page, &fix->err));
        scope.pages++;
        scope.records += 2;
        scope.tokens += 2;
        scope.bytes += frame.len;
        vcm_buf_release(&frame);
    }
    assert_ok(fix, vcm_mapping_commit(mapping, &scope, &result, &fix->err));
    return scope.mapping;
}

static const char *const three_pages[][2] = {{"a", "b/c"}, {"b/c", "b/c"}, {"b", "d"}};

static void a_file_is_found_in_every_page_that_holds_it(void **state)
{
    struct fixture *fix = *state;
    struct found found = {.text = VCM_BUF_INIT(4096)};
    uint64_t mapping = map_paths(fix, three_pages, 3);
    struct vcm_kv_txn *txn = read_begin(fix);

    assert_ok(fix, vcm_page_find_path(txn, mapping, text("b/c"), append_found, &found, &fix->err));
    assert_string_equal(vcm_buf_text(&found.text), "0.1:b/c 1.0:b/c 1.1:b/c ");
    vcm_buf_clear(&found.text);
    assert_ok(fix, vcm_page_find_path(txn, mapping, text("b"), append_found, &found, &fix->err));
    assert_string_equal(vcm_buf_text(&found.text), "2.0:b ");
    vcm_buf_clear(&found.text);
    assert_ok(fix, vcm_page_find_path(txn, mapping, text("c"), append_found, &found, &fix->err));
    assert_string_equal(vcm_buf_text(&found.text), "");
    vcm_kv_handle_read_end(txn);
    vcm_buf_release(&found.text);
}

static void every_record_comes_in_order(void **state)
{
    struct fixture *fix = *state;
    struct found found = {.text = VCM_BUF_INIT(4096)};
    uint64_t mapping = map_paths(fix, three_pages, 3);
    struct vcm_kv_txn *txn = read_begin(fix);

    assert_ok(fix, vcm_page_find_each(txn, mapping, append_found, &found, &fix->err));
    assert_string_equal(vcm_buf_text(&found.text), "0.0:a 0.1:b/c 1.0:b/c 1.1:b/c 2.0:b 2.1:d ");
    vcm_kv_handle_read_end(txn);
    vcm_buf_release(&found.text);
}

static void enough_ends_the_search_without_an_error(void **state)
{
    struct fixture *fix = *state;
    struct found found = {.text = VCM_BUF_INIT(4096), .stop_after = 2};
    uint64_t mapping = map_paths(fix, three_pages, 3);
    struct vcm_kv_txn *txn = read_begin(fix);

    assert_ok(fix, vcm_page_find_each(txn, mapping, append_found, &found, &fix->err));
    assert_string_equal(vcm_buf_text(&found.text), "0.0:a 0.1:b/c ");
    vcm_kv_handle_read_end(txn);
    vcm_buf_release(&found.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_file_is_found_in_every_page_that_holds_it),
        STORE_TEST(every_record_comes_in_order),
        STORE_TEST(enough_ends_the_search_without_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
