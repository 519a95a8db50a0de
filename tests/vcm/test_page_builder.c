#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/limits.h"
#include "tests/support/random.h"
#include "vcm/mapping/page_builder.h"

#include "base/banned.h"

#define PAGES_MAX 20000

struct pages {
    uint32_t threshold, budget;
    unsigned count, records;
    struct vcm_page_id ids[PAGES_MAX];
    uint32_t sizes[PAGES_MAX];  /* records */
    char firsts[PAGES_MAX][32]; /* path of the first record */
    struct vcm_buf values;      /* every value in order, one to a line */
    unsigned refuse_after;      /* 0 for never */
};

static int set_up(void **state)
{
    struct pages *pages = calloc(1, sizeof *pages);

    assert_non_null(pages);
    vcm_buf_init(&pages->values, 64 * VCM_MIB);
    *state = pages;
    return 0;
}

static int tear_down(void **state)
{
    struct pages *pages = *state;

    vcm_buf_release(&pages->values);
    free(pages);
    return 0;
}

static int take_page(void *context, const struct vcm_page_built *page, struct vcm_error *err)
{
    struct pages *pages = context;
    struct vcm_slice frame = page->frame, value;
    struct vcm_page_id id;
    uint64_t tokens = 0;

    if (pages->refuse_after > 0 && pages->count + 1 == pages->refuse_after)
        return vcm_error_set(err, VCM_STORE_FULL, "no more");
    assert_true(page->record_count >= 1 && page->record_count <= pages->threshold);
    for (uint32_t i = 0; i < page->record_count; i++) {
        assert_true(vcm_page_next_value(&value, &frame));
        assert_int_equal(value.len, page->records[i].bytes);
        tokens += page->records[i].tokens;
    }
    assert_int_equal(frame.len, 0);
    assert_int_equal(tokens, page->tokens);
    assert_true(tokens <= pages->budget);
    vcm_page_id_of(&id, page->frame);
    assert_memory_equal(&id, &page->id, sizeof id);

    assert_true(pages->count < PAGES_MAX);
    pages->ids[pages->count] = id;
    pages->sizes[pages->count] = page->record_count;
    snprintf(pages->firsts[pages->count], sizeof pages->firsts[0], "%.*s",
             (int)page->records[0].path.len, page->records[0].path.data);
    pages->count++;
    pages->records += page->record_count;
    vcm_buf_append_slice(&pages->values, page->frame);
    return VCM_OK;
}

static struct vcm_page_builder *open_builder(struct pages *pages, uint32_t threshold,
                                             uint32_t budget)
{
    struct vcm_page_builder *builder;

    pages->threshold = threshold;
    pages->budget = budget;
    pages->count = pages->records = 0;
    vcm_buf_clear(&pages->values);
    assert_int_equal(
        vcm_page_builder_open(&builder,
                              &(struct vcm_page_builder_options){.record_threshold = threshold,
                                                                 .token_budget = budget,
                                                                 .emit = take_page,
                                                                 .emit_context = pages},
                              NULL),
        VCM_OK);
    return builder;
}

/* The builder looks at tokens, path and part; the value only has to be its own. */
static int add(struct vcm_page_builder *builder, const char *path, uint32_t tokens, unsigned mark,
               struct vcm_error *err)
{
    char value[96];
    int len = snprintf(value, sizeof value, "{%s %u %u}", path, tokens, mark);
    struct vcm_page_record record = {.path = vcm_slice_of_string(path),
                                     .content_id = vcm_slice_of("\1\2", 2),
                                     .tokens = tokens,
                                     .bytes = (uint32_t)len,
                                     .part = 1,
                                     .parts = 1};

    return vcm_page_builder_add(builder, vcm_slice_of(value, (size_t)len), &record, err);
}

struct file {
    char path[32];
    uint32_t tokens;
    unsigned mark;
};

static void make_tree(struct file *files, unsigned count, uint32_t budget, uint64_t *seed)
{
    unsigned directory = 0, inner = 0;

    for (unsigned i = 0; i < count; i++) {
        if (test_random_below(seed, 9) == 0)
            directory++;
        if (test_random_below(seed, 4) == 0)
            inner++;
        snprintf(files[i].path, sizeof files[i].path, "d%04u/i%04u/f%05u", directory, inner, i);
        uint32_t most = test_random_below(seed, budget);
        files[i].tokens = 1 + most / (1 + test_random_below(seed, 20));
        files[i].mark = 0;
    }
}

