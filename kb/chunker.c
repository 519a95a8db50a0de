#include "kb/chunker.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/jsonw.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "kb/prose.h"

#include "base/banned.h"

#define FEED_BYTES  ((size_t)4096) /* fed between two checks of the count's lower bound */
#define RECORD_TAIL "\"}"

/* How much of a chunk is left for text when its path and section use most of it. */
#define ROOM_SHARE 8

/*
 * The chunk that is being filled is text[from, at), of which [from, start) is the overlap. The
 * counter has been fed with the record up to `at`.
 */
struct chunker {
    const struct vcm_document *document;
    const char *text;
    struct vcm_slice path;
    const struct vcm_chunker_options *options;
    size_t limit; /* tokens of a record */
    vcm_chunker_fn emit;
    void *context;

    size_t section_end;
    size_t heading_end; /* end of the headings at the section's beginning */
    struct vcm_buf section;
    size_t levels[VCM_LIMIT_HEADING_LEVELS + 1]; /* index of the current heading, plus 1 */

    size_t from, start, at;
    bool begins_inside;   /* `start` is inside a sentence */
    bool ends_inside;     /* `at` is */
    bool by_sentences;    /* the paragraph around `at` is too long for this chunk and the next */
    size_t paragraph_end; /* of the paragraph and the sentence around `at`, once they are known */
    size_t sentence_end;
    struct vcm_tokenizer_counter counter;
    struct vcm_tokenizer_counter trial;

    size_t *sentences; /* starts of the sentences of a chunk */
    size_t sentence_capacity;
    size_t chunks, bytes;
    struct vcm_buf escaped, value;
    bool memory_failed; /* a count may be wrong: no chunk may be emitted */
};

void vcm_chunker_serialise(struct vcm_buf *out, struct vcm_slice path, struct vcm_slice section,
                           uint32_t page, struct vcm_slice text)
{
    vcm_buf_append_string(out, "{\"path\":");
    vcm_jsonw_escape(out, path);
    vcm_buf_append_string(out, ",\"section\":");
    vcm_jsonw_escape(out, section);
    if (page > 0)
        vcm_buf_append_format(out, ",\"page\":%u", page);
    vcm_buf_append_string(out, ",\"text\":");
    vcm_jsonw_escape(out, text);
    vcm_buf_append_byte(out, '}');
}

