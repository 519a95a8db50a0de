/*
 * What reading and cutting a document costs grows as its size does, whatever it holds.
 *
 * The sources under test are compiled into this program once more, so that each of their basic
 * blocks, and each byte that they search, is counted: steps, not time. VCM_TEST_LONG=1 tries every
 * text in every format, at a larger size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "kb/chunker.h"
#include "kb/reader.h"

#include "base/banned.h"

#define TIMES  4 /* the second text is so many times as long as the first */
#define EXCESS 2 /* and may cost so many times more than that */

static uint64_t steps;
static struct vcm_tokenizer *tokenizer;

void __sanitizer_cov_trace_pc(void);
void *counted_memchr(const void *data, int byte, size_t len);

void __sanitizer_cov_trace_pc(void)
{
    steps++;
}

/* In the place of memchr() in the sources under test. */
void *counted_memchr(const void *data, int byte, size_t len)
{
    void *found = memchr(data, byte, len);

    steps += found ? (size_t)((const char *)found - (const char *)data) : len;
    return found;
}

/* A text is `begin`, then `again` as often as fits, then `end`. */
struct text {
    const char *begin, *again, *end;
};

static const struct text texts[] = {
    {"", "- \n", ""},
    {"# ", "](", "\n"},
    {"# ", "![", "](\n"},
    {"", "a", ""},
    {"", " ", "a"},
    {"", "\n", "a"},
    {"", "a. ", ""},
    {"", "a.", " B"},
    {"", ". ", ""},
    {"", "A. ", ""},
    {"", "# a\n", ""},
    {"", "a\n=\n", ""},
    {"", "a\n-\n\n", ""},
    {"", "```\n", ""},
    {"", "`", "\n"},
    {"", "> ", "a"},
    {"", "* a\n", ""},
    {"", "1. a\n", ""},
    {"", "|a|b|\n", ""},
    {"", "    a\n", ""},
    {"", "\t", "a"},
    {"---\n", "a: b\n", ""},
    {"", "[a](b) ", ""},
    {"", "<p>a", ""},
    {"", "<", ""},
    {"", "<!--", ""},
    {"", "<h1>", ""},
    {"", "<h1>a</h1>", ""},
    {"", "<script>", ""},
    {"", "</p>", ""},
    {"", "&amp", ""},
    {"", "&#", ""},
    {"", "<a b='", ""},
    {"", "<div>", "a"},
    {"", "<ul><li>", "a"},
    {"", "<pre>\n", ""},
    {"", "\xe3\x80\x82", ""},
    {"", "a\n=====\n", ""},
    {"", "=\na\n=\n", ""},
    {"", ".. a\n", ""},
    {"", "::\n\n  a\n\n", ""},
    {"", "!?", " "},
    {"", "\")", " "},
    {"", "a b", ""},
    {"", "e.g. a ", ""},
    {"", "\r", "a"},
    {"", "\xff", ""},
    {"", "\\", ""},
    {"# ", "\\[", "\n"},
    {"# ", "{#", "\n"},
    {"", "<td>a<tr>", ""},
    {"<style>", "</styl", ""},
    {"<title>", "</titl", "e"},
    {"", "<![CDATA[", ""},
};

static const enum vcm_reader_type types[] = {VCM_READER_TEXT, VCM_READER_MARKDOWN, VCM_READER_RST,
                                             VCM_READER_HTML};

static int drop(void *context, const struct vcm_chunker_chunk *chunk, struct vcm_error *err)
{
    (void)context;
    (void)chunk;
    (void)err;
    return VCM_OK;
}

static uint64_t cost(const struct text *text, enum vcm_reader_type type, size_t size)
{
    const struct vcm_chunker_options options = {
        .tokenizer = tokenizer, .target_tokens = 800, .overlap_tokens = 80, .token_budget = 4096};
    struct vcm_buf bytes = VCM_BUF_INIT(2 * size + VCM_KIB);
    struct vcm_document document;
    struct vcm_error err = {0};

    vcm_buf_append_string(&bytes, text->begin);
    while (bytes.len < size)
        vcm_buf_append_string(&bytes, text->again);
    vcm_buf_append_string(&bytes, text->end);
    vcm_document_init(&document);
    steps = 0;
    if (vcm_reader_read(&document, type, vcm_buf_slice(&bytes), &err) == VCM_OK)
        vcm_chunker_run(&document, vcm_slice_of_string("a"), &options, drop, NULL, &err);
    vcm_document_release(&document);
    vcm_buf_release(&bytes);
    return steps;
}

static void check(const struct text *text, enum vcm_reader_type type, size_t size)
{
    uint64_t small = cost(text, type, size), large = cost(text, type, TIMES * size);

    assert_true(small > 0);
    if (large > EXCESS * TIMES * small)
        fail_msg("\"%s\" again and again, as %s: %llu steps for %zu bytes, %llu for %zu",
                 text->again, vcm_reader_type_name(type), (unsigned long long)small, size,
                 (unsigned long long)large, TIMES * size);
}

static void a_document_costs_as_much_as_it_is_long(void **state)
{
    bool is_long = getenv("VCM_TEST_LONG") != NULL;
    size_t count = is_long ? sizeof texts / sizeof texts[0] : 2;

    (void)state;
    assert_int_equal(vcm_tokenizer_open(&tokenizer, "approx4", NULL), VCM_OK);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < sizeof types / sizeof types[0]; j++)
            if (is_long || types[j] == VCM_READER_MARKDOWN)
                check(&texts[i], types[j], is_long ? 512 * VCM_KIB : 128 * VCM_KIB);
    vcm_tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_costs_as_much_as_it_is_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
