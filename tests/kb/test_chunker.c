#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "kb/chunker.h"
#include "kb/prose.h"
#include "tests/support/random.h"

#include "base/banned.h"

#define CHUNKS_MAX 4096

struct piece {
    size_t offset, len, overlap;
    uint32_t tokens, page;
    char section[600];
    unsigned char id[VCM_CHUNKER_ID_BYTES];
};

struct result {
    struct piece pieces[CHUNKS_MAX];
    size_t count;
    const struct vcm_tokenizer *tokenizer;
    struct vcm_slice path;
};

static int keep(void *context, const struct vcm_chunker_chunk *chunk, struct vcm_error *err)
{
    struct result *result = context;
    struct vcm_buf value = VCM_BUF_INIT(64 * VCM_MIB);
    unsigned char digest[VCM_HASH_SHA256_BYTES];

    (void)err;
    assert_true(result->count < CHUNKS_MAX);
    struct piece *piece = &result->pieces[result->count++];
    piece->offset = chunk->offset;
    piece->len = chunk->text.len;
    piece->overlap = chunk->overlap;
    piece->tokens = chunk->tokens;
    piece->page = chunk->page;
    memcpy(piece->id, chunk->id, sizeof piece->id);
    snprintf(piece->section, sizeof piece->section, "%.*s", (int)chunk->section.len,
             chunk->section.len > 0 ? chunk->section.data : "");
    vcm_chunker_serialise(&value, result->path, chunk->section, chunk->page, chunk->text);
    assert_true(vcm_slice_equal(vcm_buf_slice(&value), chunk->value));
    assert_int_equal(vcm_tokenizer_count(result->tokenizer, vcm_buf_slice(&value)), chunk->tokens);
    vcm_hash_sha256_of(digest, vcm_buf_slice(&value));
    assert_memory_equal(digest, chunk->id, sizeof chunk->id);
    vcm_buf_release(&value);
    return VCM_OK;
}

static int run(struct result *result, const struct vcm_document *document,
               const struct vcm_chunker_options *options)
{
    result->count = 0;
    result->tokenizer = options->tokenizer;
    result->path = vcm_slice_of_string("docs/a paper.md");
    return vcm_chunker_run(document, result->path, options, keep, result, NULL);
}

static struct vcm_tokenizer *open_tokenizer(const char *name)
{
    struct vcm_tokenizer *tokenizer;
    assert_int_equal(vcm_tokenizer_open(&tokenizer, name, NULL), VCM_OK);
    return tokenizer;
}

static void add_text(struct vcm_document *document, const char *text)
{
    vcm_buf_append_string(&document->text, text);
}

static void add_heading(struct vcm_document *document, unsigned level, const char *title)
{
    size_t offset = document->text.len;

    vcm_buf_append_string(&document->text, title);
    vcm_buf_append_string(&document->text, "\n\n");
    assert_int_equal(vcm_document_add_heading(document, level, offset, document->text.len,
                                              vcm_slice_of_string(title), NULL),
                     VCM_OK);
}

static void assert_piece(const struct vcm_document *document, const struct piece *piece,
                         const char *text)
{
    assert_int_equal(piece->len, strlen(text));
    assert_memory_equal(document->text.data + piece->offset, text, piece->len);
}

static void chunks_follow_headings_and_know_their_section(void **state)
{
    struct result *result = *state;
    struct vcm_tokenizer *tokenizer = open_tokenizer("o200k_base");
    struct vcm_chunker_options options = {tokenizer, 800, 80, 4096};
    struct vcm_document document;

    vcm_document_init(&document);
    add_text(&document, "Before all.\n\n");
    add_heading(&document, 1, "Title");
    add_heading(&document, 2, "Intro");
    add_text(&document, "Some words.\n\nMore words.\n\n");
    add_heading(&document, 2, "End");
    add_text(&document, "Last words.\n");
    assert_int_equal(run(result, &document, &options), VCM_OK);
    assert_int_equal(result->count, 3);
    assert_piece(&document, &result->pieces[0], "Before all.\n\n");
    assert_string_equal(result->pieces[0].section, "");
    assert_piece(&document, &result->pieces[1], "Title\n\nIntro\n\nSome words.\n\nMore words.\n\n");
    assert_string_equal(result->pieces[1].section, "Title > Intro");
    assert_piece(&document, &result->pieces[2], "End\n\nLast words.\n");
    assert_string_equal(result->pieces[2].section, "Title > End");
    assert_int_equal(result->pieces[2].overlap, 0);
    vcm_document_release(&document);
    vcm_tokenizer_close(tokenizer);
}

