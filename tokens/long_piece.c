#include "tokens/long_piece.h"

#include <assert.h>

#include "base/banned.h"

static void push(struct long_piece *piece, const struct vcm_tokenizer *tokenizer,
                 const unsigned char *text, size_t len)
{
    vcm_bpe_prefix_push(&piece->whole, &tokenizer->bpe, text, len);
    if (piece->split)
        vcm_bpe_prefix_push(&piece->rest, &tokenizer->bpe, text, len);
    piece->last_len = len;
}

static void split_here(struct long_piece *piece)
{
    piece->split = true;
    piece->split_count = bpe_prefix_count(&piece->whole, 0);
    vcm_bpe_prefix_init(&piece->rest);
}

/* What scan_next() decides by the first two characters. */
static enum long_piece_state first_state(enum scan_pattern pattern, const unsigned char *text,
                                         size_t *skip)
{
    enum long_piece_state word = pattern == SCAN_O200K ? LONG_PIECE_UPPER : LONG_PIECE_LETTERS;
    struct scan_char first = scan_char(text);
    *skip = 0;
    if (first.class & scan_word_start(pattern))
        return word;
    unsigned second = scan_char(text + first.len).class;
    *skip = first.len;
    if (first.class != UNICODE_NEWLINE && second & scan_word_start(pattern))
        return word;
    if (first.class & SCAN_PUNCT || (*text == ' ' && second & SCAN_PUNCT))
        return LONG_PIECE_PUNCT;
    *skip = 0;
    return LONG_PIECE_SPACE;
}

void vcm_long_piece_begin(struct long_piece *piece, const struct vcm_tokenizer *tokenizer,
                          const unsigned char *text, size_t len)
{
    size_t skip;
    piece->state = first_state(tokenizer->pattern, text, &skip);
    piece->split = false;
    piece->kept_len = 0;
    piece->given_back = 0;
    vcm_bpe_prefix_init(&piece->whole);
    vcm_bpe_prefix_init(&piece->rest);
    push(piece, tokenizer, text, skip);
    size_t taken = vcm_long_piece_feed(piece, tokenizer, text + skip, len - skip);
    assert(taken == len - skip);
    (void)taken;
}

/* Reads one character of a word of o200k_base, or ends the word. */
static bool take_cased(struct long_piece *piece, const struct vcm_tokenizer *tokenizer,
                       const unsigned char *at, struct scan_char next)
{
    if (next.class == UNICODE_LOWER && piece->state == LONG_PIECE_UPPER) {
        piece->state = LONG_PIECE_LOWER;
        piece->split = false;
    }
    if (next.class & (piece->state == LONG_PIECE_UPPER ? SCAN_UPPER_RUN : SCAN_LOWER_RUN)) {
        push(piece, tokenizer, at, next.len);
        if (piece->state == LONG_PIECE_UPPER && next.class & SCAN_LOWER_RUN)
            split_here(piece);
        return true;
    }
    piece->split = piece->split && piece->rest.len > 0;
    piece->state = *at == '\'' ? LONG_PIECE_QUOTE : LONG_PIECE_NONE;
    return false;
}

/* The last space belongs to the next piece. */
static void end_space(struct long_piece *piece)
{
    const struct bpe_prefix *run = piece->split ? &piece->rest : &piece->whole;
    piece->state = LONG_PIECE_NONE;
    if (run->len == 0)
        return;
    for (size_t i = 0; i < piece->last_len; i++)
        piece->kept[i] = run->bytes[(run->len - piece->last_len + 1 + i) % BPE_PREFIX_RING];
    piece->kept_len = piece->last_len;
    piece->given_back = piece->last_len;
}

static bool take_space(struct long_piece *piece, const struct vcm_tokenizer *tokenizer,
                       const unsigned char *at, struct scan_char next)
{
    if (!(next.class & UNICODE_WHITESPACE)) {
        end_space(piece);
        return false;
    }
    push(piece, tokenizer, at, next.len);
    if (next.class == UNICODE_NEWLINE)
        split_here(piece);
    return true;
}

static bool take_plain(struct long_piece *piece, const struct vcm_tokenizer *tokenizer,
                       const unsigned char *at, struct scan_char next)
{
    bool tail = scan_is_punct_tail(tokenizer->pattern, *at);
    bool more = false;
    if (piece->state == LONG_PIECE_LETTERS) {
        more = next.class & UNICODE_LETTER;
    } else if (piece->state == LONG_PIECE_PUNCT && next.class & SCAN_PUNCT) {
        more = true;
    } else if (tail) {
        piece->state = LONG_PIECE_PUNCT_TAIL;
        more = true;
    }
    if (more)
        push(piece, tokenizer, at, next.len);
    else
        piece->state = LONG_PIECE_NONE;
    return more;
}

static void end_quote(struct long_piece *piece, const struct vcm_tokenizer *tokenizer)
{
    size_t len = scan_contraction(piece->kept, piece->kept + piece->kept_len);
    push(piece, tokenizer, piece->kept, len);
    piece->kept_len -= len;
    memmove(piece->kept, piece->kept + len, piece->kept_len);
    piece->state = LONG_PIECE_NONE;
}

static bool take_quote(struct long_piece *piece, const struct vcm_tokenizer *tokenizer,
                       const unsigned char *at, struct scan_char next)
{
    if (piece->kept_len >= 3) {
        end_quote(piece, tokenizer);
        return false;
    }
    memcpy(piece->kept + piece->kept_len, at, next.len);
    piece->kept_len += next.len;
    return true;
}

size_t vcm_long_piece_feed(struct long_piece *piece, const struct vcm_tokenizer *tokenizer,
                           const unsigned char *text, size_t len)
{
    if (len == 0)
        return 0; /* `text` may be NULL */
    const unsigned char *at = text;
    const unsigned char *end = text + len;
    while (at < end && piece->state != LONG_PIECE_NONE) {
        struct scan_char next = scan_char(at);
        bool taken;
        if (piece->state == LONG_PIECE_UPPER || piece->state == LONG_PIECE_LOWER)
            taken = take_cased(piece, tokenizer, at, next);
        else if (piece->state == LONG_PIECE_SPACE)
            taken = take_space(piece, tokenizer, at, next);
        else if (piece->state == LONG_PIECE_QUOTE)
            taken = take_quote(piece, tokenizer, at, next);
        else
            taken = take_plain(piece, tokenizer, at, next);
        if (taken)
            at += next.len;
    }
    return (size_t)(at - text);
}

void vcm_long_piece_finish(struct long_piece *piece, const struct vcm_tokenizer *tokenizer)
{
    if (piece->state == LONG_PIECE_QUOTE)
        end_quote(piece, tokenizer);
    piece->state = LONG_PIECE_NONE;
}

size_t vcm_long_piece_count(const struct long_piece *piece)
{
    assert(piece->state == LONG_PIECE_NONE);
    if (piece->split)
        return piece->split_count + bpe_prefix_count(&piece->rest, piece->given_back);
    return bpe_prefix_count(&piece->whole, piece->given_back);
}

size_t vcm_long_piece_floor(const struct long_piece *piece)
{
    size_t whole = vcm_bpe_prefix_floor(&piece->whole);
    if (!piece->split)
        return whole;
    size_t parts = piece->split_count + vcm_bpe_prefix_floor(&piece->rest);
    return parts < whole ? parts : whole;
}
