#include "tests/vcm/store_fixture.h"
#include "vcm/mapping/known.h"

#include "base/banned.h"

enum { LONG = 1 << 20, TOO_MANY = 49 }; /* long paths are more than is kept of a table */

/* A page of one record with this path. */
static void add_path(struct fixture *fix, struct vcm_mapping *mapping, struct vcm_scope *scope,
                     struct vcm_slice path, const char *content)
{
    struct vcm_buf frame = VCM_BUF_INIT(4 * VCM_MIB);
    struct vcm_page_record record = {
        .path = path, .content_id = vcm_slice_of("\1\2\3", 3), .part = 1, .parts = 1};
    struct vcm_page_built page = {.records = &record, .record_count = 1};

    vcm_page_serialise(&frame, path, text(content));
    record.bytes = (uint32_t)frame.len;
    record.tokens = page.tokens = (uint32_t)(frame.len + 3) / 4;
    vcm_buf_append_byte(&frame, '\n');
    page.frame = vcm_buf_slice(&frame);
    vcm_page_id_of(&page.id, page.frame);
    scope->pages++;
    scope->records++;
    scope->tokens += page.tokens;
    scope->bytes += page.frame.len;
    scope->coverage.tracked++;
    scope->coverage.by_outcome[VCM_SOURCE_PAGED]++;
    assert_ok(fix, vcm_mapping_add_page(mapping, &page, &fix->err));
    vcm_buf_release(&frame);
}

static struct vcm_known *map_and_know(struct fixture *fix, unsigned long_paths,
                                      struct vcm_slice raw_path)
{
    struct vcm_scope scope = {.scope_id = text("s"), .commit = text("c")};
    struct vcm_mapping *mapping = begin(fix, "s");
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_MIB);
    struct vcm_mapping_result result;
    struct vcm_known *known = NULL;

    for (unsigned i = 0; i < long_paths; i++) {
        vcm_buf_clear(&path);
        vcm_buf_append_format(&path, "a/%u", i);
        while (path.len < LONG)
            vcm_buf_append_string(&path, "long names");
        add_path(fix, mapping, &scope, vcm_buf_slice(&path), "x");
    }
    add_path(fix, mapping, &scope, text("b/x"), "y");
    scope.coverage.tracked++;
    scope.coverage.by_outcome[VCM_SOURCE_BINARY]++;
    assert_ok(fix, vcm_mapping_add_omission(
                       mapping,
                       &(struct vcm_page_omission){
                           .path = text("b/y"), .raw_path = raw_path, .outcome = VCM_SOURCE_BINARY},
                       &fix->err));
    assert_ok(fix, vcm_mapping_commit(mapping, &scope, &result, &fix->err));
    assert_ok(fix, vcm_known_open(&known, fix->store, &scope, &fix->err));
    assert_non_null(known);
    vcm_buf_release(&path);
    return known;
}

static void a_directory_of_a_table_is_known(void **state)
{
    struct fixture *fix = *state;
    struct vcm_known_directory_items found;
    struct vcm_known *known = map_and_know(fix, 1, text("b/y"));

    assert_true(vcm_known_directory(&found, known, text("b")));
    assert_int_equal(found.records.end - found.records.first, 1);
    assert_int_equal(found.omissions.end - found.omissions.first, 1);
    vcm_known_close(known);
}

static void no_directory_is_known_when_the_table_is_too_large_to_keep(void **state)
{
    struct fixture *fix = *state;
    struct vcm_known_directory_items found;
    struct vcm_known *known = map_and_know(fix, TOO_MANY, text("b/y"));

    assert_false(vcm_known_directory(&found, known, text("b")));
    assert_false(vcm_known_directory(&found, known, text("a")));
    vcm_known_close(known);
}

static void no_directory_is_known_when_a_path_is_shown_in_another_way(void **state)
{
    struct fixture *fix = *state;
    struct vcm_known_directory_items found;
    struct vcm_known *known = map_and_know(fix, 1, text("b/\xff"));

    assert_false(vcm_known_directory(&found, known, text("b")));
    vcm_known_close(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_directory_of_a_table_is_known, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(no_directory_is_known_when_the_table_is_too_large_to_keep,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(no_directory_is_known_when_a_path_is_shown_in_another_way,
                                        fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