static void a_long_paragraph_is_cut_at_sentences_and_repeats_whole_ones(void **state)
{
    struct result *result = *state;
    struct vcm_tokenizer *tokenizer = open_tokenizer("o200k_base");
    struct vcm_chunker_options options = {tokenizer, 60, 14, 4096};
    struct vcm_document document;

    vcm_document_init(&document);
    for (int i = 0; i < 12; i++)
        add_text(&document, "This is a sentence of ten words or so. ");
    assert_int_equal(run(result, &document, &options), VCM_OK);
    assert_true(result->count > 3);
    for (size_t i = 1; i < result->count; i++) {
        assert_int_equal(result->pieces[i].overlap, 39);
        assert_memory_equal(document.text.data + result->pieces[i].offset, "This", 4);
    }
    options.overlap_tokens = 5;
    assert_int_equal(run(result, &document, &options), VCM_OK);
    for (size_t i = 1; i < result->count; i++)
        assert_int_equal(result->pieces[i].overlap, 0);
    vcm_document_release(&document);
    vcm_tokenizer_close(tokenizer);
}

static void a_tail_is_neither_lost_nor_repeated_alone(void **state)
{
    struct result *result = *state;
    struct vcm_tokenizer *tokenizer = open_tokenizer("o200k_base");
    struct vcm_chunker_options options = {tokenizer, 60, 20, 4096};
    struct vcm_document document;

    vcm_document_init(&document);
    for (int i = 0; i < 8; i++)
        add_text(&document, "A paragraph of some ten words that says nothing new.\n\n");
    add_text(&document, "x\n");
    assert_int_equal(run(result, &document, &options), VCM_OK);
    for (size_t i = 0; i < result->count; i++)
        assert_true(result->pieces[i].len > result->pieces[i].overlap);
    const struct piece *last = &result->pieces[result->count - 1];
    assert_int_equal(last->offset + last->len, document.text.len);
    vcm_document_release(&document);
    vcm_tokenizer_close(tokenizer);
}

static void a_word_longer_than_a_chunk_is_cut_between_characters(void **state)
{
    struct result *result = *state;
    struct vcm_tokenizer *tokenizer = open_tokenizer("o200k_base");
    struct vcm_chunker_options options = {tokenizer, 40, 10, 4096};
    struct vcm_document document;

    vcm_document_init(&document);
    add_text(&document, "short ");
    for (int i = 0; i < 400; i++)
        add_text(&document, "äß漢");
    add_text(&document, " tail words");
    assert_int_equal(run(result, &document, &options), VCM_OK);
    assert_true(result->count > 5);
    assert_piece(&document, &result->pieces[0], "short ");
    for (size_t i = 0; i < result->count; i++)
        assert_true(vcm_utf8_valid(
            vcm_slice_of(document.text.data + result->pieces[i].offset, result->pieces[i].len)));
    vcm_document_release(&document);
    vcm_tokenizer_close(tokenizer);
}

static void a_path_that_leaves_no_room_is_refused(void **state)
{
    struct result *result = *state;
    struct vcm_tokenizer *tokenizer = open_tokenizer("o200k_base");
    struct vcm_chunker_options options = {tokenizer, 8, 2, 4096};
    struct vcm_document document;

    vcm_document_init(&document);
    add_text(&document, "text");
    assert_int_equal(run(result, &document, &options), VCM_UNSUPPORTED);
    assert_int_equal(result->count, 0);
    options.target_tokens = 800;
    options.token_budget = 8;
    assert_int_equal(run(result, &document, &options), VCM_UNSUPPORTED);
    vcm_document_release(&document);
    vcm_tokenizer_close(tokenizer);
}

static void a_section_that_leaves_no_room_loses_its_outer_headings(void **state)
{
    struct result *result = *state;
    struct vcm_tokenizer *tokenizer = open_tokenizer("o200k_base");
    struct vcm_chunker_options options = {tokenizer, 48, 0, 4096};
    struct vcm_document document;

    vcm_document_init(&document);
    add_heading(&document, 1,
                "A very long title with a great many words in it, so many that nothing else has "
                "any room beside it in a chunk, whatever it is and whatever anybody does");
    add_heading(&document, 2, "Short");
    add_text(&document, "Words.");
    assert_int_equal(run(result, &document, &options), VCM_OK);
    assert_string_equal(result->pieces[result->count - 1].section, "Short");
    vcm_document_release(&document);
    vcm_tokenizer_close(tokenizer);
}