static void pack(struct pages *pages, const struct file *files, unsigned count, uint32_t threshold,
                 uint32_t budget)
{
    struct vcm_page_builder *builder = open_builder(pages, threshold, budget);
    struct vcm_error err = {0};

    for (unsigned i = 0; i < count; i++)
        assert_int_equal(add(builder, files[i].path, files[i].tokens, files[i].mark, &err), VCM_OK);
    assert_int_equal(vcm_page_builder_finish(builder, &err), VCM_OK);
    vcm_page_builder_close(builder);
}

static void pages_keep_both_bounds_and_hold_every_record_once_in_order(void **state)
{
    static const uint32_t thresholds[] = {1, 2, 3, 20, 1000, 1000000000};
    static const uint32_t budgets[] = {64, 100, 4096, 1000000000};
    struct pages *pages = *state;
    struct file *files = calloc(2000, sizeof *files);
    struct vcm_buf expected = VCM_BUF_INIT(64 * VCM_MIB);
    uint64_t seed = 31337;

    assert_non_null(files);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned t = 0; t < 6; t++)
        for (unsigned b = 0; b < 4; b++) {
            unsigned count = test_random_below(&seed, 2000);
            make_tree(files, count, budgets[b], &seed);
            vcm_buf_clear(&expected);
            for (unsigned i = 0; i < count; i++)
                vcm_buf_append_format(&expected, "{%s %u %u}\n", files[i].path, files[i].tokens, 0);
            pack(pages, files, count, thresholds[t], budgets[b]);
            assert_int_equal(pages->records, count);
            assert_true(vcm_slice_equal(vcm_buf_slice(&pages->values), vcm_buf_slice(&expected)));
        }
    vcm_buf_release(&expected);
    free(files);
}

static void nothing_added_is_no_page(void **state)
{
    pack(*state, NULL, 0, 20, 4096);
    assert_int_equal(((struct pages *)*state)->count, 0);
}

static void a_record_of_exactly_the_budget_is_a_page_of_its_own(void **state)
{
    struct file files[] = {{"a", 100, 0}, {"b", 100, 0}, {"c", 1, 0}, {"d", 99, 0}, {"e", 100, 0}};
    struct pages *pages = *state;

    pack(pages, files, 5, 20, 100);
    assert_int_equal(pages->count, 4);
    assert_int_equal(pages->sizes[2], 2);
}

static void a_threshold_of_1_gives_every_record_its_page(void **state)
{
    struct file files[] = {{"a", 1, 0}, {"b", 1, 0}, {"c", 1, 0}};
    struct pages *pages = *state;

    pack(pages, files, 3, 1, 4096);
    assert_int_equal(pages->count, 3);
}

static void what_fits_one_page_is_one_page(void **state)
{
    struct file files[] = {{"a/x", 10, 0}, {"b/y", 20, 0}, {"c/d/e/z", 70, 0}};
    struct pages *pages = *state;

    pack(pages, files, 3, 3, 100);
    assert_int_equal(pages->count, 1);
}

/* Ten small files of one directory, then another: the cut falls between them, not at the tenth. */
static void a_page_ends_where_the_directory_does(void **state)
{
    struct pages *pages = *state;
    struct file files[16];

    for (unsigned i = 0; i < 16; i++) {
        snprintf(files[i].path, sizeof files[i].path, "%s/f%02u", i < 7 ? "lib" : "src", i);
        files[i].tokens = 10;
        files[i].mark = 0;
    }
    pack(pages, files, 16, 10, 1000);
    assert_int_equal(pages->sizes[0], 7);
    assert_string_equal(pages->firsts[1], "src/f07");
}

static void the_outermost_change_of_directory_is_preferred(void **state)
{
    static const char *const paths[] = {"a/x/1", "a/x/2", "a/x/3", "a/x/4", "a/y/5", "a/y/6",
                                        "b/x/7", "b/x/8", "b/y/9", "b/y/A", "b/z/B", "b/z/C"};
    struct pages *pages = *state;
    struct file files[12];

    for (unsigned i = 0; i < 12; i++) {
        snprintf(files[i].path, sizeof files[i].path, "%s", paths[i]);
        files[i].tokens = 10;
        files[i].mark = 0;
    }
    pack(pages, files, 12, 9, 1000);
    assert_int_equal(pages->sizes[0], 6);
}

