/* A table in force that becomes its successor row by row, or is given up for one beside it. */
#include "store_fixture.h"
#include "tests/support/memory_source.h"
#include "tests/support/random.h"
#include "vcm/mapping/ingest.h"
#include "vcm/mapping/known.h"

#include "base/banned.h"

static struct vcm_tokenizer *tokenizer;

/* Returns the number of the mapping in force afterwards. */
static uint64_t ingest(struct fixture *fix, struct vcm_ingest_result *result,
                       const struct memory_item *items, unsigned count, unsigned threshold,
                       bool reuse)
{
    struct vcm_scope scope = {
        .scope_id = text("s"), .flush_threshold = threshold, .flush_token_budget = 500};
    struct memory_source memory;

    memory_source_init(&memory, items, count);
    vcm_error_reset(&fix->err);
    assert_ok(fix, vcm_ingest_run(result, fix->store, &scope,
                                  &(struct vcm_ingest_options){.source = &memory.source,
                                                               .tokenizer = tokenizer,
                                                               .jobs = 2,
                                                               .reuse = reuse},
                                  &fix->err));
    return scope.mapping;
}

/* That a mapping which reads everything finds nothing to change. */
static void assert_like_a_whole_mapping(struct fixture *fix, const struct memory_item *items,
                                        unsigned count, unsigned threshold)
{
    char revised[2 * VCM_HASH_SHA256_BYTES + 1], whole[2 * VCM_HASH_SHA256_BYTES + 1];
    struct vcm_ingest_result result;

    store_check(fix->disk.path, true);
    store_check_digest(revised, fix->disk.path);
    ingest(fix, &result, items, count, threshold, false);
    assert_int_equal(result.pages.pages_created, 0);
    assert_int_equal(result.pages.pages_dropped, 0);
    store_check_digest(whole, fix->disk.path);
    assert_string_equal(revised, whole);
}

static void edit(struct memory_item *item, char name[64], unsigned round, uint64_t *seed)
{
    switch (test_random_below(seed, 3)) {
    case 0: /* another file in its place */
        snprintf(name, 64, "%.20s-edit%u", item->path, round);
        item->path = name;
        break;
    case 1: /* comes or goes */
        item->walked = item->walked == VCM_SOURCE_PAGED ? VCM_SOURCE_EXCLUDED : VCM_SOURCE_PAGED;
        break;
    default: /* is left out for another reason */
        item->walked = item->walked == VCM_SOURCE_IGNORED ? VCM_SOURCE_SYMLINK : VCM_SOURCE_IGNORED;
        break;
    }
}

static void whatever_is_edited_the_table_is_that_of_a_whole_mapping(void **state)
{
    struct fixture *fix = *state;
    static char names[60][3][64];
    struct vcm_ingest_result result;
    uint64_t seed = 7;
    unsigned count;
    struct memory_item *items = memory_source_tree(&count, 5, 0, 200);

    print_message("seed %llu\n", (unsigned long long)seed);
    uint64_t former = ingest(fix, &result, items, count, 20, true);
    for (unsigned round = 0; round < 60; round++) {
        for (unsigned i = 0; i <= round % 3; i++)
            edit(&items[test_random_below(&seed, count)], names[round][i], round, &seed);
        assert_int_equal(ingest(fix, &result, items, count, 20, true), former);
        assert_true(result.pages.pages_created <= 18);
        assert_like_a_whole_mapping(fix, items, count, 20);
        former = ingest(fix, &result, items, count, 20, true);
    }
    free(items);
}