static const char *const words[] = {
    "a",       "the",        "Chunk",  "page.",        "ends.", "Fig.",    "why?",
    "\"No!\"", "été",        "漢字",   "日本語です。", "x=1;",  "\\begin", "\t",
    "e.g.",    "Then",       "\x01",   "2.5",          "(see",  "below).", "🙂",
    "don't",   "supercalif", "- item", "\n- ",         "\r\n",  "|",       "\n    co",
    "...",     "U.S.A.",     "Ω",      "word"};

static void add_random_text(struct vcm_document *document, uint64_t *seed)
{
    unsigned paragraphs = test_random_below(seed, 6);

    for (unsigned p = 0; p < paragraphs; p++) {
        unsigned count = 1 + test_random_below(seed, test_random_below(seed, 8) == 0 ? 400 : 60);
        for (unsigned w = 0; w < count; w++) {
            add_text(document, words[test_random_below(seed, sizeof words / sizeof words[0])]);
            if (test_random_below(seed, 60) == 0)
                for (unsigned n = test_random_below(seed, 300); n > 0; n--)
                    add_text(document, "zq");
            if (test_random_below(seed, 30) != 0)
                add_text(document, test_random_below(seed, 9) == 0 ? "\n" : " ");
        }
        add_text(document, test_random_below(seed, 5) == 0 ? "\r\n \r\n" : "\n\n");
    }
}

static void make_random_document(struct vcm_document *document, uint64_t *seed)
{
    static const char *const titles[] = {"One", "Two \"2\"", "Ünïcode",
                                         "A longer title of a section"};
    unsigned sections = test_random_below(seed, 8);
    bool paged = test_random_below(seed, 2) == 0;

    vcm_document_init(document);
    for (unsigned i = 0; i <= sections; i++) {
        if (i > 0)
            add_heading(document, 1 + test_random_below(seed, 4),
                        titles[test_random_below(seed, 4)]);
        if (paged)
            assert_int_equal(vcm_document_add_page(document, document->text.len, 1 + i, NULL),
                             VCM_OK);
        add_random_text(document, seed);
    }
}

/* Whether a sentence, or the text itself, begins at this place of a chunk. */
static bool begins_sentence(const struct vcm_document *document, const struct piece *before,
                            size_t place)
{
    size_t end = before->offset + before->len;

    for (size_t at = before->offset; at < end;) {
        size_t paragraph = vcm_prose_paragraph_end(document->text.data, at, document->text.len);
        for (; at < paragraph && at < end;
             at = vcm_prose_sentence_end(document->text.data, at, paragraph)) {
            if (at == place)
                return true;
        }
    }
    for (size_t i = 0; i < document->heading_count; i++) {
        if (document->headings[i].offset == place || document->headings[i].end == place)
            return true;
    }
    return false;
}

static bool is_blank(const struct vcm_document *document, size_t begin, size_t end)
{
    while (begin < end && strchr(" \n\r\t", document->text.data[begin]))
        begin++;
    return begin == end;
}

/* No heading is inside a chunk unless only headings stand before it; the chunk's section is the
 * path of its last heading, or the end of that. */
static void check_section(const struct vcm_document *document, const struct piece *piece)
{
    const struct vcm_document_heading *stack[8] = {NULL};
    size_t own = piece->offset + piece->overlap;
    char path[600] = "";
    size_t used = 0;

    for (size_t h = 0; h < document->heading_count; h++) {
        const struct vcm_document_heading *heading = &document->headings[h];
        bool joined = is_blank(document, h > 0 ? heading[-1].end : 0, heading->offset) &&
                      (h == 0 || heading[-1].level < heading->level);
        if (heading->offset >= piece->offset + piece->len && !joined)
            break;
        assert_true(heading->offset <= own || joined);
        stack[heading->level] = heading;
        for (size_t deeper = heading->level + 1; deeper < 8; deeper++)
            stack[deeper] = NULL;
    }
    for (size_t i = 0; i < 8; i++) {
        if (stack[i])
            used += (size_t)snprintf(path + used, sizeof path - used, "%s%s", used ? " > " : "",
                                     stack[i]->title.data);
    }
    assert_true(used >= strlen(piece->section));
    assert_string_equal(path + used - strlen(piece->section), piece->section);
}

