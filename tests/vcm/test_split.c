#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "tests/support/random.h"
#include "vcm/page/split.h"

#include "base/banned.h"

#define PARTS_MAX 20000

static struct vcm_tokenizer *tokenizer;

/* What came out of one split: offsets of the cuts and the text that the parts make together. */
struct outcome {
    const char *path;
    struct vcm_buf text;
    uint32_t budget;
    size_t ends[PARTS_MAX];
    struct vcm_page_record records[PARTS_MAX];
    unsigned parts;
};

static int set_up(void **state)
{
    struct outcome *outcome = calloc(1, sizeof *outcome);

    assert_non_null(outcome);
    vcm_buf_init(&outcome->text, 8 * VCM_MIB);
    *state = outcome;
    return 0;
}

static int tear_down(void **state)
{
    struct outcome *outcome = *state;

    vcm_buf_release(&outcome->text);
    free(outcome);
    return 0;
}

static int take_part(void *context, struct vcm_slice value, const struct vcm_page_record *record,
                     struct vcm_error *err)
{
    struct outcome *outcome = context;
    struct vcm_arena arena;
    struct vcm_json *root;

    assert_int_equal(record->bytes, value.len);
    assert_int_equal(record->tokens, vcm_tokenizer_count(tokenizer, value));
    assert_true(record->tokens <= outcome->budget);
    assert_int_equal(record->part, outcome->parts + 1);
    vcm_arena_init(&arena, 64 * VCM_MIB);
    assert_int_equal(vcm_json_parse(&root, &arena, value, err), VCM_OK);
    assert_string_equal(vcm_json_get(root, "path")->text.data, outcome->path);
    vcm_buf_append_slice(&outcome->text, vcm_json_get(root, "text")->text);
    vcm_arena_release(&arena);
    assert_true(outcome->parts < PARTS_MAX);
    outcome->records[outcome->parts] = *record;
    outcome->ends[outcome->parts++] = outcome->text.len;
    return VCM_OK;
}

static int split(struct outcome *outcome, const char *path, struct vcm_slice text, uint32_t budget)
{
    struct vcm_split_options options = {.tokenizer = tokenizer, .token_budget = budget};
    struct vcm_error err = {0};

    outcome->path = path;
    outcome->budget = budget;
    outcome->parts = 0;
    vcm_buf_clear(&outcome->text);
    struct vcm_split *splitter;
    assert_int_equal(vcm_split_open(&splitter, &options, &err), VCM_OK);
    int rc = vcm_split_text(splitter, vcm_slice_of_string(path), text, take_part, outcome, &err);
    vcm_split_close(splitter);
    assert_int_equal(rc, err.code);
    return rc;
}

/* The lines of a part, counted anew from the text. */
static void assert_lines(const struct outcome *outcome, struct vcm_slice text)
{
    uint32_t line = 1;
    size_t at = 0;

    for (unsigned i = 0; i < outcome->parts; i++) {
        uint32_t last = line;
        assert_int_equal(outcome->records[i].start_line, text.len > 0 ? line : 0);
        for (; at < outcome->ends[i]; at++) {
            last = line;
            line += text.data[at] == '\n';
        }
        assert_int_equal(outcome->records[i].end_line, text.len > 0 ? last : 0);
    }
}

static void assert_whole(const struct outcome *outcome, struct vcm_slice text)
{
    assert_true(outcome->parts >= 1);
    assert_true(vcm_slice_equal(vcm_buf_slice(&outcome->text), text));
    assert_lines(outcome, text);
    for (unsigned i = 0; i + 1 < outcome->parts; i++) {
        size_t cut = outcome->ends[i];
        assert_true(cut > (i > 0 ? outcome->ends[i - 1] : 0));
        assert_false(((unsigned char)text.data[cut] & 0xc0) == 0x80);
        assert_false(text.data[cut - 1] == '\r' && text.data[cut] == '\n');
    }
}

static void add_word(struct vcm_buf *text, uint64_t *seed)
{
    static const char *const words[] = {"return", "if (x > 0)",   "the",   "\"quoted\"",  "a\\b",
                                        "naïve",  "\xe2\x82\xac", "while", "struct page", "0x7f"};
    vcm_buf_append_string(text, words[test_random_below(seed, 10)]);
    vcm_buf_append_byte(text, ' ');
}