static unsigned changed_pages(const struct pages *before, const struct pages *after)
{
    unsigned changed = 0;

    for (unsigned i = 0; i < after->count; i++) {
        bool found = false;
        for (unsigned k = 0; k < before->count && !found; k++)
            found = memcmp(&after->ids[i], &before->ids[k], sizeof after->ids[i]) == 0;
        changed += !found;
    }
    return changed;
}

/* Edits one file in each of many trees, and counts the pages that this creates. */
static void edit_files(struct pages *before, uint32_t growth, unsigned mean_percent, unsigned most)
{
    enum { TRIALS = 150, FILES = 1500, BUDGET = 1000 };
    struct pages *after = calloc(1, sizeof *after);
    struct file *files = calloc(FILES, sizeof *files);
    uint64_t seed = 424242;
    unsigned sum = 0, found = 0;

    assert_true(files && after);
    vcm_buf_init(&after->values, 64 * VCM_MIB);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        make_tree(files, FILES, BUDGET, &seed);
        pack(before, files, FILES, 20, BUDGET);
        struct file *edited = &files[test_random_below(&seed, FILES)];
        edited->tokens = (edited->tokens + test_random_below(&seed, growth)) % BUDGET + 1;
        edited->mark = 1;
        pack(after, files, FILES, 20, BUDGET);
        assert_true(after->count > 60);
        unsigned changed = changed_pages(before, after);
        assert_true(changed >= 1);
        sum += changed;
        found = changed > found ? changed : found;
    }
    print_message("pages changed by one edit: mean %.2f, most %u\n", (double)sum / TRIALS, found);
    assert_true(100 * sum <= mean_percent * TRIALS);
    assert_true(found <= most);
    vcm_buf_release(&after->values);
    free(after);
    free(files);
}

static void a_small_edit_changes_one_page_and_at_most_two(void **state)
{
    edit_files(*state, 12, 110, 2);
}

static void a_large_edit_changes_few_pages(void **state)
{
    edit_files(*state, 1000, 220, 6);
}

static void pages_are_seven_tenths_full(void **state)
{
    struct pages *pages = *state;
    struct file *files = calloc(2000, sizeof *files);
    uint64_t seed = 5, tokens = 0;

    assert_non_null(files);
    for (unsigned trial = 0; trial < 20; trial++) {
        make_tree(files, 2000, 1000, &seed);
        for (unsigned i = 0; i < 2000; i++)
            tokens += files[i].tokens = files[i].tokens % 400 + 1;
        pack(pages, files, 2000, 1000000, 1000);
        print_message("fill %.2f\n", (double)tokens / (1000.0 * pages->count));
        assert_true(10 * tokens >= 7 * 1000 * (uint64_t)pages->count);
        tokens = 0;
    }
    free(files);
}

static void a_refused_page_ends_the_work_and_leaks_nothing(void **state)
{
    struct pages *pages = *state;
    struct vcm_page_builder *builder = open_builder(pages, 2, 100);
    struct vcm_error err = {0};
    int rc = VCM_OK;

    pages->refuse_after = 2;
    for (unsigned i = 0; rc == VCM_OK && i < 200; i++)
        rc = add(builder, "a", 50, i, &err);
    assert_int_equal(rc, VCM_STORE_FULL);
    assert_string_equal(err.message, "no more");
    vcm_page_builder_close(builder);
    vcm_page_builder_close(NULL);
}

#define BUILDER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BUILDER_TEST(pages_keep_both_bounds_and_hold_every_record_once_in_order),
        BUILDER_TEST(nothing_added_is_no_page),
        BUILDER_TEST(a_record_of_exactly_the_budget_is_a_page_of_its_own),
        BUILDER_TEST(a_threshold_of_1_gives_every_record_its_page),
        BUILDER_TEST(what_fits_one_page_is_one_page),
        BUILDER_TEST(a_page_ends_where_the_directory_does),
        BUILDER_TEST(the_outermost_change_of_directory_is_preferred),
        BUILDER_TEST(a_small_edit_changes_one_page_and_at_most_two),
        BUILDER_TEST(a_large_edit_changes_few_pages),
        BUILDER_TEST(pages_are_seven_tenths_full),
        BUILDER_TEST(a_refused_page_ends_the_work_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