static void check_pieces(const struct result *result, const struct vcm_document *document,
                         const struct vcm_chunker_options *options)
{
    size_t limit = options->target_tokens < options->token_budget ? options->target_tokens
                                                                  : options->token_budget;
    size_t at = 0;

    for (size_t i = 0; i < result->count; i++) {
        const struct piece *piece = &result->pieces[i];
        size_t own = piece->offset + piece->overlap;
        assert_true(piece->tokens <= limit);
        assert_int_equal(own, at);
        assert_true(piece->len > piece->overlap);
        assert_int_equal(piece->page, vcm_document_page_at(document, piece->offset));
        if (piece->overlap > 0) {
            struct vcm_slice overlap =
                vcm_slice_of(document->text.data + piece->offset, piece->overlap);
            assert_true(vcm_tokenizer_count(options->tokenizer, overlap) <=
                        options->overlap_tokens);
            assert_string_equal(piece->section, piece[-1].section);
            assert_true(piece->offset >= piece[-1].offset);
            assert_true(begins_sentence(document, &piece[-1], piece->offset));
        }
        check_section(document, piece);
        at = piece->offset + piece->len;
    }
    assert_int_equal(at, document->text.len);
}

static void generated_documents_come_back_exactly_and_within_the_target(void **state)
{
    struct result *result = *state;
    static const char *const encodings[] = {"o200k_base", "cl100k_base", "approx4"};

    for (uint64_t first = 1; first <= 150; first++) {
        uint64_t seed = first;
        struct vcm_tokenizer *tokenizer = open_tokenizer(encodings[first % 3]);
        struct vcm_chunker_options options = {tokenizer, 40 + test_random_below(&seed, 300), 0,
                                              64 + test_random_below(&seed, 400)};
        struct vcm_document document;

        options.overlap_tokens = test_random_below(&seed, options.target_tokens);
        if (test_random_below(&seed, 2) == 0)
            options.overlap_tokens /= 8;
        make_random_document(&document, &seed);
        print_message("seed %u\n", (unsigned)first);
        assert_int_equal(run(result, &document, &options), VCM_OK);
        check_pieces(result, &document, &options);
        vcm_document_release(&document);
        vcm_tokenizer_close(tokenizer);
    }
}

static void the_same_text_has_the_same_ids(void **state)
{
    struct result *result = *state;
    struct vcm_tokenizer *tokenizer = open_tokenizer("o200k_base");
    struct vcm_chunker_options options = {tokenizer, 100, 20, 4096};
    static unsigned char ids[CHUNKS_MAX][VCM_CHUNKER_ID_BYTES];
    uint64_t seed = 77;
    struct vcm_document document;

    make_random_document(&document, &seed);
    add_heading(&document, 1, "Last");
    add_text(&document, "Changes.");
    assert_int_equal(run(result, &document, &options), VCM_OK);
    size_t count = result->count;
    for (size_t i = 0; i < count; i++)
        memcpy(ids[i], result->pieces[i].id, VCM_CHUNKER_ID_BYTES);
    add_text(&document, " It does.");
    assert_int_equal(run(result, &document, &options), VCM_OK);
    assert_int_equal(result->count, count);
    for (size_t i = 0; i + 1 < count; i++)
        assert_memory_equal(ids[i], result->pieces[i].id, VCM_CHUNKER_ID_BYTES);
    assert_memory_not_equal(ids[count - 1], result->pieces[count - 1].id, VCM_CHUNKER_ID_BYTES);
    vcm_document_release(&document);
    vcm_tokenizer_close(tokenizer);
}

static int open_result(void **state)
{
    *state = calloc(1, sizeof(struct result));
    return *state ? 0 : -1;
}

static int close_result(void **state)
{
    free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_follow_headings_and_know_their_section),
        cmocka_unit_test(a_long_paragraph_is_cut_at_sentences_and_repeats_whole_ones),
        cmocka_unit_test(a_tail_is_neither_lost_nor_repeated_alone),
        cmocka_unit_test(a_word_longer_than_a_chunk_is_cut_between_characters),
        cmocka_unit_test(a_path_that_leaves_no_room_is_refused),
        cmocka_unit_test(a_section_that_leaves_no_room_loses_its_outer_headings),
        cmocka_unit_test(generated_documents_come_back_exactly_and_within_the_target),
        cmocka_unit_test(the_same_text_has_the_same_ids),
    };
    return cmocka_run_group_tests(tests, open_result, close_result);
}