static void a_page_that_another_scope_holds_stays(void **state)
{
    struct fixture *fix = *state;
    const struct memory_item items[] = {
        {"a", "one\n", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
        {"b", "two\n", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
    };
    struct memory_item fewer[] = {items[0], items[1]};
    struct vcm_scope other = {
        .scope_id = text("t"), .flush_threshold = 1, .flush_token_budget = 500};
    struct vcm_ingest_result result;
    struct memory_source memory;

    uint64_t number = ingest(fix, &result, items, 2, 1, true);
    memory_source_init(&memory, items, 2);
    assert_ok(fix, vcm_ingest_run(&result, fix->store, &other,
                                  &(struct vcm_ingest_options){.source = &memory.source,
                                                               .tokenizer = tokenizer,
                                                               .jobs = 1,
                                                               .reuse = true},
                                  &fix->err));
    assert_int_equal(counts_of(fix).pages, 2);
    fewer[0].walked = VCM_SOURCE_EXCLUDED;
    assert_int_equal(ingest(fix, &result, fewer, 2, 1, true), number);
    assert_int_equal(result.pages.pages_dropped, 1);
    assert_int_equal(result.pages.pages_reused, 1);
    assert_int_equal(counts_of(fix).pages, 2);
    assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("t"), NULL, &fix->err));
    assert_int_equal(counts_of(fix).pages, 1);
}

static void a_reader_sees_the_old_rows_until_it_looks_again(void **state)
{
    struct fixture *fix = *state;
    struct memory_item items[] = {
        {"a", "one\n", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
        {"b", "two\n", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
    };
    struct vcm_buf before = VCM_BUF_INIT(VCM_KIB), after = VCM_BUF_INIT(VCM_KIB);
    struct vcm_ingest_result result;

    uint64_t number = ingest(fix, &result, items, 2, 1, true);
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix, vcm_page_table_each_row(txn, number, 0, append_row, &before, &fix->err));
    items[0].walked = VCM_SOURCE_EXCLUDED;
    assert_int_equal(ingest(fix, &result, items, 2, 1, true), number);
    assert_ok(fix, vcm_page_table_each_row(txn, number, 0, append_row, &after, &fix->err));
    vcm_kv_handle_read_end(txn);
    assert_string_equal(vcm_buf_text(&after), vcm_buf_text(&before));
    txn = read_begin(fix);
    vcm_buf_clear(&after);
    assert_ok(fix, vcm_page_table_each_row(txn, number, 0, append_row, &after, &fix->err));
    vcm_kv_handle_read_end(txn);
    assert_string_not_equal(vcm_buf_text(&after), vcm_buf_text(&before));
    vcm_buf_release(&before);
    vcm_buf_release(&after);
}

/* Each file is a page, and the first one goes: all others are other rows. */
static void rows_that_move_in_their_thousands_are_written_beside(void **state)
{
    enum { FILES = 4200 };
    struct fixture *fix = *state;
    struct memory_item *items = calloc(FILES, sizeof *items);
    char(*names)[16] = calloc(FILES, sizeof *names);
    struct vcm_ingest_result result;

    assert_non_null(items);
    assert_non_null(names);
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(names[i], sizeof names[i], "file%05u", i);
        items[i] = (struct memory_item){.path = names[i],
                                        .text = "text\n",
                                        .walked = VCM_SOURCE_PAGED,
                                        .read = VCM_SOURCE_PAGED};
    }
    uint64_t former = ingest(fix, &result, items, FILES, 1, true);
    items[FILES - 100].walked = VCM_SOURCE_EXCLUDED;
    assert_int_equal(ingest(fix, &result, items, FILES, 1, true), former);
    items[0].walked = VCM_SOURCE_EXCLUDED;
    assert_true(ingest(fix, &result, items, FILES, 1, true) > former);
    assert_int_equal(result.pages.pages_created, 0);
    assert_int_equal(result.pages.pages_dropped, 1);
    assert_int_equal(counts_of(fix).mappings, 1);
    assert_like_a_whole_mapping(fix, items, FILES, 1);
    free(items);
    free(names);
}

