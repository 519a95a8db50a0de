#include "vcm/page/split.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/jsonw.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "vcm/page/cluster.h"

#include "base/banned.h"

/* A line longer than the maximum is divided into pieces of these sizes. */
#define UNIT_BYTES_MIN ((size_t)64)
#define UNIT_BYTES_MAX ((size_t)512)
/* How much of the lines on both sides of a cut is hashed. */
#define NEIGHBOUR_BYTES ((size_t)128)
/* How much text is escaped and measured at a time. */
#define CHUNK_BYTES ((size_t)16 * VCM_KIB)
/* A word longer than this is measured as if it ended with its chunk. Otherwise it would be read
 * again with each chunk that it continues in. */
#define WORD_BYTES_MAX ((size_t)4 * VCM_KIB)
/* How many units of a part are counted again to find a word that begins where one of the whole text
 * does: at first, and at most. */
#define JOIN_UNITS     4
#define JOIN_UNITS_MAX 32
/* Memory above this is not kept for the next text. */
#define KEEP_BYTES (1 * VCM_MIB)

/* Better places to cut have smaller numbers. */
enum cut_class {
    CUT_BETWEEN_BLOCKS, /* a blank line or an outermost closing brace, then column 0 */
    CUT_LINE_END,
    CUT_INSIDE_LINE,
};

/*
 * The text is cut between units: a unit is a line, or a piece of a long one. The window has the
 * units from the next part on, and perhaps some before it; marks[i] has the end of unit i in
 * `escaped`, and the number of tokens of the escaped text before that.
 */
struct vcm_split {
    struct vcm_split_options options;
    struct vcm_slice path;
    struct vcm_slice text;
    size_t prefix_len;      /* of `value`: {"path":"...","text":" */
    size_t overhead;        /* tokens of a value without text */
    size_t body_tokens_max; /* of a part's text, by the marks */
    struct vcm_cluster *cluster;
    struct vcm_buf value;
    struct vcm_buf escaped;
    struct vcm_tokenizer_mark *marks;
    size_t *ends; /* of the units, in the text */
    size_t unit_count;
    size_t unit_capacity;
    size_t unit_first;    /* of the next part */
    size_t units_done;    /* units that are measured */
    size_t text_done;     /* how much of the text is escaped */
    size_t escaped_gone;  /* bytes that were dropped from the beginning of `escaped` */
    size_t escaped_first; /* where the next part begins in it */
    size_t text_first;    /* where the first unit begins in the text */
    size_t text_emitted;  /* where the next part begins in the text */
    size_t tokens_done;   /* the measure of all units that are measured */
    size_t tokens_first;  /* of those before the next part */
    struct vcm_tokenizer_measure measure;
    bool measure_broken; /* a long word was measured as if it ended earlier */
    uint32_t line;       /* 1-based, of the next part's first character */
    uint32_t part;
    void *finder; /* of headings, or NULL */
    struct vcm_buf heading;
};

int vcm_split_open(struct vcm_split **out, const struct vcm_split_options *options,
                   struct vcm_error *err)
{
    struct vcm_split *split = calloc(1, sizeof *split);

    *out = NULL;
    if (!split)
        return vcm_error_memory(err);
    split->options = *options;
    vcm_buf_init(&split->value, VCM_LIMIT_FRAME_BYTES);
    vcm_buf_init(&split->escaped, VCM_LIMIT_FRAME_BYTES);
    vcm_buf_init(&split->heading, 2 * VCM_LIMIT_CONTEXT_LINE_BYTES);
    int rc = vcm_cluster_open(&split->cluster, &(struct vcm_cluster_weight){0}, err);
    if (rc == VCM_OK && options->headings)
        rc = options->headings->open(&split->finder, err);
    if (rc == VCM_OK)
        *out = split;
    else
        vcm_split_close(split);
    return rc;
}

static void free_units(struct vcm_split *s)
{
    free(s->marks);
    free(s->ends);
    s->marks = NULL;
    s->ends = NULL;
    s->unit_capacity = 0;
}

void vcm_split_close(struct vcm_split *split)
{
    if (!split)
        return;
    free_units(split);
    vcm_cluster_close(split->cluster);
    if (split->finder)
        split->options.headings->close(split->finder);
    vcm_buf_release(&split->heading);
    vcm_buf_release(&split->escaped);
    vcm_buf_release(&split->value);
    free(split);
}