enum kind { SOURCE, ONE_LINE, CRLF, EMOJI, CONTROL, NEWLINES, NO_NEWLINE, CR_ONLY, KINDS };

static void add_line(struct vcm_buf *text, enum kind kind, uint64_t *seed)
{
    unsigned words = test_random_below(seed, 12);

    if (kind == SOURCE || kind == CRLF)
        for (unsigned i = 4 * test_random_below(seed, 3); i > 0; i--)
            vcm_buf_append_byte(text, ' ');
    for (unsigned i = 0; i < words && kind != NEWLINES; i++) {
        if (kind == EMOJI)
            vcm_buf_append_string(text, "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7");
        else if (kind == CONTROL)
            vcm_buf_append_byte(text, (char)test_random_below(seed, 32));
        else if (kind == CR_ONLY)
            vcm_buf_append_string(text, "\r\r\n\r");
        else
            add_word(text, seed);
    }
    if (kind == CRLF)
        vcm_buf_append_string(text, "\r\n");
    else if (kind == SOURCE || kind == NEWLINES || (kind == EMOJI && words < 4))
        vcm_buf_append_byte(text, '\n');
}

static void make_text(struct vcm_buf *text, enum kind kind, unsigned lines, uint64_t *seed)
{
    vcm_buf_clear(text);
    for (unsigned i = 0; i < lines; i++)
        add_line(text, kind, seed);
    if (kind == ONE_LINE)
        vcm_buf_append_byte(text, '\n');
    assert_int_equal(text->fault, VCM_BUF_FINE);
}

static void parts_are_within_the_budget_and_make_the_text_again(void **state)
{
    static const unsigned budgets[] = {64, 65, 100, 257, 800, 4096, 5000};
    struct vcm_buf text = VCM_BUF_INIT(4 * VCM_MIB);
    uint64_t seed = 20250101;
    unsigned parts = 0;

    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned round = 0; round < 2; round++)
        for (enum kind kind = SOURCE; kind < KINDS; kind++)
            for (unsigned b = 0; b < sizeof budgets / sizeof budgets[0]; b++) {
                struct outcome *outcome = *state;
                make_text(&text, kind,
                          test_random_below(&seed, 3000) >> test_random_below(&seed, 8), &seed);
                assert_int_equal(split(outcome, "dir/file.c", vcm_buf_slice(&text), budgets[b]),
                                 VCM_OK);
                assert_whole(outcome, vcm_buf_slice(&text));
                parts += outcome->parts;
            }
    assert_true(parts > 3000);
    vcm_buf_release(&text);
}

static void a_text_that_fits_is_one_part(void **state)
{
    struct outcome *outcome = *state;

    assert_int_equal(split(outcome, "a", vcm_slice_of_string("x\ny"), 64), VCM_OK);
    assert_int_equal(outcome->parts, 1);
    assert_int_equal(outcome->records[0].start_line, 1);
    assert_int_equal(outcome->records[0].end_line, 2);
}

static void an_empty_text_is_one_part_of_no_lines(void **state)
{
    struct outcome *outcome = *state;

    assert_int_equal(split(outcome, "a", vcm_slice_of("", 0), 64), VCM_OK);
    assert_int_equal(outcome->parts, 1);
    assert_int_equal(outcome->records[0].start_line, 0);
    assert_int_equal(outcome->records[0].end_line, 0);
}

static void parts_of_one_line_share_its_number(void **state)
{
    struct outcome *outcome = *state;
    char text[1200];

    memset(text, 'x', sizeof text);
    text[3] = '\n';
    text[1190] = '\n';
    assert_int_equal(split(outcome, "a", vcm_slice_of(text, sizeof text), 64), VCM_OK);
    assert_true(outcome->parts > 4);
    assert_int_equal(outcome->records[2].start_line, 2);
    assert_int_equal(outcome->records[2].end_line, 2);
    assert_int_equal(outcome->records[outcome->parts - 1].end_line, 3);
}