/* More than a transaction may write, with pages that stay before, between and behind. */
static void much_that_is_new_is_written_beside(void **state)
{
    enum { NEW = 24, LENGTH = 500000 };
    struct fixture *fix = *state;
    struct memory_item items[2 * NEW + 2];
    static char names[2 * NEW + 2][16];
    struct vcm_ingest_result result;
    char *longest = malloc(LENGTH + 1);
    unsigned count = sizeof items / sizeof items[0];

    assert_non_null(longest);
    for (unsigned i = 0; i < LENGTH; i++)
        longest[i] = (char)(i % 50 == 49 ? '\n' : 'a' + i * i / 7 % 26);
    longest[LENGTH] = '\0';
    for (unsigned i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "file%02u", i);
        bool is_new = i % 2 == 1 && i < 2 * NEW;
        items[i] = (struct memory_item){.path = names[i],
                                        .text = is_new ? longest : "text\n",
                                        .walked = is_new ? VCM_SOURCE_IGNORED : VCM_SOURCE_PAGED,
                                        .read = VCM_SOURCE_PAGED};
    }
    uint64_t former = ingest(fix, &result, items, count, 1, true);
    for (unsigned i = 1; i < 2 * NEW; i += 2)
        items[i].walked = VCM_SOURCE_PAGED;
    items[count - 1].walked = VCM_SOURCE_EXCLUDED;
    assert_true(ingest(fix, &result, items, count, 1, true) > former);
    assert_int_equal(counts_of(fix).mappings, 1);
    assert_like_a_whole_mapping(fix, items, count, 1);
    free(longest);
}

/* A tree may name a file twice; the page is held once then, with two occurrences. */
static void a_page_that_occurs_twice_is_no_hindrance(void **state)
{
    struct fixture *fix = *state;
    struct memory_item items[] = {
        {"a", "one\n", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
        {"same", "two\n", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
        {"same", "two\n", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
        {"z", "three\n", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
    };
    struct vcm_ingest_result result;

    ingest(fix, &result, items, 4, 1, true);
    assert_int_equal(counts_of(fix).pages, 3);
    items[0].walked = VCM_SOURCE_EXCLUDED;
    ingest(fix, &result, items, 4, 1, true);
    assert_int_equal(counts_of(fix).pages, 2);
    assert_like_a_whole_mapping(fix, items, 4, 1);
    items[1].walked = VCM_SOURCE_EXCLUDED;
    ingest(fix, &result, items, 4, 1, true);
    assert_like_a_whole_mapping(fix, items, 4, 1);
}

/* Between reading the former table and the end, somebody else maps the scope. */
static void a_table_that_changed_meanwhile_is_not_revised(void **state)
{
    struct fixture *fix = *state;
    struct memory_item items[] = {
        {"a", "one\n", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
        {"b", "two\n", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
    };
    struct vcm_scope scope = {
        .scope_id = text("s"), .flush_threshold = 1, .flush_token_budget = 500};
    struct vcm_mapping_result pages;
    struct vcm_ingest_result result;
    struct vcm_mapping *mapping;
    struct vcm_known *known;

    ingest(fix, &result, items, 2, 1, true);
    assert_ok(fix, vcm_known_open(&known, fix->store, &scope, &fix->err));
    assert_non_null(known);
    assert_ok(fix, vcm_mapping_begin(&mapping, fix->store,
                                     &(struct vcm_mapping_options){.scope_id = text("s"),
                                                                   .tokenizer = "approx4",
                                                                   .base = vcm_known_base(known)},
                                     &fix->err));
    items[0].walked = VCM_SOURCE_EXCLUDED;
    ingest(fix, &result, items, 2, 1, true);
    assert_ok(fix, add_page(mapping, &scope, "three", &fix->err));
    assert_int_equal(vcm_mapping_commit(mapping, &scope, &pages, &fix->err), VCM_RETRY);
    assert_int_equal(fix->err.code, VCM_OK);
    vcm_known_close(known);
    assert_like_a_whole_mapping(fix, items, 2, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(whatever_is_edited_the_table_is_that_of_a_whole_mapping),
        STORE_TEST(a_page_that_another_scope_holds_stays),
        STORE_TEST(a_reader_sees_the_old_rows_until_it_looks_again),
        STORE_TEST(rows_that_move_in_their_thousands_are_written_beside),
        STORE_TEST(much_that_is_new_is_written_beside),
        STORE_TEST(a_page_that_occurs_twice_is_no_hindrance),
        STORE_TEST(a_table_that_changed_meanwhile_is_not_revised),
    };
    if (vcm_tokenizer_open(&tokenizer, "approx4", NULL) != VCM_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    vcm_tokenizer_close(tokenizer);
    return failed;
}
