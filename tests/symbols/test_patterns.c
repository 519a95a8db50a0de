/*
 * Patterns that are looked up by kind find what tree-sitter's own query finds, in the samples of
 * all languages, whole and damaged. VCM_TEST_SEED replays other damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <cmocka.h>

#include "base/limits.h"
#include "symbols/languages/language.h"
#include "symbols/parse_memory.h"
#include "symbols/patterns.h"
#include "tests/support/random.h"

#include "base/banned.h"

#define FINDS_MAX 20000u

/* A match as text: its pattern, and its captures in order. */
struct finds {
    char *items[FINDS_MAX];
    size_t count;
    const TSQuery *query; /* for names, or */
    const struct vcm_patterns *patterns;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void take(struct finds *finds, const TSQueryMatch *match, uint32_t pattern)
{
    char *captures[32], text[2048];
    size_t len = 0, count = match->capture_count;

    assert_true(count <= 32 && finds->count < FINDS_MAX);
    for (size_t i = 0; i < count; i++) {
        uint32_t id = match->captures[i].index, size = 0;
        TSNode node = match->captures[i].node;
        struct vcm_slice name = vcm_slice_of("", 0);
        if (finds->query) {
            const char *start = ts_query_capture_name_for_id(finds->query, id, &size);
            name = vcm_slice_of(start, size);
        } else {
            name = vcm_patterns_capture(finds->patterns, id);
        }
        assert_true(asprintf(&captures[i], " %.*s=%u-%u", (int)name.len, name.data,
                             ts_node_start_byte(node), ts_node_end_byte(node)) > 0);
    }
    qsort(captures, count, sizeof captures[0], by_text);
    len = (size_t)snprintf(text, sizeof text, "%u:", pattern);
    for (size_t i = 0; i < count; i++) {
        len += (size_t)snprintf(text + len, sizeof text - len, "%s", captures[i]);
        free(captures[i]);
    }
    finds->items[finds->count++] = strdup(text);
}

static bool take_own(void *context, const TSQueryMatch *match, const struct vcm_patterns_path *path)
{
    (void)path;
    take(context, match, match->pattern_index);
    return true;
}

static void put_in_order(struct finds *finds)
{
    size_t kept = 0;

    if (finds->count > 0)
        qsort(finds->items, finds->count, sizeof finds->items[0], by_text);
    for (size_t i = 0; i < finds->count; i++) {
        if (kept > 0 && strcmp(finds->items[kept - 1], finds->items[i]) == 0)
            free(finds->items[i]);
        else
            finds->items[kept++] = finds->items[i];
    }
    finds->count = kept;
}

static void release(struct finds *finds)
{
    for (size_t i = 0; i < finds->count; i++)
        free(finds->items[i]);
    finds->count = 0;
}

static size_t compared;

struct language {
    enum vcm_language language;
    TSQuery *query;
    struct vcm_patterns *patterns;
    bool *is_left;
    size_t own; /* patterns that are looked up */
};

static void open_language(struct language *out, enum vcm_language language)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB), rest = VCM_BUF_INIT(VCM_MIB);
    const struct vcm_language_descriptor *descriptor = vcm_language_get(language);
    TSQueryError fault;
    uint32_t at;

    for (size_t i = 0; i < VCM_LANGUAGES_QUERIES_MAX && descriptor->queries[i]; i++)
        vcm_buf_append_string(&text, descriptor->queries[i]);
    *out = (struct language){.language = language};
    out->query =
        ts_query_new(descriptor->grammar(), vcm_buf_text(&text), (uint32_t)text.len, &at, &fault);
    assert_non_null(out->query);
    assert_int_equal(vcm_patterns_open(&out->patterns, descriptor->grammar(),
                                       descriptor->tree.nested, vcm_buf_slice(&text), &rest, NULL),
                     VCM_OK);
    uint32_t count = ts_query_pattern_count(out->query), left = vcm_patterns_left(out->patterns);
    out->is_left = calloc(count + 1, sizeof *out->is_left);
    for (uint32_t i = 0; i < left; i++) {
        assert_true(vcm_patterns_place(out->patterns, i) < count);
        out->is_left[vcm_patterns_place(out->patterns, i)] = true;
    }
    assert_true((left == 0) == (rest.len == 0));
    out->own = count - left;
    vcm_buf_release(&text);
    vcm_buf_release(&rest);
}

