/* From a source of the tests' own, which proves the seam, to a page table. */
#include "store_fixture.h"
#include "tests/support/memory_source.h"
#include "vcm/mapping/ingest.h"

#include "base/banned.h"

static struct vcm_tokenizer *tokenizer;

static void init_scope(struct vcm_scope *scope)
{
    *scope =
        (struct vcm_scope){.scope_id = text("s"), .flush_threshold = 20, .flush_token_budget = 500};
}

static int ingest(struct fixture *fix, struct vcm_ingest_result *result, struct vcm_scope *scope,
                  struct memory_source *memory, unsigned jobs)
{
    init_scope(scope);
    vcm_error_reset(&fix->err);
    return vcm_ingest_run(result, fix->store, scope,
                          &(struct vcm_ingest_options){.source = &memory->source,
                                                       .tokenizer = tokenizer,
                                                       .jobs = jobs,
                                                       .cancel = memory->cancel},
                          &fix->err);
}

static void the_pages_are_the_same_for_any_number_of_workers(void **state)
{
    struct fixture *fix = *state;
    char first[2 * VCM_HASH_SHA256_BYTES + 1], hex[2 * VCM_HASH_SHA256_BYTES + 1];
    struct vcm_ingest_result result;
    struct memory_source memory;
    struct vcm_scope scope;
    unsigned count;
    struct memory_item *items = memory_source_tree(&count, 5, 0, 300);

    for (unsigned jobs = 1; jobs <= 8; jobs++) {
        memory_source_init(&memory, items, count);
        assert_ok(fix, ingest(fix, &result, &scope, &memory, jobs));
        assert_int_equal(memory.readers_open, 0);
        assert_int_equal(scope.coverage.tracked, count);
        assert_true(scope.pages > 50);
        if (jobs > 1)
            assert_int_equal(result.pages.pages_created, 0);
        store_check_digest(jobs == 1 ? first : hex, fix->disk.path);
        if (jobs > 1)
            assert_string_equal(hex, first);
    }
    free(items);
}

static int ingest_again(struct fixture *fix, struct vcm_ingest_result *result,
                        struct memory_source *memory, bool reuse)
{
    struct vcm_scope scope;

    init_scope(&scope);
    vcm_error_reset(&fix->err);
    return vcm_ingest_run(
        result, fix->store, &scope,
        &(struct vcm_ingest_options){
            .source = &memory->source, .tokenizer = tokenizer, .jobs = 2, .reuse = reuse},
        &fix->err);
}

/* Whatever is edited, the pages are those of a mapping that reads everything. */
static void what_has_not_changed_is_not_read_again(void **state)
{
    struct fixture *fix = *state;
    char reused[2 * VCM_HASH_SHA256_BYTES + 1], whole[2 * VCM_HASH_SHA256_BYTES + 1];
    static char paths[20][64];
    struct vcm_ingest_result result;
    struct memory_source memory;
    unsigned count;
    struct memory_item *items = memory_source_tree(&count, 5, 0, 300);

    memory_source_init(&memory, items, count);
    assert_ok(fix, ingest_again(fix, &result, &memory, true));
    unsigned all = memory.reads;
    for (unsigned edit = 0; edit < 20; edit++) {
        struct memory_item *item = &items[edit * 13 + 1];
        snprintf(paths[edit], sizeof paths[edit], "%.20s-edit%u", item->path, edit);
        item->path = paths[edit];
        memory_source_init(&memory, items, count);
        assert_ok(fix, ingest_again(fix, &result, &memory, true));
        /* That one, and those that turned out to be binary. */
        assert_true(memory.reads < all / 10);
        assert_true(result.pages.pages_created <= 6);
        store_check_digest(reused, fix->disk.path);
        memory_source_init(&memory, items, count);
        assert_ok(fix, ingest_again(fix, &result, &memory, false));
        assert_int_equal(memory.reads, all);
        assert_int_equal(result.pages.pages_created, 0);
        store_check_digest(whole, fix->disk.path);
        assert_string_equal(reused, whole);
    }
    free(items);
}