static size_t character_begin(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* Feeds text[begin, end) in the form that it has in a record. False as soon as the record cannot
 * fit. */
static bool feed(struct chunker *c, struct vcm_tokenizer_counter *counter, size_t begin, size_t end)
{
    while (begin < end) {
        size_t next = end;
        if (end - begin > FEED_BYTES)
            next = character_begin(c->text, begin + FEED_BYTES);
        assert(next > begin && "the text of a document is valid UTF-8");
        vcm_buf_clear(&c->escaped);
        vcm_jsonw_escape(&c->escaped, vcm_slice_of(c->text + begin, next - begin));
        if (c->escaped.fault != VCM_BUF_FINE) {
            c->memory_failed = true;
            return false;
        }
        vcm_tokenizer_counter_feed(counter, vcm_slice_of(c->escaped.data + 1, c->escaped.len - 2));
        if (vcm_tokenizer_counter_floor(counter) > c->limit)
            return false;
        begin = next;
    }
    return vcm_tokenizer_counter_total(counter, vcm_slice_of_string(RECORD_TAIL)) <= c->limit;
}

/* Begins a record whose text begins at `from`. */
static void begin_record(struct chunker *c, struct vcm_tokenizer_counter *counter, size_t from)
{
    uint32_t page = vcm_document_page_at(c->document, from);

    vcm_buf_clear(&c->value);
    vcm_chunker_serialise(&c->value, c->path, vcm_buf_slice(&c->section), page,
                          vcm_slice_of_string(""));
    if (c->section.fault != VCM_BUF_FINE || c->value.fault != VCM_BUF_FINE)
        c->memory_failed = true;
    size_t tail = strlen(RECORD_TAIL);
    vcm_tokenizer_counter_init(counter, c->options->tokenizer);
    vcm_tokenizer_counter_feed(
        counter, vcm_slice_of(c->value.data, c->value.len > tail ? c->value.len - tail : 0));
}

/* Extends the chunk to `end` if that fits. */
static bool extend(struct chunker *c, size_t end)
{
    c->trial = c->counter;
    if (!feed(c, &c->trial, c->at, end))
        return false;
    c->counter = c->trial;
    c->at = end;
    c->ends_inside = false;
    c->by_sentences = c->by_sentences && end < c->paragraph_end;
    return true;
}

/* Whether a record with text[from, end) fits. */
static bool fits(struct chunker *c, size_t from, size_t end)
{
    begin_record(c, &c->trial, from);
    return feed(c, &c->trial, from, end);
}

/* The ends of the units around `at`; the headings of a section are units of their own. */
static size_t paragraph_end(struct chunker *c)
{
    if (c->paragraph_end <= c->at) {
        size_t bound = c->at < c->heading_end ? c->heading_end : c->section_end;
        c->paragraph_end = vcm_prose_paragraph_end(c->text, c->at, bound);
    }
    return c->paragraph_end;
}

static size_t sentence_end(struct chunker *c)
{
    if (c->sentence_end <= c->at)
        c->sentence_end = vcm_prose_sentence_end(c->text, c->at, paragraph_end(c));
    return c->sentence_end;
}

/* The end of the paragraph around `begin` < `at`. It is searched up to `at` and not to its end,
 * which may be the end of the document: for each chunk anew that would cost the square of its size.
 */
static size_t paragraph_end_of(const struct chunker *c, size_t begin)
{
    size_t bound = begin < c->heading_end ? c->heading_end : c->section_end;
    size_t end = vcm_prose_paragraph_end(c->text, begin, c->at < bound ? c->at : bound);

    return end == c->at && c->paragraph_end > c->at ? c->paragraph_end : end;
}

/* Finds where the whole sentences of text[from, at) begin. */
static int list_sentences(size_t *count, struct chunker *c, struct vcm_error *err)
{
    size_t begin = c->from;
    bool inside = c->begins_inside && c->from == c->start;

    *count = 0;
    while (begin < c->at) {
        size_t paragraph = paragraph_end_of(c, begin);
        while (begin < paragraph && begin < c->at) {
            int rc = vcm_array_reserve(&c->sentences, &c->sentence_capacity, *count + 1,
                                       VCM_LIMIT_LIST_ENTRIES, err);
            if (rc != VCM_OK)
                return rc;
            if (!inside)
                c->sentences[(*count)++] = begin;
            inside = false;
            begin = vcm_prose_sentence_end(c->text, begin, paragraph);
        }
    }
    return VCM_OK;
}

/* Where the overlap of the next chunk begins; `at` when there is none. */
static int overlap_begin(size_t *out, struct chunker *c, struct vcm_error *err)
{
    size_t most = c->options->overlap_tokens;
    size_t count = 0;

    *out = c->at;
    if (most == 0 || c->ends_inside || c->at == c->section_end)
        return VCM_OK;
    int rc = list_sentences(&count, c, err);
    size_t low = 0;
    size_t high = count;
    while (rc == VCM_OK && low < high) {
        size_t middle = low + (high - low) / 2;
        size_t begin = c->sentences[middle];
        struct vcm_slice text = vcm_slice_of(c->text + begin, c->at - begin);
        if (vcm_tokenizer_count_limited(c->options->tokenizer, text, most) <= most) {
            *out = begin;
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return rc;
}

static int emit_chunk(struct chunker *c, struct vcm_error *err)
{
    assert(c->from <= c->start && c->start <= c->at);
    struct vcm_chunker_chunk chunk = {
        .text = {c->text + c->from, c->at - c->from},
        .offset = c->from,
        .overlap = c->start - c->from,
        .section = vcm_buf_slice(&c->section),
        .page = vcm_document_page_at(c->document, c->from),
        .tokens =
            (uint32_t)vcm_tokenizer_counter_total(&c->counter, vcm_slice_of_string(RECORD_TAIL)),
    };
    unsigned char digest[VCM_HASH_SHA256_BYTES];

    vcm_buf_clear(&c->value);
    vcm_chunker_serialise(&c->value, c->path, chunk.section, chunk.page, chunk.text);
    int rc = c->memory_failed ? vcm_error_memory(err) : vcm_buf_check(&c->value, "a chunk", err);
    c->chunks++;
    c->bytes += chunk.text.len;
    if (rc == VCM_OK &&
        (c->chunks > VCM_LIMIT_DOCUMENT_CHUNKS || c->bytes > VCM_LIMIT_CHUNKED_BYTES))
        rc = vcm_error_set(err, VCM_UNSUPPORTED, "%s: more than %zu chunks or %zu bytes of them",
                           vcm_outcome_reason_name(VCM_REASON_OVER_THE_LIMITS),
                           VCM_LIMIT_DOCUMENT_CHUNKS, VCM_LIMIT_CHUNKED_BYTES);
    if (rc != VCM_OK)
        return rc;
    chunk.value = vcm_buf_slice(&c->value);
    vcm_hash_sha256_of(digest, chunk.value);
    memcpy(chunk.id, digest, sizeof chunk.id);
    return c->emit(c->context, &chunk, err);
}

/* Begins a chunk at `at` whose overlap begins at `from`. */
static void begin_chunk(struct chunker *c, size_t from)
{
    c->begins_inside = c->ends_inside;
    c->by_sentences = false;
    c->from = from;
    c->start = c->at;
    begin_record(c, &c->counter, from);
    feed(c, &c->counter, from, c->at);
}

static int close_chunk(struct chunker *c, struct vcm_error *err)
{
    size_t from = c->at;
    int rc = emit_chunk(c, err);

    if (rc == VCM_OK)
        rc = overlap_begin(&from, c, err);
    if (rc == VCM_OK && c->at < c->section_end)
        begin_chunk(c, from);
    return rc;
}

/* Whether the chunk has text of its own besides the section's headings. */
static bool has_text(const struct chunker *c)
{
    return c->at > c->start && c->at > c->heading_end;
}

/* Whether the paragraph would fit a chunk of its own, with its overlap. */
static int paragraph_fits_next(bool *out, struct chunker *c, struct vcm_error *err)
{
    size_t from;
    int rc = overlap_begin(&from, c, err);

    *out = rc == VCM_OK && fits(c, from, paragraph_end(c));
    return rc;
}

/* Whole sentences matter more than overlap: shortens the overlap until the sentence fits. */
static bool extend_without_overlap(struct chunker *c, size_t end)
{
    if (c->at != c->start || c->from == c->start || !fits(c, c->start, end))
        return false;
    size_t from = c->from;
    size_t left_out = 1;
    while (from < c->start && !fits(c, from, end)) {
        for (size_t i = 0; i < left_out && from < c->start; i++) {
            from = vcm_prose_sentence_end(c->text, from, paragraph_end_of(c, from));
        }
        left_out *= 2;
    }
    begin_chunk(c, from < c->start ? from : c->start);
    return extend(c, end);
}

/* The longest text[at, x) that fits and ends between two characters, found by bisection. */
static size_t longest_fit(struct chunker *c, size_t end)
{
    size_t low = c->at;
    size_t high = c->at + c->limit * 4;
    bool bounded = false;

    while (low < end) {
        if (high > end)
            high = end;
        size_t middle = bounded ? low + (high - low) / 2 : high;
        middle = middle < end ? character_begin(c->text, middle) : end;
        if (middle <= low)
            middle = low + vcm_utf8_sequence_length((unsigned char)c->text[low]);
        if (bounded && middle >= high)
            break;
        c->trial = c->counter;
        if (feed(c, &c->trial, c->at, middle)) {
            low = middle;
            if (!bounded)
                high = middle + (middle - c->at) * 2;
        } else {
            high = middle;
            bounded = true;
        }
    }
    return low;
}

/* Fills the chunk with a part of a sentence that is longer than any chunk. */
static bool extend_inside(struct chunker *c, size_t end)
{
    size_t fit = longest_fit(c, end);
    size_t word = vcm_prose_word_end_before(c->text, c->at, fit, end);

    while (word > c->at && !extend(c, word))
        word = vcm_prose_word_end_before(c->text, c->at, word - 1, end);
    if (word == c->at && c->at > c->start)
        return true;
    if (fit == c->at || !extend(c, fit))
        return false;
    return true;
}

static int cut_sentence(struct chunker *c, struct vcm_error *err)
{
    size_t end = sentence_end(c);
    size_t before = c->at;

    if (!extend_inside(c, end) && c->from < c->start) {
        begin_chunk(c, c->start);
        extend_inside(c, end);
    }
    if (c->at == c->start)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "path_exceeds_budget: a chunk of %zu tokens has no room for text "
                             "beside its path; raise chunk_target_tokens",
                             c->limit);
    c->ends_inside = c->at > before ? c->at < end : c->ends_inside;
    return close_chunk(c, err);
}

/* Adds the next paragraph, sentence or part of one, or closes the chunk. */
static int step(struct chunker *c, struct vcm_error *err)
{
    bool next = false;
    int rc = VCM_OK;

    if (!c->by_sentences) {
        if (extend(c, paragraph_end(c)))
            return VCM_OK;
        if (has_text(c))
            rc = paragraph_fits_next(&next, c, err);
        if (rc == VCM_OK && next)
            return close_chunk(c, err);
        c->by_sentences = true;
    }
    if (rc != VCM_OK || extend(c, sentence_end(c)) || extend_without_overlap(c, sentence_end(c)))
        return rc;
    if (c->at > c->start && fits(c, c->at, sentence_end(c)))
        return close_chunk(c, err);
    return cut_sentence(c, err);
}

/* Joins the titles of the headings in force from level `first` on. */
static void join_section(struct chunker *c, unsigned first)
{
    vcm_buf_clear(&c->section);
    for (unsigned level = first; level <= VCM_LIMIT_HEADING_LEVELS; level++) {
        if (c->levels[level] == 0)
            continue;
        if (c->section.len > 0)
            vcm_buf_append_string(&c->section, " > ");
        vcm_buf_append_slice(&c->section, c->document->headings[c->levels[level] - 1].title);
    }
}

/* Makes a heading current, and removes those of its level or below. */
static void enter_heading(struct chunker *c, size_t index)
{
    uint32_t level = c->document->headings[index].level;

    if (level > VCM_LIMIT_HEADING_LEVELS)
        level = VCM_LIMIT_HEADING_LEVELS;
    for (unsigned i = level; i <= VCM_LIMIT_HEADING_LEVELS; i++)
        c->levels[i] = 0;
    c->levels[level] = index + 1;
}

/* The section's path, shortened by as many outer headings as needed to leave room for text. */
static void name_section(struct chunker *c)
{
    for (unsigned first = 0; first <= VCM_LIMIT_HEADING_LEVELS + 1u; first++) {
        if (first > 0 && first <= VCM_LIMIT_HEADING_LEVELS && c->levels[first - 1] == 0)
            continue;
        join_section(c, first);
        begin_record(c, &c->trial, c->at);
        size_t used = vcm_tokenizer_counter_total(&c->trial, vcm_slice_of_string(RECORD_TAIL));
        if (c->section.len == 0 || used + c->limit / ROOM_SHARE <= c->limit)
            return;
    }
}

static int run_section(struct chunker *c, size_t begin, size_t end, struct vcm_error *err)
{
    int rc = VCM_OK;

    c->at = begin;
    c->section_end = end;
    c->ends_inside = false;
    name_section(c);
    begin_chunk(c, begin);
    while (rc == VCM_OK && c->at < end)
        rc = c->memory_failed ? vcm_error_memory(err) : step(c, err);
    if (rc == VCM_OK && c->at > c->start)
        rc = emit_chunk(c, err);
    return rc;
}

static bool is_blank(const char *text, size_t begin, size_t end)
{
    while (begin < end && (text[begin] == ' ' || (text[begin] >= '\t' && text[begin] <= '\r')))
        begin++;
    return begin == end;
}

/* Whether the heading has nothing below it but a deeper heading. */
static bool is_bare(const struct vcm_document *document, size_t index)
{
    const struct vcm_document_heading *heading = &document->headings[index];

    return index + 1 < document->heading_count && heading[1].level > heading[0].level &&
           is_blank(document->text.data, heading[0].end, heading[1].offset);
}

static int run_sections(struct chunker *c, struct vcm_error *err)
{
    const struct vcm_document *document = c->document;
    size_t count = document->heading_count;
    size_t begin = 0;
    int rc = VCM_OK;

    if (count == 0 || !is_blank(c->text, 0, document->headings[0].offset)) {
        begin = count > 0 ? document->headings[0].offset : document->text.len;
        c->heading_end = 0;
        rc = run_section(c, 0, begin, err);
    }
    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        enter_heading(c, i);
        if (is_bare(document, i))
            continue;
        size_t end = i + 1 < count ? document->headings[i + 1].offset : document->text.len;
        c->heading_end = document->headings[i].end;
        rc = run_section(c, begin, end, err);
        begin = end;
    }
    return rc;
}

int vcm_chunker_run(const struct vcm_document *document, struct vcm_slice path,
                    const struct vcm_chunker_options *options, vcm_chunker_fn emit, void *context,
                    struct vcm_error *err)
{
    struct chunker *c;

    if (document->text.len == 0)
        return VCM_OK;
    c = calloc(1, sizeof *c);
    if (!c)
        return vcm_error_memory(err);
    c->document = document;
    c->text = document->text.data;
    c->path = path;
    c->options = options;
    c->limit = options->target_tokens < options->token_budget ? options->target_tokens
                                                              : options->token_budget;
    c->emit = emit;
    c->context = context;
    vcm_buf_init(&c->section, VCM_LIMIT_HEADING_LEVELS * (VCM_LIMIT_HEADING_BYTES + 16));
    vcm_buf_init(&c->escaped, 8 * FEED_BYTES);
    vcm_buf_init(&c->value, 8 * VCM_LIMIT_DOCUMENT_TEXT_BYTES);
    int rc = run_sections(c, err);
    vcm_buf_release(&c->value);
    vcm_buf_release(&c->escaped);
    vcm_buf_release(&c->section);
    free(c->sentences);
    free(c);
    return rc;
}
