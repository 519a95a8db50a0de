#include "vcm/split.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/jsonw.h"
#include "base/limits.h"
#include "base/utf8.h"

#include "base/banned.h"

/* A line longer than this is looked at in pieces of at most this many bytes. */
#define UNIT_BYTES_MAX ((size_t)512)
/* How much of the lines on both sides of a cut its hash sees. */
#define NEIGHBOUR_BYTES ((size_t)128)

/* The better places to cut have the smaller numbers. */
enum cut_class {
    CUT_BETWEEN_BLOCKS, /* a blank line or an outermost closing brace, then column 0 */
    CUT_BEFORE_COLUMN_0,
    CUT_LINE_END,
    CUT_INSIDE_LINE,
};

/* A line, or a piece of a long one: the grain of cutting. */
struct unit {
    size_t end; /* offset in the text */
    size_t tokens_so_far;
};

struct splitter {
    struct vcm_slice path;
    struct vcm_slice text;
    const struct vcm_split_options *options;
    size_t body_tokens_max; /* of a part's text, by the sum over its units */
    struct unit *units;     /* the window behind the last cut */
    size_t unit_count;
    size_t unit_capacity;
    struct vcm_buf value;
    struct vcm_buf escaped;
    uint32_t line; /* 1-based, of the next part's first character */
    uint32_t part;
};

static bool is_sequence_middle(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Moves a cut back so that it splits neither a UTF-8 sequence nor a CRLF, but not to `start`. */
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
    /* Nothing shorter will do: take one whole character, or the CRLF. */
    cut = wanted > start ? wanted : start + 1;
    while (cut < text.len && is_sequence_middle(text.data[cut]))
        cut++;
    if (cut < text.len && text.data[cut - 1] == '\r' && text.data[cut] == '\n')
        cut++;
    return cut;
}

static size_t next_unit_end(struct vcm_slice text, size_t start)
{
    size_t span = text.len - start < UNIT_BYTES_MAX ? text.len - start : UNIT_BYTES_MAX;
    const char *newline = memchr(text.data + start, '\n', span);

    if (newline)
        return (size_t)(newline - text.data) + 1;
    return legal_cut(text, start, start + span);
}

static int count_unit(size_t *tokens, struct splitter *s, size_t start, size_t end,
                      struct vcm_error *err)
{
    vcm_buf_clear(&s->escaped);
    vcm_jsonw_escape(&s->escaped, vcm_slice_of(s->text.data + start, end - start));
    int rc = vcm_buf_check(&s->escaped, "a line", err);
    if (rc != VCM_OK)
        return rc;
    assert(s->escaped.len >= 2);
    struct vcm_slice inner = vcm_slice_of(s->escaped.data + 1, s->escaped.len - 2);
    *tokens = vcm_tokenizer_count(s->options->tokenizer, inner);
    return VCM_OK;
}

static int add_unit(struct splitter *s, size_t end, size_t tokens_so_far, struct vcm_error *err)
{
    if (s->unit_count == s->unit_capacity) {
        size_t capacity = s->unit_capacity ? s->unit_capacity * 2 : 256;
        struct unit *units = realloc(s->units, capacity * sizeof *units);
        if (!units)
            return vcm_error_memory(err);
        s->units = units;
        s->unit_capacity = capacity;
    }
    s->units[s->unit_count].end = end;
    s->units[s->unit_count].tokens_so_far = tokens_so_far;
    s->unit_count++;
    return VCM_OK;
}

/* Collects the units that one part may hold, at least one. */
static int fill_window(struct splitter *s, size_t start, struct vcm_error *err)
{
    size_t tokens = 0, unit_tokens;
    int rc = VCM_OK;

    s->unit_count = 0;
    for (size_t at = start; rc == VCM_OK && at < s->text.len;) {
        size_t end = next_unit_end(s->text, at);
        rc = count_unit(&unit_tokens, s, at, end, err);
        if (rc != VCM_OK)
            break;
        tokens += unit_tokens;
        if (tokens > s->body_tokens_max && s->unit_count > 0)
            break;
        rc = add_unit(s, end, tokens, err);
        at = end;
    }
    return rc;
}

static struct vcm_slice line_before(struct vcm_slice text, size_t at)
{
    size_t start = at - 1;
    while (start > 0 && at - start < NEIGHBOUR_BYTES && text.data[start - 1] != '\n')
        start--;
    return vcm_slice_of(text.data + start, at - start);
}

static struct vcm_slice line_after(struct vcm_slice text, size_t at)
{
    size_t span = text.len - at < NEIGHBOUR_BYTES ? text.len - at : NEIGHBOUR_BYTES;
    const char *newline = memchr(text.data + at, '\n', span);
    return vcm_slice_of(text.data + at, newline ? (size_t)(newline - text.data) - at : span);
}

static bool is_blank_or_closing(struct vcm_slice line)
{
    if (strchr("})]", line.data[0]) && line.data[0] != '\0')
        return true;
    for (size_t i = 0; i < line.len; i++)
        if (!strchr(" \t\r\n", line.data[i]) || line.data[i] == '\0')
            return false;
    return true;
}

static bool begins_block(char first)
{
    return first != '\0' && !strchr(" \t\r\n})]", first);
}

static enum cut_class classify(struct vcm_slice text, size_t at)
{
    if (text.data[at - 1] != '\n')
        return CUT_INSIDE_LINE;
    if (at == text.len || !begins_block(text.data[at]))
        return CUT_LINE_END;
    return is_blank_or_closing(line_before(text, at)) ? CUT_BETWEEN_BLOCKS : CUT_BEFORE_COLUMN_0;
}