static void another_fingerprint_reads_everything(void **state)
{
    struct fixture *fix = *state;
    struct vcm_ingest_result result;
    struct memory_source memory;
    struct vcm_scope scope;
    unsigned count;
    struct memory_item *items = memory_source_tree(&count, 5, 0, 100);

    memory_source_init(&memory, items, count);
    assert_ok(fix, ingest_again(fix, &result, &memory, true));
    unsigned all = memory.reads;
    init_scope(&scope);
    scope.fingerprint[0] = 1;
    memory_source_init(&memory, items, count);
    assert_ok(fix, vcm_ingest_run(&result, fix->store, &scope,
                                  &(struct vcm_ingest_options){.source = &memory.source,
                                                               .tokenizer = tokenizer,
                                                               .jobs = 1,
                                                               .reuse = true},
                                  &fix->err));
    assert_int_equal(memory.reads, all);
    free(items);
}

/* Too long for a budget of 500 tokens of 4 bytes. */
static char long_path[2100];

static const struct memory_item every_outcome[] = {
    {"a/symlink", NULL, VCM_SOURCE_SYMLINK, VCM_SOURCE_PAGED, NULL},
    {"a/text", "one\ntwo\n", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
    {"b/binary", NULL, VCM_SOURCE_PAGED, VCM_SOURCE_BINARY, NULL},
    {"b/submodule", NULL, VCM_SOURCE_SUBMODULE, VCM_SOURCE_PAGED, NULL},
    {"c/excluded", NULL, VCM_SOURCE_EXCLUDED, VCM_SOURCE_PAGED, NULL},
    {"c/ignored", NULL, VCM_SOURCE_IGNORED, VCM_SOURCE_PAGED, NULL},
    {"d/missing", NULL, VCM_SOURCE_PAGED, VCM_SOURCE_FAILED, "object_missing"},
    {"d/\xff", "", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
    {"e/own", NULL, VCM_SOURCE_PAGED, VCM_SOURCE_FAILED, "a word of its own"},
    {"e/lfs", NULL, VCM_SOURCE_PAGED, VCM_SOURCE_LFS_MISSING, NULL},
    {"f/large", NULL, VCM_SOURCE_PAGED, VCM_SOURCE_TOO_LARGE, NULL},
    {long_path, "text", VCM_SOURCE_PAGED, VCM_SOURCE_PAGED, NULL},
};

static int append_omission(void *context, const struct vcm_page_omission *omission,
                           struct vcm_error *err)
{
    (void)err;
    vcm_buf_append_format(context, "%.*s %s %.*s\n",
                          (int)(omission->path.len < 16 ? omission->path.len : 16),
                          omission->path.data, vcm_outcome_name(omission->outcome),
                          (int)omission->reason.len, omission->reason.data);
    return VCM_OK;
}

static void every_outcome_is_counted_and_told_in_the_order_of_the_walk(void **state)
{
    struct fixture *fix = *state;
    struct vcm_ingest_result result;
    struct memory_source memory;
    struct vcm_scope scope;
    struct vcm_buf seen = VCM_BUF_INIT(VCM_MIB);

    memset(long_path, 'p', sizeof long_path - 1);
    memory_source_init(&memory, every_outcome, sizeof every_outcome / sizeof every_outcome[0]);
    assert_ok(fix, ingest(fix, &result, &scope, &memory, 2));
    assert_int_equal(scope.coverage.tracked, 12);
    assert_int_equal(scope.coverage.by_outcome[VCM_SOURCE_PAGED], 2);
    assert_int_equal(scope.coverage.by_outcome[VCM_SOURCE_FAILED], 3);
    for (unsigned i = 0; i < VCM_SOURCE_OUTCOMES; i++)
        if (i != VCM_SOURCE_PAGED && i != VCM_SOURCE_FAILED)
            assert_int_equal(scope.coverage.by_outcome[i], 1);
    assert_int_equal(scope.records, 2);
    assert_int_equal(scope.pages, 1);
    assert_string_equal(result.first_failure, "d/missing (object_missing)");

    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix,
              vcm_page_table_each_omission(txn, scope.mapping, append_omission, &seen, &fix->err));
    vcm_kv_handle_read_end(txn);
    assert_string_equal(vcm_buf_text(&seen), "a/symlink symlink \n"
                                             "b/binary binary \n"
                                             "b/submodule submodule \n"
                                             "c/excluded excluded \n"
                                             "c/ignored ignored \n"
                                             "d/missing failed object_missing\n"
                                             "e/own failed a word of its own\n"
                                             "e/lfs lfs_missing \n"
                                             "f/large too_large \n"
                                             "pppppppppppppppp failed path_exceeds_budget\n");
    vcm_buf_release(&seen);
}

static void an_empty_source_is_a_scope_without_pages(void **state)
{
    struct fixture *fix = *state;
    struct vcm_ingest_result result;
    struct memory_source memory;
    struct vcm_scope scope;

    memory_source_init(&memory, NULL, 0);
    assert_ok(fix, ingest(fix, &result, &scope, &memory, 3));
    assert_int_equal(scope.pages, 0);
    assert_int_equal(counts_of(fix).scopes, 1);
}

static void provenance_is_that_of_the_item(void **state)
{
    struct fixture *fix = *state;
    struct vcm_ingest_result result;
    struct memory_source memory;
    struct vcm_page_record *records;
    struct vcm_page_row row;
    struct vcm_scope scope;
    uint32_t count;

    memory_source_init(&memory, every_outcome, 8);
    assert_ok(fix, ingest(fix, &result, &scope, &memory, 2));
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix, vcm_page_table_row(&row, txn, scope.mapping, 0, &fix->err));
    assert_ok(fix, vcm_page_get_records(&records, &count, row.records, &fix->err));
    assert_int_equal(count, 2);
    assert_true(vcm_slice_equal(records[0].path, text("a/text")));
    assert_true(vcm_slice_equal(records[0].content_id, vcm_slice_of("\1\0\0\0", 4)));
    assert_int_equal(records[0].start_line, 1);
    assert_int_equal(records[0].end_line, 2);
    assert_int_equal(records[0].parts, 1);
    assert_false(records[0].path_lossy);
    assert_true(vcm_slice_equal(records[1].path, text("d/\\xff")));
    assert_true(records[1].path_lossy);
    assert_int_equal(records[1].start_line, 0);
    free(records);
    vcm_kv_handle_read_end(txn);
}