static void close_language(struct language *language)
{
    if (language->query)
        ts_query_delete(language->query);
    vcm_patterns_close(language->patterns);
    free(language->is_left);
}

/* tree-sitter leaves out all but the first child in a field that several are in, where the grammar
 * repeats it: "const a, b = 1, 2" of Go. */
static bool is_one_more(const struct finds *theirs, const char *find)
{
    const char *mark = strrchr(find, '=');

    for (size_t i = 0; mark && i < theirs->count; i++)
        if (strncmp(theirs->items[i], find, (size_t)(mark + 1 - find)) == 0)
            return true;
    return false;
}

struct comparison {
    const struct language *language;
    struct vcm_slice text;
};

static void compare_in_memory(void *context)
{
    const struct comparison *comparison = context;
    const struct language *language = comparison->language;
    struct vcm_slice text = comparison->text;
    static struct finds theirs, ours;
    TSParser *parser = ts_parser_new();
    TSQueryCursor *cursor = ts_query_cursor_new();
    TSQueryMatch match;

    theirs = (struct finds){.query = language->query};
    ours = (struct finds){.patterns = language->patterns};
    assert_true(ts_parser_set_language(parser, vcm_language_get(language->language)->grammar()));
    TSTree *tree = ts_parser_parse_string(parser, NULL, text.data, (uint32_t)text.len);
    assert_non_null(tree);
    /* Without a limit it does not come to an end in some damaged files. */
    ts_query_cursor_set_match_limit(cursor, 64);
    ts_query_cursor_exec(cursor, language->query, ts_tree_root_node(tree));
    while (ts_query_cursor_next_match(cursor, &match))
        if (!language->is_left[match.pattern_index])
            take(&theirs, &match, match.pattern_index);
    assert_true(
        vcm_patterns_search(language->patterns, ts_tree_root_node(tree), 1000000, take_own, &ours));
    put_in_order(&theirs);
    put_in_order(&ours);
    bool whole = !ts_query_cursor_did_exceed_match_limit(cursor);
    compared += whole;
    size_t same = 0;
    for (size_t i = 0; whole && i < ours.count; i++) {
        if (same < theirs.count && strcmp(theirs.items[same], ours.items[i]) == 0)
            same++;
        else if (!is_one_more(&theirs, ours.items[i]))
            assert_string_equal(same < theirs.count ? theirs.items[same] : "", ours.items[i]);
    }
    if (whole)
        assert_int_equal(theirs.count, same);
    release(&theirs);
    release(&ours);
    ts_tree_delete(tree);
    ts_query_cursor_delete(cursor);
    ts_parser_delete(parser);
}

/* Some scanners lose memory; in work it goes with all else. */
static void compare(const struct language *language, struct vcm_slice text)
{
    struct vcm_parse_memory *memory = vcm_parse_memory_open(512 * VCM_MIB);
    struct comparison comparison = {language, text};

    assert_non_null(memory);
    assert_int_equal(vcm_parse_memory_run(memory, compare_in_memory, &comparison), VCM_PARSE_DONE);
    vcm_parse_memory_close(memory);
}

static void damage(struct vcm_buf *text, uint64_t *seed)
{
    for (unsigned i = 0; i < 1 + test_random_below(seed, 8); i++)
        text->data[test_random_below(seed, (unsigned)text->len)] =
            "(){}[]<>;:,.\"'`=#\n\t a1_\xc3"[test_random_below(seed, 24)];
    if (test_random_below(seed, 4) == 0)
        vcm_buf_truncate(text, 1 + test_random_below(seed, (unsigned)text->len - 1));
}

/* Making a query takes longer than all that is done with it. */
static struct language languages[VCM_LANGUAGES_COUNT];

static void compare_sample(const char *name, uint64_t *seed)
{
    enum vcm_language number = vcm_language_of_path(vcm_slice_of_string(name));
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB), copy = VCM_BUF_INIT(VCM_MIB);
    struct language *language = &languages[number];
    char path[1024];

    if (number == VCM_LANGUAGE_NONE || !vcm_language_get(number)->grammar)
        return;
    snprintf(path, sizeof path, "%s/%s", VCM_LANGUAGE_SAMPLES, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *room = vcm_buf_reserve(&text, 512 * VCM_KIB);
    vcm_buf_advance(&text, fread(room, 1, 512 * VCM_KIB, file));
    fclose(file);
    if (!language->query)
        open_language(language, number);
    assert_true(language->own > 0);
    compare(language, vcm_buf_slice(&text));
    for (unsigned i = 0; i < 6; i++) {
        vcm_buf_clear(&copy);
        vcm_buf_append_slice(&copy, vcm_buf_slice(&text));
        damage(&copy, seed);
        compare(language, vcm_buf_slice(&copy));
    }
    vcm_buf_release(&copy);
    vcm_buf_release(&text);
}