static uint64_t preference(struct vcm_slice text, size_t at)
{
    return vcm_hash_checksum(line_after(text, at), vcm_hash_checksum(line_before(text, at), 0));
}

/* How many units the next part takes. */
static size_t choose_cut(const struct splitter *s)
{
    size_t best = s->unit_count;
    enum cut_class best_class = CUT_INSIDE_LINE;
    uint64_t best_hash = UINT64_MAX;

    for (size_t i = 0; i < s->unit_count; i++) {
        if (s->units[i].tokens_so_far < s->body_tokens_max / 2)
            continue;
        enum cut_class class = classify(s->text, s->units[i].end);
        if (class > best_class)
            continue;
        uint64_t hash = preference(s->text, s->units[i].end);
        if (class < best_class || hash < best_hash) {
            best = i + 1;
            best_class = class;
            best_hash = hash;
        }
    }
    return best;
}

static bool fits(struct splitter *s, size_t start, size_t end, size_t *tokens)
{
    vcm_buf_clear(&s->value);
    vcm_page_serialise(&s->value, s->path, vcm_slice_of(s->text.data + start, end - start));
    *tokens = vcm_tokenizer_count_limited(s->options->tokenizer, vcm_buf_slice(&s->value),
                                          s->options->token_budget);
    return *tokens <= s->options->token_budget;
}

static int no_room(const struct splitter *s, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_UNSUPPORTED,
                         "the path and one character exceed the token budget of %u",
                         s->options->token_budget);
}

/* The sum over units is only close to the count of the whole, so the cut that was chosen is checked
 * and, if need be, drawn back: by units first, then inside the first unit. */
static int settle_cut(size_t *end, size_t *tokens, struct splitter *s, size_t start, size_t chosen,
                      struct vcm_error *err)
{
    while (chosen > 0) {
        *end = s->units[chosen - 1].end;
        if (fits(s, start, *end, tokens))
            return vcm_buf_check(&s->value, "a record", err);
        chosen--;
    }
    for (;;) {
        size_t shorter = legal_cut(s->text, start, start + (*end - start) / 2);
        if (shorter >= *end)
            return no_room(s, err);
        *end = shorter;
        if (fits(s, start, *end, tokens))
            return vcm_buf_check(&s->value, "a record", err);
    }
}

static uint32_t count_newlines(struct vcm_slice text)
{
    uint32_t lines = 0;
    const char *end = text.data + text.len;

    for (const char *p = text.data; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        lines++;
    return lines;
}

static int emit_part(struct splitter *s, size_t start, size_t end, size_t tokens,
                     vcm_split_part_fn emit, void *context, struct vcm_error *err)
{
    uint32_t newlines = count_newlines(vcm_slice_of(s->text.data + start, end - start));
    bool line_ends = end > start && s->text.data[end - 1] == '\n';
    struct vcm_page_record record = {
        .path = s->path,
        .tokens = (uint32_t)tokens,
        .bytes = (uint32_t)s->value.len,
        .start_line = end > start ? s->line : 0,
        .end_line = end > start ? s->line + newlines - (line_ends ? 1 : 0) : 0,
        .part = ++s->part,
    };
    s->line += newlines;
    return emit(context, vcm_buf_slice(&s->value), &record, err);
}

static int split_long(struct splitter *s, vcm_split_part_fn emit, void *context,
                      struct vcm_error *err)
{
    int rc = VCM_OK;

    for (size_t start = 0; rc == VCM_OK && start < s->text.len;) {
        size_t end = 0, tokens = 0;
        rc = fill_window(s, start, err);
        if (rc != VCM_OK)
            break;
        bool last = s->units[s->unit_count - 1].end == s->text.len;
        rc = settle_cut(&end, &tokens, s, start, last ? s->unit_count : choose_cut(s), err);
        if (rc == VCM_OK)
            rc = emit_part(s, start, end, tokens, emit, context, err);
        start = end;
    }
    return rc;
}

/* An eighth is left to the path, so that the same content is cut in the same places whatever it is
 * called; a path that needs more takes more. */
static int settle_body(struct splitter *s, struct vcm_error *err)
{
    uint32_t budget = s->options->token_budget;
    size_t reserve = budget / 8;

    vcm_buf_clear(&s->value);
    vcm_page_serialise(&s->value, s->path, vcm_slice_of("", 0));
    int rc = vcm_buf_check(&s->value, "a record", err);
    if (rc != VCM_OK)
        return rc;
    size_t overhead = vcm_tokenizer_count(s->options->tokenizer, vcm_buf_slice(&s->value));
    if (overhead > reserve)
        reserve = overhead < budget ? overhead : budget - 1;
    s->body_tokens_max = budget - reserve;
    return VCM_OK;
}

int vcm_split_text(struct vcm_slice path, struct vcm_slice text,
                   const struct vcm_split_options *options, vcm_split_part_fn emit, void *context,
                   struct vcm_error *err)
{
    struct splitter s = {.path = path, .text = text, .options = options, .line = 1};
    size_t tokens = 0;
    int rc;

    vcm_buf_init(&s.value, VCM_LIMIT_FRAME_BYTES);
    vcm_buf_init(&s.escaped, VCM_LIMIT_FRAME_BYTES);
    if (fits(&s, 0, text.len, &tokens)) {
        rc = vcm_buf_check(&s.value, "a record", err);
        if (rc == VCM_OK)
            rc = emit_part(&s, 0, text.len, tokens, emit, context, err);
    } else if (text.len == 0) {
        rc = no_room(&s, err);
    } else {
        rc = settle_body(&s, err);
        if (rc == VCM_OK)
            rc = split_long(&s, emit, context, err);
    }
    free(s.units);
    vcm_buf_release(&s.escaped);
    vcm_buf_release(&s.value);
    return rc;
}