/* A text of numbered lines in which one blank line is followed by column 0. */
static void a_blank_line_before_column_0_is_preferred(void **state)
{
    struct outcome *outcome = *state;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);
    size_t natural = 0;

    for (unsigned i = 0; i < 40; i++) {
        if (i == 18) {
            vcm_buf_append_string(&text, "\n");
            natural = text.len;
            vcm_buf_append_string(&text, "static int next(void)\n");
        } else {
            vcm_buf_append_format(&text, "    statement(%u);\n", i);
        }
    }
    /* 64 and more tokens of 4 bytes: the window of the first part is lines 12 to 24 or so. */
    assert_int_equal(split(outcome, "a.c", vcm_buf_slice(&text), 150), VCM_OK);
    assert_whole(outcome, vcm_buf_slice(&text));
    assert_int_equal(outcome->ends[0], natural);
    vcm_buf_release(&text);
}

static void a_line_end_is_preferred_to_a_place_inside_a_line(void **state)
{
    struct outcome *outcome = *state;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);

    for (unsigned i = 0; i < 60; i++)
        vcm_buf_append_format(&text, "  some words of line %u\n", i);
    assert_int_equal(split(outcome, "a.c", vcm_buf_slice(&text), 100), VCM_OK);
    for (unsigned i = 0; i < outcome->parts; i++)
        assert_int_equal(outcome->text.data[outcome->ends[i] - 1], '\n');
    vcm_buf_release(&text);
}

static void a_path_that_leaves_no_room_is_unsupported(void **state)
{
    struct outcome *outcome = *state;
    char path[260];

    memset(path, 'p', sizeof path);
    path[259] = '\0';
    assert_int_equal(split(outcome, path, vcm_slice_of_string("text"), 64), VCM_UNSUPPORTED);
    assert_int_equal(split(outcome, path, vcm_slice_of("", 0), 64), VCM_UNSUPPORTED);
    assert_int_equal(outcome->parts, 0);
}

/* 64 tokens are 256 bytes; {"path":"","text":""} takes 21 of them. */
static void one_character_that_just_fits_is_enough(void **state)
{
    struct outcome *outcome = *state;
    char path[240];

    memset(path, 'p', sizeof path);
    path[234] = '\0';
    assert_int_equal(split(outcome, path, vcm_slice_of_string("abc"), 64), VCM_OK);
    assert_int_equal(outcome->parts, 3);
    assert_int_equal(split(outcome, path, vcm_slice_of_string("a\xc3\xb6"), 64), VCM_UNSUPPORTED);
    path[233] = '\0';
    assert_int_equal(split(outcome, path, vcm_slice_of_string("a\xc3\xb6"), 64), VCM_OK);
    assert_int_equal(outcome->parts, 2);
}

/* A path whose record takes exactly `tokens` without any text. */
static void make_path(char *path, size_t size, uint32_t tokens)
{
    struct vcm_buf value = VCM_BUF_INIT(64 * VCM_KIB);
    size_t len = 0;

    do {
        assert_true(len + 2 < size);
        path[len] = len % 3 == 2 ? '/' : (char)('a' + len * 7 % 26);
        path[++len] = '\0';
        vcm_buf_clear(&value);
        vcm_buf_append_string(&value, "{\"path\":\"");
        vcm_buf_append_string(&value, path);
        vcm_buf_append_string(&value, "\",\"text\":\"\"}");
    } while (vcm_tokenizer_count(tokenizer, vcm_buf_slice(&value)) < tokens);
    vcm_buf_release(&value);
}

static void the_same_content_is_cut_at_the_same_offsets_whatever_it_is_called(void **state)
{
    enum { BUDGET = 500 };
    struct outcome *outcome = *state;
    struct vcm_buf text = VCM_BUF_INIT(4 * VCM_MIB);
    char full[4096];
    const char *const names[] = {"a",    "a/much/longer/name/of/the/same/content.c",
                                 "x)",   "y 1",
                                 "\"",   "e\xcc\x81",
                                 "'s/T", "\\",
                                 full};
    uint64_t seed = 77;

    make_path(full, sizeof full, VCM_SPLIT_PATH_TOKENS(BUDGET));
    for (enum kind kind = SOURCE; kind < KINDS; kind++) {
        size_t ends[PARTS_MAX];
        make_text(&text, kind, 3000, &seed);
        assert_int_equal(split(outcome, "a", vcm_buf_slice(&text), BUDGET), VCM_OK);
        unsigned parts = outcome->parts;
        memcpy(ends, outcome->ends, sizeof ends);
        for (size_t i = 1; i < sizeof names / sizeof names[0]; i++) {
            assert_int_equal(split(outcome, names[i], vcm_buf_slice(&text), BUDGET), VCM_OK);
            assert_int_equal(outcome->parts, parts);
            assert_memory_equal(outcome->ends, ends, parts * sizeof ends[0]);
        }
    }
    vcm_buf_release(&text);
}