static void what_is_looked_up_by_kind_is_what_a_query_finds(void **state)
{
    const char *text = getenv("VCM_TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 10) : 5;
    DIR *directory = opendir(VCM_LANGUAGE_SAMPLES);
    size_t samples = 0;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)); samples++)
        if (entry->d_name[0] != '.' && !strstr(entry->d_name, ".expected"))
            compare_sample(entry->d_name, &seed);
    closedir(directory);
    for (unsigned i = 0; i < VCM_LANGUAGES_COUNT; i++)
        close_language(&languages[i]);
    assert_true(samples > 15 && compared > samples);
}

static void patterns_of_c_need_no_query(void **state)
{
    struct language language;

    (void)state;
    open_language(&language, VCM_LANGUAGE_C);
    assert_int_equal(vcm_patterns_left(language.patterns), 0);
    close_language(&language);
}

/* Parse memory */

struct churn {
    uint64_t seed;
    size_t rounds;
    bool finished;
};

static void churn(void *context)
{
    struct churn *churn = context;
    struct {
        unsigned char *at;
        size_t size;
        unsigned char mark;
    } pieces[64] = {{NULL, 0, 0}};

    for (size_t i = 0; i < churn->rounds; i++) {
        unsigned slot = test_random_below(&churn->seed, 64);
        size_t size = 1 + test_random_below(&churn->seed, i % 50 == 0 ? 300000 : 700);
        for (size_t j = 0; j < pieces[slot].size; j++)
            assert_int_equal(pieces[slot].at[j], pieces[slot].mark);
        unsigned what = test_random_below(&churn->seed, 3);
        if (what == 0) {
            vcm_parse_memory_free(pieces[slot].at);
            pieces[slot].at = vcm_parse_memory_calloc(1, size);
            for (size_t j = 0; j < size; j++)
                assert_int_equal(pieces[slot].at[j], 0);
        } else {
            size_t kept = size < pieces[slot].size ? size : pieces[slot].size;
            pieces[slot].at = vcm_parse_memory_realloc(pieces[slot].at, size);
            for (size_t j = 0; j < kept; j++)
                assert_int_equal(pieces[slot].at[j], pieces[slot].mark);
        }
        assert_int_equal((uintptr_t)pieces[slot].at % 16, 0);
        pieces[slot].size = size;
        pieces[slot].mark = (unsigned char)i;
        memset(pieces[slot].at, pieces[slot].mark, size);
    }
    churn->finished = true;
}

static void pieces_of_memory_do_not_overlap(void **state)
{
    struct vcm_parse_memory *memory = vcm_parse_memory_open(512 * VCM_MIB);
    struct churn work = {.seed = 8, .rounds = 3000};

    (void)state;
    assert_non_null(memory);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(vcm_parse_memory_run(memory, churn, &work), VCM_PARSE_DONE);
        vcm_parse_memory_reset(memory);
    }
    vcm_parse_memory_close(memory);
}

static void work_that_takes_too_much_is_left(void **state)
{
    struct vcm_parse_memory *memory = vcm_parse_memory_open(VCM_MIB);
    struct churn work = {.seed = 9, .rounds = 5000};

    (void)state;
    assert_int_equal(vcm_parse_memory_run(memory, churn, &work), VCM_PARSE_TOO_LARGE);
    assert_false(work.finished);
    vcm_parse_memory_reset(memory);
    work = (struct churn){.seed = 9, .rounds = 20};
    assert_int_equal(vcm_parse_memory_run(memory, churn, &work), VCM_PARSE_DONE);
    assert_true(work.finished);
    void *plain = vcm_parse_memory_malloc(10); /* outside of any work */
    assert_non_null(plain);
    vcm_parse_memory_free(vcm_parse_memory_realloc(plain, 100));
    vcm_parse_memory_close(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_looked_up_by_kind_is_what_a_query_finds),
        cmocka_unit_test(patterns_of_c_need_no_query),
        cmocka_unit_test(pieces_of_memory_do_not_overlap),
        cmocka_unit_test(work_that_takes_too_much_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
