#include "tokens/tokenizer.h"

#include <stdlib.h>

#include "tokens/utf8_step.h"

#include "base/banned.h"

#define REPLACEMENT_BYTES 3

enum kind {
    KIND_APPROX4,
};

struct vcm_tokenizer {
    enum kind kind;
    const char *name;
};

struct counter {
    const struct vcm_tokenizer *tokenizer;
    size_t bytes;             /* after replacement, without what is pending */
    unsigned char pending[4]; /* an incomplete sequence */
    size_t pending_len;
};

_Static_assert(sizeof(struct counter) <= sizeof(struct vcm_tokenizer_counter),
               "the public counter must hold ours");

static const char *const NAMES[] = {"approx4", NULL};

const char *const *vcm_tokenizer_names(void)
{
    return NAMES;
}

static int unknown_name(const char *name, struct vcm_error *err)
{
    struct vcm_buf known = VCM_BUF_INIT(256);
    for (const char *const *each = NAMES; *each; each++)
        vcm_buf_append_format(&known, "%s%s", each == NAMES ? "" : ", ", *each);
    int rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "no tokenizer '%s'; known are: %s", name,
                           vcm_buf_text(&known));
    vcm_buf_release(&known);
    return rc;
}

int vcm_tokenizer_open(struct vcm_tokenizer **out, const char *name, struct vcm_error *err)
{
    *out = NULL;
    size_t kind = 0;
    while (NAMES[kind] && strcmp(NAMES[kind], name) != 0)
        kind++;
    if (!NAMES[kind])
        return unknown_name(name, err);
    struct vcm_tokenizer *tokenizer = calloc(1, sizeof(*tokenizer));
    if (!tokenizer)
        return vcm_error_memory(err);
    tokenizer->kind = (enum kind)kind;
    tokenizer->name = NAMES[kind];
    *out = tokenizer;
    return VCM_OK;
}

void vcm_tokenizer_close(struct vcm_tokenizer *tokenizer)
{
    free(tokenizer);
}

const char *vcm_tokenizer_name(const struct vcm_tokenizer *tokenizer)
{
    return tokenizer->name;
}

static size_t approx4(size_t bytes)
{
    return bytes / 4 + (bytes % 4 != 0);
}

static struct counter *state_of(struct vcm_tokenizer_counter *counter)
{
    return (struct counter *)(void *)counter->state;
}

static const struct counter *const_state_of(const struct vcm_tokenizer_counter *counter)
{
    return (const struct counter *)(const void *)counter->state;
}

void vcm_tokenizer_counter_init(struct vcm_tokenizer_counter *counter,
                                const struct vcm_tokenizer *tokenizer)
{
    *state_of(counter) = (struct counter){.tokenizer = tokenizer};
}

static void count_step(struct counter *counter, struct utf8_step step)
{
    counter->bytes += step.kind == UTF8_STEP_VALID ? step.len : REPLACEMENT_BYTES;
}

/* Takes bytes of the piece into the pending sequence until that is decided; returns how many. */
static size_t settle_pending(struct counter *counter, struct vcm_slice piece)
{
    size_t used = 0;
    while (counter->pending_len > 0) {
        struct utf8_step step = utf8_step(counter->pending, counter->pending_len);
        if (step.kind != UTF8_STEP_INCOMPLETE) {
            count_step(counter, step);
            counter->pending_len -= step.len;
            memmove(counter->pending, counter->pending + step.len, counter->pending_len);
        } else if (used < piece.len) {
            counter->pending[counter->pending_len++] = (unsigned char)piece.data[used++];
        } else {
            break;
        }
    }
    return used;
}

void vcm_tokenizer_counter_feed(struct vcm_tokenizer_counter *counter, struct vcm_slice piece)
{
    struct counter *state = state_of(counter);
    size_t at = settle_pending(state, piece);
    while (at < piece.len) {
        const unsigned char *bytes = (const unsigned char *)piece.data + at;
        struct utf8_step step = utf8_step(bytes, piece.len - at);
        if (step.kind == UTF8_STEP_INCOMPLETE) {
            memcpy(state->pending, bytes, step.len);
            state->pending_len = step.len;
        } else {
            count_step(state, step);
        }
        at += step.len;
    }
}

size_t vcm_tokenizer_counter_total(const struct vcm_tokenizer_counter *counter,
                                   struct vcm_slice tail)
{
    struct vcm_tokenizer_counter copy = *counter;
    vcm_tokenizer_counter_feed(&copy, tail);
    const struct counter *state = const_state_of(&copy);
    return approx4(state->bytes + (state->pending_len > 0 ? REPLACEMENT_BYTES : 0));
}

size_t vcm_tokenizer_counter_floor(const struct vcm_tokenizer_counter *counter)
{
    return approx4(const_state_of(counter)->bytes);
}

size_t vcm_tokenizer_count(const struct vcm_tokenizer *tokenizer, struct vcm_slice text)
{
    struct vcm_tokenizer_counter counter;
    vcm_tokenizer_counter_init(&counter, tokenizer);
    vcm_tokenizer_counter_feed(&counter, text);
    return vcm_tokenizer_counter_finish(&counter);
}

size_t vcm_tokenizer_count_limited(const struct vcm_tokenizer *tokenizer, struct vcm_slice text,
                                   size_t limit)
{
    (void)limit;
    return vcm_tokenizer_count(tokenizer, text);
}

/* The end of the unit that begins at `at`: a line, or a character that is no half of a CRLF. */
static size_t unit_end(struct vcm_slice text, size_t at, bool lines)
{
    const char *from = text.data + at;
    size_t len = text.len - at;
    if (lines) {
        const char *newline = memchr(from, '\n', len);
        return newline ? (size_t)(newline - text.data) + 1 : text.len;
    }
    if (len > 1 && from[0] == '\r' && from[1] == '\n')
        return at + 2;
    return at + utf8_step((const unsigned char *)from, len).len;
}

static size_t fit_units(const struct vcm_tokenizer *tokenizer, struct vcm_slice text, size_t limit,
                        bool lines, size_t *tokens)
{
    struct vcm_tokenizer_counter counter;
    size_t best = 0;
    size_t at = 0;
    *tokens = 0;
    vcm_tokenizer_counter_init(&counter, tokenizer);
    while (at < text.len && vcm_tokenizer_counter_floor(&counter) <= limit) {
        size_t end = unit_end(text, at, lines);
        vcm_tokenizer_counter_feed(&counter, vcm_slice_of(text.data + at, end - at));
        size_t total = vcm_tokenizer_counter_finish(&counter);
        if (total <= limit) {
            best = end;
            *tokens = total;
        }
        at = end;
    }
    return best;
}

size_t vcm_tokenizer_fit(const struct vcm_tokenizer *tokenizer, struct vcm_slice text, size_t limit,
                         size_t *tokens)
{
    size_t best = fit_units(tokenizer, text, limit, true, tokens);
    return best > 0 ? best : fit_units(tokenizer, text, limit, false, tokens);
}