/* Maps one tree, lets the next mapping fail as `break_it` says, and looks for traces. */
static void assert_failure_leaves_no_trace(struct fixture *fix, int expected, const char *message,
                                           void (*break_it)(struct memory_source *memory))
{
    struct vcm_ingest_result result;
    struct memory_source memory;
    struct vcm_scope scope;
    struct vcm_cancel cancel = {false};
    unsigned count, other;
    struct memory_item *items = memory_source_tree(&count, 5, 0, 120);
    struct memory_item *changed = memory_source_tree(&other, 5, 7, 120);
    char before[2 * VCM_HASH_SHA256_BYTES + 1], after[2 * VCM_HASH_SHA256_BYTES + 1];

    memory_source_init(&memory, items, count);
    assert_ok(fix, ingest(fix, &result, &scope, &memory, 2));
    struct store_counts then = counts_of(fix);
    store_check_digest(before, fix->disk.path);
    for (unsigned jobs = 1; jobs <= 4; jobs += 3) {
        vcm_cancel_reset(&cancel);
        memory_source_init(&memory, changed, other);
        memory.cancel = &cancel;
        break_it(&memory);
        assert_int_equal(ingest(fix, &result, &scope, &memory, jobs), expected);
        assert_non_null(strstr(fix->err.message, message));
        assert_int_equal(memory.readers_open, 0);
        struct store_counts now = counts_of(fix);
        assert_memory_equal(&then, &now, sizeof now);
        store_check_digest(after, fix->disk.path);
        assert_string_equal(before, after);
    }
    free(items);
    free(changed);
}