static void a_path_beyond_its_share_adds_cuts_and_moves_none(void **state)
{
    enum { BUDGET = 500 };
    struct outcome *outcome = *state;
    struct vcm_buf text = VCM_BUF_INIT(4 * VCM_MIB);
    char path[8192];
    uint64_t seed = 78;
    unsigned added = 0;

    for (uint32_t tokens = 60; tokens < BUDGET - 20; tokens += 180)
        for (enum kind kind = SOURCE; kind < KINDS; kind++) {
            size_t ends[PARTS_MAX];
            make_path(path, sizeof path, tokens);
            make_text(&text, kind, 600, &seed);
            assert_int_equal(split(outcome, "a", vcm_buf_slice(&text), BUDGET), VCM_OK);
            unsigned parts = outcome->parts, found = 0;
            memcpy(ends, outcome->ends, sizeof ends);
            assert_int_equal(split(outcome, path, vcm_buf_slice(&text), BUDGET), VCM_OK);
            assert_whole(outcome, vcm_buf_slice(&text));
            added += outcome->parts > parts;
            for (unsigned i = 0; i < outcome->parts; i++)
                found += outcome->ends[i] == ends[found];
            assert_int_equal(found, parts);
        }
    assert_true(added > 2 * KINDS);
    vcm_buf_release(&text);
}

/* How many parts of the second split are not parts of the first. */
static unsigned changed_parts(const struct outcome *before, const struct outcome *after)
{
    unsigned changed = 0;

    for (unsigned i = 0; i < after->parts; i++) {
        size_t start = i > 0 ? after->ends[i - 1] : 0;
        struct vcm_slice part = vcm_slice_of(after->text.data + start, after->ends[i] - start);
        bool found = false;
        for (unsigned k = 0; k < before->parts && !found; k++) {
            size_t from = k > 0 ? before->ends[k - 1] : 0;
            found = vcm_slice_equal(part,
                                    vcm_slice_of(before->text.data + from, before->ends[k] - from));
        }
        changed += !found;
    }
    return changed;
}

/* Inserts something behind a character `place` of a text, many times. */
static void insert_somewhere(struct outcome *before, enum kind kind, const char *inserted,
                             char place, unsigned mean_percent, unsigned most_allowed)
{
    enum { TRIALS = 40, LINES = 2500, BUDGET = 400 };
    struct outcome *after = calloc(1, sizeof *after);
    struct vcm_buf text = VCM_BUF_INIT(4 * VCM_MIB), edited = VCM_BUF_INIT(4 * VCM_MIB);
    uint64_t seed = 99;
    unsigned sum = 0, most = 0;

    assert_non_null(after);
    vcm_buf_init(&after->text, 8 * VCM_MIB);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        make_text(&text, kind, LINES, &seed);
        size_t at = test_random_below(&seed, (unsigned)text.len);
        while (at > 0 && text.data[at - 1] != place)
            at--;
        vcm_buf_clear(&edited);
        vcm_buf_append(&edited, text.data, at);
        vcm_buf_append_string(&edited, inserted);
        vcm_buf_append(&edited, text.data + at, text.len - at);
        assert_int_equal(split(before, "a.c", vcm_buf_slice(&text), BUDGET), VCM_OK);
        assert_int_equal(split(after, "a.c", vcm_buf_slice(&edited), BUDGET), VCM_OK);
        assert_true(after->parts > 60);
        unsigned changed = changed_parts(before, after);
        sum += changed;
        most = changed > most ? changed : most;
    }
    print_message("seed 99, parts changed: mean %.2f, most %u\n", (double)sum / TRIALS, most);
    assert_true(100 * sum <= mean_percent * TRIALS);
    assert_true(most <= most_allowed);
    vcm_buf_release(&after->text);
    vcm_buf_release(&text);
    vcm_buf_release(&edited);
    free(after);
}

