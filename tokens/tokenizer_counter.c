#include "tokens/tokenizer.h"

#include <stdint.h>

#include "base/utf8.h"
#include "tokens/long_piece.h"
#include "tokens/pieces.h"
#include "tokens/utf8_step.h"

#include "base/banned.h"

/* How much of an unfinished piece is buffered before it is counted as a long one. */
#define PENDING_BYTES 1024

/* How much new text is added to it at a time: enough to finish most pieces. */
#define JOIN_BYTES 64

/*
 * What was fed is, in this order: the finished pieces, whose tokens are `settled`; an unfinished
 * piece, in `long_piece` when that has a state; text in `pending`, which is empty while a long
 * piece goes on; and the beginning of a character, in `partial`.
 */
struct counter {
    const struct vcm_tokenizer *tokenizer;
    size_t settled;
    size_t bytes; /* of the whole characters, after replacement: all that approx4 needs */
    unsigned char partial[4];
    size_t partial_len;
    unsigned char pending[PENDING_BYTES];
    size_t pending_len;
    struct long_piece long_piece; /* last, see copy_state() */
};

_Static_assert(sizeof(struct counter) <= sizeof(struct vcm_tokenizer_counter),
               "the public counter must hold ours");

static const unsigned char replacement[] = {0xef, 0xbf, 0xbd};

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
    struct counter *state = state_of(counter);
    state->tokenizer = tokenizer;
    state->settled = 0;
    state->bytes = 0;
    state->partial_len = 0;
    state->pending_len = 0;
    state->long_piece.state = LONG_PIECE_NONE;
}

/* Begins or continues a long piece; the text behind its end becomes pending. */
static size_t feed_long_piece(struct counter *counter, const unsigned char *text, size_t len)
{
    struct long_piece *piece = &counter->long_piece;
    size_t taken = vcm_long_piece_feed(piece, counter->tokenizer, text, len);
    if (piece->state == LONG_PIECE_NONE) {
        counter->settled += vcm_long_piece_count(piece);
        memcpy(counter->pending, piece->kept, piece->kept_len);
        counter->pending_len = piece->kept_len;
    }
    return taken;
}

/* The longest part of at most `max` bytes that ends with a whole character; `max` is at least 4. */
static size_t whole_characters(const unsigned char *text, size_t len, size_t max)
{
    if (len <= max)
        return len;
    while ((text[max] & 0xc0) == 0x80)
        max--;
    return max;
}

/* Appends the beginning of `text` to the pending text, and counts the pieces that this finishes.
 * Returns how many bytes of `text` were used. */
static size_t feed_pending(struct counter *counter, const unsigned char *text, size_t len)
{
    size_t before = counter->pending_len;
    if (PENDING_BYTES - before < JOIN_BYTES) {
        vcm_long_piece_begin(&counter->long_piece, counter->tokenizer, counter->pending, before);
        counter->pending_len = 0;
        return 0;
    }
    size_t joined = whole_characters(text, len, JOIN_BYTES);
    memcpy(counter->pending + before, text, joined);
    const unsigned char *at = counter->pending;
    const unsigned char *end = at + before + joined;
    counter->settled += pieces_count(counter->tokenizer, &at, end, false);
    size_t done = (size_t)(at - counter->pending);
    if (done >= before) {
        counter->pending_len = 0;
        return done - before;
    }
    counter->pending_len = before + joined - done;
    memmove(counter->pending, at, counter->pending_len);
    return joined;
}

/* Takes valid UTF-8 of whole characters. */
static void feed_text(struct counter *counter, const unsigned char *text, size_t len)
{
    const unsigned char *end = text + len;
    counter->bytes += len;
    if (!counter->tokenizer->exact)
        return;
    while (text < end) {
        if (counter->long_piece.state != LONG_PIECE_NONE) {
            text += feed_long_piece(counter, text, (size_t)(end - text));
        } else if (counter->pending_len > 0) {
            text += feed_pending(counter, text, (size_t)(end - text));
        } else {
            counter->settled += pieces_count(counter->tokenizer, &text, end, false);
            size_t rest = whole_characters(text, (size_t)(end - text), PENDING_BYTES);
            memcpy(counter->pending, text, rest);
            counter->pending_len = rest;
            text += rest;
        }
    }
}

/* Adds bytes to the partial character until it is complete or invalid; returns how many. */
static size_t feed_partial(struct counter *counter, struct vcm_slice piece)
{
    size_t used = 0;
    while (counter->partial_len > 0) {
        struct utf8_step step = utf8_step(counter->partial, counter->partial_len);
        if (step.kind == UTF8_STEP_INCOMPLETE) {
            if (used == piece.len)
                break;
            counter->partial[counter->partial_len++] = (unsigned char)piece.data[used++];
            continue;
        }
        if (step.kind == UTF8_STEP_VALID)
            feed_text(counter, counter->partial, step.len);
        else
            feed_text(counter, replacement, sizeof replacement);
        counter->partial_len -= step.len;
        memmove(counter->partial, counter->partial + step.len, counter->partial_len);
    }
    return used;
}

void vcm_tokenizer_counter_feed(struct vcm_tokenizer_counter *counter, struct vcm_slice piece)
{
    struct counter *state = state_of(counter);
    size_t at = feed_partial(state, piece);
    while (at < piece.len) {
        const unsigned char *bytes = (const unsigned char *)piece.data + at;
        size_t left = piece.len - at;
        size_t valid = vcm_utf8_valid_prefix(vcm_slice_of(bytes, left));
        feed_text(state, bytes, valid);
        at += valid;
        if (valid == left)
            break;
        struct utf8_step step = utf8_step(bytes + valid, left - valid);
        if (step.kind == UTF8_STEP_INCOMPLETE) {
            memcpy(state->partial, bytes + valid, step.len);
            state->partial_len = step.len;
        } else {
            feed_text(state, replacement, sizeof replacement);
        }
        at += step.len;
    }
}

/* The prefixes of a long piece are most of a counter's size, and unused while there is none. */
static void copy_state(struct counter *copy, const struct counter *counter)
{
    bool is_long = counter->long_piece.state != LONG_PIECE_NONE;
    memcpy(copy, counter, is_long ? sizeof *counter : offsetof(struct counter, long_piece.whole));
}

size_t vcm_tokenizer_counter_total(const struct vcm_tokenizer_counter *counter,
                                   struct vcm_slice tail)
{
    struct vcm_tokenizer_counter copy;
    struct counter *state = state_of(&copy);
    copy_state(state, const_state_of(counter));
    vcm_tokenizer_counter_feed(&copy, tail);
    if (state->partial_len > 0)
        feed_text(state, replacement, sizeof replacement);
    if (!state->tokenizer->exact)
        return state->bytes / 4 + (state->bytes % 4 != 0);
    if (state->long_piece.state != LONG_PIECE_NONE) {
        vcm_long_piece_finish(&state->long_piece, state->tokenizer);
        feed_long_piece(state, NULL, 0);
    }
    const unsigned char *at = state->pending;
    return state->settled + pieces_count(state->tokenizer, &at, at + state->pending_len, true);
}

size_t vcm_tokenizer_counter_floor(const struct vcm_tokenizer_counter *counter)
{
    const struct counter *state = const_state_of(counter);
    if (!state->tokenizer->exact)
        return state->bytes / 4 + (state->bytes % 4 != 0);
    if (state->long_piece.state != LONG_PIECE_NONE)
        return state->settled + vcm_long_piece_floor(&state->long_piece);
    return state->settled;
}