static void break_walk(struct memory_source *memory)
{
    memory->walk_fails_at = 101;
}

static void break_first_item(struct memory_source *memory)
{
    memory->walk_fails_at = 1;
}

static void break_read(struct memory_source *memory)
{
    memory->read_fails_at = 77;
}

static void break_reader(struct memory_source *memory)
{
    memory->reader_fails = true;
}

static void break_by_cancel(struct memory_source *memory)
{
    memory->cancel_at = 60;
}

static void an_error_of_the_walk_ends_the_mapping(void **state)
{
    assert_failure_leaves_no_trace(*state, VCM_IO_ERROR, "the walk broke off", break_walk);
}

static void an_error_before_the_first_item_ends_the_mapping(void **state)
{
    assert_failure_leaves_no_trace(*state, VCM_IO_ERROR, "the walk broke off", break_first_item);
}

static void an_error_of_a_read_ends_the_mapping_and_names_the_file(void **state)
{
    struct fixture *fix = *state;

    assert_failure_leaves_no_trace(fix, VCM_IO_ERROR, "the disk is gone", break_read);
    assert_non_null(strstr(fix->err.context, "dir03/sub3/file0076.c"));
}

static void a_reader_that_cannot_be_opened_ends_the_mapping(void **state)
{
    assert_failure_leaves_no_trace(*state, VCM_IO_ERROR, "no reader", break_reader);
}

static void a_stop_in_the_middle_ends_the_mapping(void **state)
{
    assert_failure_leaves_no_trace(*state, VCM_INTERRUPTED, "interrupted", break_by_cancel);
}

static void note_progress(void *context, const struct vcm_ingest_progress *progress)
{
    struct vcm_ingest_progress *last = context;

    assert_true(progress->files >= last->files && progress->pages >= last->pages);
    *last = *progress;
}

static void progress_grows_to_what_was_mapped(void **state)
{
    struct fixture *fix = *state;
    struct vcm_ingest_progress last = {0};
    struct vcm_ingest_result result;
    struct memory_source memory;
    struct vcm_scope scope;
    unsigned count;
    struct memory_item *items = memory_source_tree(&count, 9, 0, 60);

    memory_source_init(&memory, items, count);
    init_scope(&scope);
    assert_ok(fix, vcm_ingest_run(&result, fix->store, &scope,
                                  &(struct vcm_ingest_options){.source = &memory.source,
                                                               .tokenizer = tokenizer,
                                                               .jobs = 2,
                                                               .progress = note_progress,
                                                               .progress_context = &last},
                                  &fix->err));
    assert_int_equal(last.files, count);
    assert_true(last.pages > 0 && last.pages <= scope.pages);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(the_pages_are_the_same_for_any_number_of_workers),
        STORE_TEST(what_has_not_changed_is_not_read_again),
        STORE_TEST(another_fingerprint_reads_everything),
        STORE_TEST(every_outcome_is_counted_and_told_in_the_order_of_the_walk),
        STORE_TEST(an_empty_source_is_a_scope_without_pages),
        STORE_TEST(provenance_is_that_of_the_item),
        STORE_TEST(an_error_of_the_walk_ends_the_mapping),
        STORE_TEST(an_error_before_the_first_item_ends_the_mapping),
        STORE_TEST(an_error_of_a_read_ends_the_mapping_and_names_the_file),
        STORE_TEST(a_reader_that_cannot_be_opened_ends_the_mapping),
        STORE_TEST(a_stop_in_the_middle_ends_the_mapping),
        STORE_TEST(progress_grows_to_what_was_mapped),
    };
    if (vcm_tokenizer_open(&tokenizer, "approx4", NULL) != VCM_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    vcm_tokenizer_close(tokenizer);
    return failed;
}