static void an_inserted_line_changes_few_parts(void **state)
{
    insert_somewhere(*state, SOURCE, "    one more line;\n", '\n', 130, 3);
}

static void a_word_inserted_in_an_endless_line_changes_few_parts(void **state)
{
    insert_somewhere(*state, ONE_LINE, "more ", ' ', 150, 5);
}

static int refuse(void *context, struct vcm_slice value, const struct vcm_page_record *record,
                  struct vcm_error *err)
{
    (void)value;
    (void)record;
    ++*(unsigned *)context;
    return vcm_error_set(err, VCM_STORE_FULL, "no more");
}

static void a_refused_part_ends_the_split(void **state)
{
    struct vcm_split_options options = {.tokenizer = tokenizer, .token_budget = 64};
    struct vcm_error err = {0};
    char text[2000];
    unsigned calls = 0;

    (void)state;
    memset(text, 'x', sizeof text);
    struct vcm_split *splitter;
    assert_int_equal(vcm_split_open(&splitter, &options, &err), VCM_OK);
    assert_int_equal(vcm_split_text(splitter, vcm_slice_of_string("a"),
                                    vcm_slice_of(text, sizeof text), refuse, &calls, &err),
                     VCM_STORE_FULL);
    vcm_split_close(splitter);
    assert_int_equal(calls, 1);
}

#define SPLIT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SPLIT_TEST(parts_are_within_the_budget_and_make_the_text_again),
        SPLIT_TEST(a_text_that_fits_is_one_part),
        SPLIT_TEST(an_empty_text_is_one_part_of_no_lines),
        SPLIT_TEST(parts_of_one_line_share_its_number),
        SPLIT_TEST(a_blank_line_before_column_0_is_preferred),
        SPLIT_TEST(a_line_end_is_preferred_to_a_place_inside_a_line),
        SPLIT_TEST(a_path_that_leaves_no_room_is_unsupported),
        SPLIT_TEST(one_character_that_just_fits_is_enough),
        SPLIT_TEST(the_same_content_is_cut_at_the_same_offsets_whatever_it_is_called),
        SPLIT_TEST(a_path_beyond_its_share_adds_cuts_and_moves_none),
        SPLIT_TEST(an_inserted_line_changes_few_parts),
        SPLIT_TEST(a_word_inserted_in_an_endless_line_changes_few_parts),
        SPLIT_TEST(a_refused_part_ends_the_split),
    };
    const struct CMUnitTest exact_tests[] = {
        SPLIT_TEST(parts_are_within_the_budget_and_make_the_text_again),
        SPLIT_TEST(a_text_that_fits_is_one_part),
        SPLIT_TEST(an_empty_text_is_one_part_of_no_lines),
        SPLIT_TEST(a_line_end_is_preferred_to_a_place_inside_a_line),
        SPLIT_TEST(the_same_content_is_cut_at_the_same_offsets_whatever_it_is_called),
        SPLIT_TEST(a_path_beyond_its_share_adds_cuts_and_moves_none),
        SPLIT_TEST(an_inserted_line_changes_few_parts),
        SPLIT_TEST(a_word_inserted_in_an_endless_line_changes_few_parts),
    };
    if (vcm_tokenizer_open(&tokenizer, "approx4", NULL) != VCM_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    vcm_tokenizer_close(tokenizer);
    if (vcm_tokenizer_open(&tokenizer, "o200k_base", NULL) != VCM_OK)
        return 1;
    failed += cmocka_run_group_tests(exact_tests, NULL, NULL);
    vcm_tokenizer_close(tokenizer);
    if (vcm_tokenizer_open(&tokenizer, "cl100k_base", NULL) != VCM_OK)
        return 1;
    failed += cmocka_run_group_tests(exact_tests, NULL, NULL);
    vcm_tokenizer_close(tokenizer);
    return failed;
}