static void shrink(struct vcm_split *s)
{
    if (s->value.capacity > KEEP_BYTES)
        vcm_buf_release(&s->value);
    if (s->escaped.capacity > KEEP_BYTES)
        vcm_buf_release(&s->escaped);
    if (s->unit_capacity * sizeof *s->marks > KEEP_BYTES)
        free_units(s);
}

static bool is_sequence_middle(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Moves a cut back so that it splits neither a UTF-8 sequence nor a CRLF, but not back to `start`.
 */
static size_t legal_cut(struct vcm_slice text, size_t start, size_t cut)
{
    size_t wanted = cut;

    if (cut >= text.len)
        return text.len;
    while (cut > start && is_sequence_middle(text.data[cut]))
        cut--;
    if (cut > start + 1 && text.data[cut - 1] == '\r' && text.data[cut] == '\n')
        cut--;
    if (cut > start && !(cut == start + 1 && text.data[start] == '\r' && text.data[cut] == '\n'))
        return cut;
    /* No shorter piece is possible: take one whole character, or the CRLF. */
    cut = wanted > start ? wanted : start + 1;
    while (cut < text.len && is_sequence_middle(text.data[cut]))
        cut++;
    if (cut < text.len && text.data[cut - 1] == '\r' && text.data[cut] == '\n')
        cut++;
    return cut;
}

/* The end of a piece of a long line is chosen by content, so that pieces stay the same after an
 * edit before them: after a blank or punctuation if there is any, and among those where a hash of
 * the last sixteen bytes is greatest. */
static size_t end_inside_line(struct vcm_slice text, size_t start)
{
    const char *p = text.data + start;
    size_t best = UNIT_BYTES_MAX;
    uint64_t before = 0, earlier = 0, most = 0;

    for (size_t at = UNIT_BYTES_MIN - 16; at < UNIT_BYTES_MAX; at++) {
        earlier = earlier << 8 | before >> 56;
        before = before << 8 | (unsigned char)p[at];
        uint64_t natural = p[at] != '\0' && strchr(" \t,;>)}]", p[at]);
        uint64_t hash =
            (before ^ earlier * UINT64_C(0x9fb21c651e98df25)) * UINT64_C(0x9e3779b97f4a7c15);
        uint64_t preference = natural << 63 | hash >> 1;
        if (at + 1 >= UNIT_BYTES_MIN && preference >= most) {
            most = preference;
            best = at + 1;
        }
    }
    return start + best;
}

static size_t next_unit_end(struct vcm_slice text, size_t start)
{
    size_t span = text.len - start < UNIT_BYTES_MAX ? text.len - start : UNIT_BYTES_MAX;
    const char *newline = memchr(text.data + start, '\n', span);

    if (newline)
        return (size_t)(newline - text.data) + 1;
    if (span < UNIT_BYTES_MAX)
        return text.len;
    size_t end = legal_cut(text, start, end_inside_line(text, start));
    assert(end > start && end <= text.len);
    return end;
}

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_closing(char c)
{
    return c == '}' || c == ')' || c == ']';
}

static bool is_blank_or_closing(struct vcm_slice line)
{
    if (is_closing(line.data[0]))
        return true;
    for (size_t i = 0; i < line.len; i++)
        if (!is_white(line.data[i]))
            return false;
    return true;
}

static bool begins_block(char first)
{
    return first != '\0' && !is_white(first) && !is_closing(first);
}

static enum cut_class classify(struct vcm_slice text, size_t at, struct vcm_slice before)
{
    if (text.data[at - 1] != '\n')
        return CUT_INSIDE_LINE;
    if (at == text.len || !begins_block(text.data[at]))
        return CUT_LINE_END;
    return is_blank_or_closing(before) ? CUT_BETWEEN_BLOCKS : CUT_LINE_END;
}

/* Depends on the line after the cut. The line before it only distinguishes repeated lines: so fewer
 * edits move a cut. */
static uint64_t preference(struct vcm_slice before, struct vcm_slice after)
{
    uint64_t behind = vcm_hash_checksum(after, 0);

    return (behind & ~UINT64_C(0xffffff)) | vcm_hash_checksum(before, behind) >> 40;
}

static int add_unit(struct vcm_split *s, size_t end, struct vcm_error *err)
{
    size_t capacity = s->unit_capacity, needed = s->unit_count + 1;

    int rc = vcm_array_reserve(&s->marks, &capacity, needed, VCM_LIMIT_LIST_ENTRIES, err);
    if (rc == VCM_OK)
        rc = vcm_array_reserve(&s->ends, &s->unit_capacity, needed, VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    s->marks[s->unit_count] = (struct vcm_tokenizer_mark){.end = (uint32_t)s->escaped.len};
    s->ends[s->unit_count++] = end;
    return VCM_OK;
}

static bool append_escaped(struct vcm_buf *out, struct vcm_slice text)
{
    char *to = vcm_buf_reserve(out, VCM_JSONW_ESCAPE_BYTES(text.len));

    if (to)
        vcm_buf_advance(out, (size_t)(vcm_jsonw_escape_to(to, text) - to));
    return to != NULL;
}

/* Measures the units that were added; returns how many are now measured in addition. */
static size_t measure_units(struct vcm_split *s)
{
    const struct vcm_tokenizer *tokenizer = s->options.tokenizer;
    struct vcm_slice escaped = vcm_buf_slice(&s->escaped);
    struct vcm_tokenizer_mark *marks = s->marks + s->units_done;
    size_t count = s->unit_count - s->units_done;

    if (!vcm_tokenizer_measure_is_exact(tokenizer)) {
        for (size_t i = 0; i < count; i++)
            marks[i].tokens = (uint32_t)((s->escaped_gone + marks[i].end) / 4);
        return count;
    }
    size_t done = vcm_tokenizer_measure_more(&s->measure, tokenizer, escaped,
                                             s->text_done == s->text.len, marks, count);
    if (s->escaped.len - s->measure.at > WORD_BYTES_MAX) {
        s->measure_broken = true;
        done += vcm_tokenizer_measure_more(&s->measure, tokenizer, escaped, true, marks + done,
                                           count - done);
    }
    return done;
}

static size_t unit_start(const struct vcm_split *s, size_t unit)
{
    return unit > 0 ? s->ends[unit - 1] : s->text_first;
}

/* The end of the line before a unit, its line break included. No search is needed if the unit
 * before is the whole line. */
static struct vcm_slice line_before(const struct vcm_split *s, size_t unit)
{
    size_t at = unit_start(s, unit);
    size_t start = at > NEIGHBOUR_BYTES ? at - NEIGHBOUR_BYTES : 0;
    size_t line = unit > 0 ? unit_start(s, unit - 1) : at;

    if (line == at || (line > start && s->text.data[line - 1] != '\n')) {
        const char *newline = memrchr(s->text.data + start, '\n', at - 1 - start);
        line = newline ? (size_t)(newline - s->text.data) + 1 : start;
    }
    start = line > start ? line : start;
    return vcm_slice_of(s->text.data + start, at - start);
}

/* The beginning of the line that the unit begins with, without a line break. A unit that ends
 * inside a line is longer than what is used here. */
static struct vcm_slice line_after(const struct vcm_split *s, size_t unit)
{
    size_t at = unit_start(s, unit), end = s->ends[unit];
    size_t len = s->text.data[end - 1] == '\n' ? end - 1 - at : s->text.len - at;

    return vcm_slice_of(s->text.data + at, len < NEIGHBOUR_BYTES ? len : NEIGHBOUR_BYTES);
}

/* Better places to cut are stronger gaps. */
static uint64_t strength_before(const struct vcm_split *s, size_t unit)
{
    size_t at = unit_start(s, unit);

    if (at == 0)
        return 0;
    struct vcm_slice before = line_before(s, unit);
    uint64_t preferred = preference(before, line_after(s, unit));
    return (uint64_t)(CUT_INSIDE_LINE - classify(s->text, at, before)) << 62 | preferred >> 2;
}

static int cluster_units(struct vcm_split *s, size_t count, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (; rc == VCM_OK && count > 0; count--, s->units_done++) {
        const struct vcm_tokenizer_mark *mark = &s->marks[s->units_done];
        const struct vcm_cluster_weight weight = {
            .tokens = mark->tokens - s->tokens_done,
            .bytes = mark->end - (s->units_done > 0 ? mark[-1].end : 0),
            .items = 1,
        };
        s->tokens_done = mark->tokens;
        rc = vcm_cluster_add(s->cluster, &weight, strength_before(s, s->units_done), err);
    }
    return rc;
}

static int add_chunk(struct vcm_split *s, struct vcm_error *err)
{
    size_t limit =
        s->text.len - s->text_done < CHUNK_BYTES ? s->text.len : s->text_done + CHUNK_BYTES;
    int rc = VCM_OK;

    while (rc == VCM_OK && s->text_done < limit) {
        size_t end = next_unit_end(s->text, s->text_done);
        append_escaped(&s->escaped, vcm_slice_of(s->text.data + s->text_done, end - s->text_done));
        s->text_done = end;
        rc = add_unit(s, end, err);
    }
    if (rc == VCM_OK)
        rc = vcm_buf_check(&s->escaped, "a file's text", err);
    if (rc == VCM_OK)
        rc = cluster_units(s, measure_units(s), err);
    return rc;
}

/* Drops the units before the next part from the window. */
static void drop_units(struct vcm_split *s)
{
    size_t gone = s->escaped_first;

    if (gone < 4 * CHUNK_BYTES || gone < s->escaped.len / 2)
        return;
    memmove(s->escaped.data, s->escaped.data + gone, s->escaped.len - gone);
    vcm_buf_truncate(&s->escaped, s->escaped.len - gone);
    size_t left = s->unit_count - s->unit_first;
    memmove(s->marks, s->marks + s->unit_first, left * sizeof *s->marks);
    memmove(s->ends, s->ends + s->unit_first, left * sizeof *s->ends);
    for (size_t i = 0; i < left; i++) {
        s->marks[i].end -= (uint32_t)gone;
        s->marks[i].at -= (uint32_t)gone;
    }
    s->text_first = s->text_emitted;
    s->units_done -= s->unit_first;
    s->unit_count = left;
    s->unit_first = 0;
    s->measure.at -= gone;
    s->escaped_gone += gone;
    s->escaped_first = 0;
}

static size_t count_text(const struct vcm_split *s, struct vcm_slice text)
{
    struct vcm_tokenizer_measure measure = {0, 0};

    if (!vcm_tokenizer_measure_is_exact(s->options.tokenizer))
        return vcm_tokenizer_count(s->options.tokenizer, text);
    vcm_tokenizer_measure_more(&measure, s->options.tokenizer, text, true, NULL, 0);
    return measure.tokens;
}

static void end_value(struct vcm_split *s)
{
    vcm_buf_append(&s->value, "\"}", 2);
}

/*
 * Computes the tokens of the value, whose text ends with unit `last`, from the marks: once a word
 * of the value begins where one of the whole text does, all words after it are the same, except the
 * last. Counts the first `units` units to find such a place; false when there is none.
 */
static bool join_marks(size_t *tokens, const struct vcm_split *s, size_t last, size_t units)
{
    struct vcm_tokenizer_mark marks[JOIN_UNITS_MAX];
    struct vcm_tokenizer_measure measure = {0, 0};
    const struct vcm_tokenizer_mark *whole = &s->marks[s->unit_first];
    const struct vcm_tokenizer_mark *end = &s->marks[last];
    size_t shift = s->prefix_len - s->escaped_first; /* may wrap around; each sum wraps back */

    assert(units <= JOIN_UNITS_MAX && s->unit_first + units <= last);
    for (size_t i = 0; i < units; i++)
        marks[i] = (struct vcm_tokenizer_mark){.end = (uint32_t)(whole[i].end + shift)};
    size_t done = vcm_tokenizer_measure_more(&measure, s->options.tokenizer,
                                             vcm_slice_of(s->value.data, marks[units - 1].end),
                                             false, marks, units);
    for (size_t i = 0; i < done; i++)
        if (marks[i].at >= s->prefix_len && marks[i].at == whole[i].at + shift) {
            size_t rest = end->at + shift;
            *tokens = marks[i].tokens + (end->tokens - whole[i].tokens) +
                      count_text(s, vcm_slice_of(s->value.data + rest, s->value.len - rest));
            return true;
        }
    return false;
}

/* Whether the value is within the budget. */
static bool fits(const struct vcm_split *s, size_t tokens)
{
    return tokens <= s->options.token_budget || s->value.fault != VCM_BUF_FINE;
}

/* Whether it would be within the budget with any path of at most VCM_SPLIT_PATH_TOKENS. No token
 * spans the beginning of the text, so the path's tokens can be subtracted. */
static bool fits_any_path(const struct vcm_split *s, size_t tokens)
{
    if (s->value.fault != VCM_BUF_FINE)
        return true;
    if (vcm_tokenizer_measure_is_exact(s->options.tokenizer))
        return tokens <= s->body_tokens_max + s->overhead;
    return (s->value.len - s->prefix_len - 2 + 3) / 4 <= s->body_tokens_max;
}

/* Makes the value of the part that ends with unit `last`, and counts it. */
static size_t make_value(struct vcm_split *s, size_t last)
{
    size_t tokens = 0;
    size_t units = last - s->unit_first;

    vcm_buf_truncate(&s->value, s->prefix_len);
    vcm_buf_append(&s->value, s->escaped.data + s->escaped_first,
                   s->marks[last].end - s->escaped_first);
    end_value(s);
    if (s->value.fault != VCM_BUF_FINE)
        return 0;
    if (!vcm_tokenizer_measure_is_exact(s->options.tokenizer) || s->measure_broken ||
        units < JOIN_UNITS ||
        (!join_marks(&tokens, s, last, JOIN_UNITS) &&
         !join_marks(&tokens, s, last, units < JOIN_UNITS_MAX ? units : JOIN_UNITS_MAX)))
        tokens = count_text(s, vcm_buf_slice(&s->value));
    return tokens;
}

static int no_room(const struct vcm_split *s, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_UNSUPPORTED,
                         "the path and one character exceed the token budget of %u",
                         s->options.token_budget);
}

static uint32_t count_newlines(struct vcm_slice text)
{
    uint32_t lines = 0;
    const char *end = text.data + text.len;

    for (const char *p = text.data; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        lines++;
    return lines;
}

struct target {
    vcm_split_part_fn emit;
    void *context;
};

/* Finds the heading of a later part, which begins at `start`. A file of one part costs nothing. */
static int find_heading(struct vcm_split *s, size_t start, struct vcm_error *err)
{
    const struct vcm_heading_functions *headings = s->options.headings;

    vcm_buf_clear(&s->heading);
    if (!s->finder || s->part == 0)
        return VCM_OK;
    if (s->part == 1)
        headings->begin(s->finder, s->path, s->text);
    headings->find(&s->heading, s->finder, start);
    return vcm_buf_check(&s->heading, "a heading", err);
}

/* Emits the value, which has the text from the end of the previous part to `end`. */
static int emit_part(struct vcm_split *s, size_t end, size_t tokens, const struct target *target,
                     struct vcm_error *err)
{
    size_t start = s->text_emitted;

    assert(start <= end && end <= s->text.len && tokens <= s->options.token_budget);
    uint32_t newlines = count_newlines(vcm_slice_of(s->text.data + start, end - start));
    bool line_ends = end > start && s->text.data[end - 1] == '\n';
    int rc = find_heading(s, start, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_page_record record = {
        .path = s->path,
        .tokens = (uint32_t)tokens,
        .bytes = (uint32_t)s->value.len,
        .start_line = end > start ? s->line : 0,
        .end_line = end > start ? s->line + newlines - (line_ends ? 1 : 0) : 0,
        .part = ++s->part,
        .heading = vcm_buf_slice(&s->heading),
    };
    s->line += newlines;
    s->text_emitted = end;
    return target->emit(target->context, vcm_buf_slice(&s->value), &record, err);
}

/* Emits the units up to `last` as a part. */
static int emit_units(struct vcm_split *s, size_t last, size_t tokens, const struct target *target,
                      struct vcm_error *err)
{
    int rc = vcm_buf_check(&s->value, "a record", err);
    if (rc == VCM_OK)
        rc = emit_part(s, s->ends[last], tokens, target, err);
    s->unit_first = last + 1;
    s->tokens_first = s->marks[last].tokens;
    s->escaped_first = s->marks[last].end;
    return rc;
}

/* Makes the value of a piece of the text that begins with the next part, and counts it. The piece
 * ends at `*end`, or at half of it, a quarter ... until it fits or cannot be shorter. */
static size_t make_piece(size_t *end, struct vcm_split *s,
                         bool (*is_short)(const struct vcm_split *s, size_t tokens))
{
    size_t start = s->text_emitted;

    for (;;) {
        vcm_buf_truncate(&s->value, s->prefix_len);
        append_escaped(&s->value, vcm_slice_of(s->text.data + start, *end - start));
        end_value(s);
        size_t tokens = count_text(s, vcm_buf_slice(&s->value));
        size_t shorter = legal_cut(s->text, start, start + (*end - start) / 2);
        if (is_short(s, tokens) || shorter >= *end)
            return tokens;
        *end = shorter;
    }
}

/* Emits the next unit, which is too long, in pieces. */
static int cut_unit(struct vcm_split *s, const struct target *target, struct vcm_error *err)
{
    size_t unit_end = s->ends[s->unit_first];
    int rc = VCM_OK;

    while (rc == VCM_OK && s->text_emitted < unit_end) {
        size_t piece_end = unit_end;
        make_piece(&piece_end, s, fits_any_path);
        while (rc == VCM_OK && s->text_emitted < piece_end) {
            size_t end = piece_end, tokens = make_piece(&end, s, fits);
            rc = fits(s, tokens) ? vcm_buf_check(&s->value, "a record", err) : no_room(s, err);
            if (rc == VCM_OK)
                rc = emit_part(s, end, tokens, target, err);
        }
    }
    s->tokens_first = s->marks[s->unit_first].tokens;
    s->escaped_first = s->marks[s->unit_first++].end;
    return rc;
}

/* The last unit of a part that may be within the budget, by the marks. */
static size_t guess_last(const struct vcm_split *s, size_t last)
{
    size_t room = s->options.token_budget > s->overhead ? s->options.token_budget - s->overhead : 0;
    size_t guess = s->unit_first;

    while (guess < last && s->marks[guess + 1].tokens - s->tokens_first <= room)
        guess++;
    return guess;
}

/* Emits the units up to `last`, whose value is made; in several parts if the path takes more tokens
 * than are reserved for it. */
static int emit_base(struct vcm_split *s, size_t last, size_t tokens, const struct target *target,
                     struct vcm_error *err)
{
    int rc = VCM_OK;

    if (fits(s, tokens))
        return emit_units(s, last, tokens, target, err);
    while (rc == VCM_OK && s->unit_first <= last) {
        size_t end = guess_last(s, last);
        tokens = make_value(s, end);
        while (!fits(s, tokens) && end > s->unit_first)
            tokens = make_value(s, --end);
        rc = fits(s, tokens) ? emit_units(s, end, tokens, target, err) : cut_unit(s, target, err);
    }
    return rc;
}

/* Emits a group of units. The measure is only close to the count, so a group may be too large: it
 * is then cut before its last units, and the rest is the next part. */
static int emit_group(struct vcm_split *s, size_t count, const struct target *target,
                      struct vcm_error *err)
{
    size_t end = s->unit_first + count;
    int rc = VCM_OK;

    while (rc == VCM_OK && s->unit_first < end) {
        size_t last = end - 1, tokens = make_value(s, last);
        while (!fits_any_path(s, tokens) && last > s->unit_first)
            tokens = make_value(s, --last);
        rc = fits_any_path(s, tokens) ? emit_base(s, last, tokens, target, err)
                                      : cut_unit(s, target, err);
    }
    return rc;
}

static bool is_read(const struct vcm_split *s)
{
    return s->text_done == s->text.len;
}

/* Whether what was read so far fits into one part, by the marks. Nothing was dropped yet. */
static bool may_be_whole(const struct vcm_split *s)
{
    assert(s->escaped_gone == 0);
    return s->tokens_done <= s->options.token_budget && s->escaped.len <= VCM_LIMIT_PAGE_BYTES;
}

/* Reads until the text is known to be too long for one part, or emits it as one. */
static int find_whole(bool *whole, struct vcm_split *s, const struct target *target,
                      struct vcm_error *err)
{
    int rc = VCM_OK;

    *whole = false;
    while (rc == VCM_OK && !is_read(s) && may_be_whole(s))
        rc = add_chunk(s, err);
    if (rc != VCM_OK || !is_read(s) || !may_be_whole(s))
        return rc;
    size_t tokens = make_value(s, s->unit_count - 1);
    if (!fits(s, tokens))
        return rc;
    *whole = true;
    return emit_units(s, s->unit_count - 1, tokens, target, err);
}

static void begin_units(struct vcm_split *s)
{
    vcm_buf_clear(&s->escaped);
    s->unit_count = s->unit_first = s->units_done = 0;
    s->text_first = s->text_done = 0;
    s->escaped_gone = s->escaped_first = 0;
    s->tokens_done = s->tokens_first = 0;
    s->measure = (struct vcm_tokenizer_measure){0, 0};
    s->measure_broken = false;
    vcm_cluster_restart(s->cluster, &(struct vcm_cluster_weight){.tokens = s->body_tokens_max,
                                                                 .bytes = VCM_LIMIT_PAGE_BYTES,
                                                                 .items = UINT64_MAX});
}

static int split_long(struct vcm_split *s, const struct target *target, struct vcm_error *err)
{
    bool whole = false, finished = false;

    begin_units(s);
    int rc = find_whole(&whole, s, target, err);
    while (rc == VCM_OK && !whole) {
        uint64_t count = vcm_cluster_take(s->cluster);
        if (count > 0) {
            rc = emit_group(s, (size_t)count, target, err);
            drop_units(s);
        } else if (!is_read(s)) {
            rc = add_chunk(s, err);
        } else if (!finished) {
            vcm_cluster_finish(s->cluster);
            finished = true;
        } else {
            break;
        }
    }
    return rc;
}

/* Computes how many tokens the path leaves to the text. */
static void compute_body(struct vcm_split *s)
{
    uint32_t budget = s->options.token_budget;

    vcm_buf_truncate(&s->value, s->prefix_len);
    end_value(s);
    s->overhead = count_text(s, vcm_buf_slice(&s->value));
    s->body_tokens_max = budget - VCM_SPLIT_PATH_TOKENS(budget);
}

static int begin_value(struct vcm_split *s, struct vcm_error *err)
{
    vcm_buf_clear(&s->value);
    vcm_buf_append_string(&s->value, "{\"path\":\"");
    append_escaped(&s->value, s->path);
    vcm_buf_append_string(&s->value, "\",\"text\":\"");
    s->prefix_len = s->value.len;
    return vcm_buf_check(&s->value, "a record", err);
}

/* Most texts are well below the budget and need no marks. */
static int try_whole(bool *whole, size_t *tokens, struct vcm_split *s, struct vcm_error *err)
{
    *whole = false;
    if (s->text.len > 2 * (size_t)s->options.token_budget)
        return VCM_OK;
    append_escaped(&s->value, s->text);
    size_t escaped = s->value.len - s->prefix_len;
    end_value(s);
    *tokens = count_text(s, vcm_buf_slice(&s->value));
    *whole = *tokens <= s->options.token_budget && escaped <= VCM_LIMIT_PAGE_BYTES;
    if (!*whole && s->text.len == 0)
        return no_room(s, err);
    return vcm_buf_check(&s->value, "a record", err);
}

int vcm_split_text(struct vcm_split *s, struct vcm_slice path, struct vcm_slice text,
                   vcm_split_part_fn emit, void *context, struct vcm_error *err)
{
    const struct target target = {emit, context};
    size_t tokens = 0;
    bool whole = false;

    s->path = path;
    s->text = text;
    s->line = 1;
    s->part = 0;
    s->text_emitted = 0;
    int rc = begin_value(s, err);
    if (rc == VCM_OK)
        rc = try_whole(&whole, &tokens, s, err);
    if (rc == VCM_OK && whole) {
        rc = emit_part(s, text.len, tokens, &target, err);
    } else if (rc == VCM_OK) {
        compute_body(s);
        rc = split_long(s, &target, err);
    }
    assert(rc != VCM_OK || (s->text_emitted == text.len && s->part > 0));
    shrink(s);
    return rc;
}
