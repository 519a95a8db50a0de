/*
 * long_piece.h - splits and counts a piece that is too long to buffer, character by character.
 *
 * Follows the patterns of scan.h in fixed memory. Where the pattern gives characters back at the
 * end of a run (spaces behind the last line break, capitals behind the last caseless letter) two
 * results are possible until the run ends: the whole run is one piece, or it ends at the split and
 * the rest is another piece. Both are counted in parallel. Internal to tokens/.
 */
#ifndef VCM_TOKENS_LONG_PIECE_H
#define VCM_TOKENS_LONG_PIECE_H

#include "tokens/pieces.h"

enum long_piece_state {
    LONG_PIECE_NONE,
    LONG_PIECE_SPACE,
    LONG_PIECE_PUNCT,
    LONG_PIECE_PUNCT_TAIL,
    LONG_PIECE_LETTERS, /* of cl100k_base */
    LONG_PIECE_UPPER,   /* of o200k_base: in U* */
    LONG_PIECE_LOWER,   /* of o200k_base: in L+ */
    LONG_PIECE_QUOTE,   /* of o200k_base: behind the word, with less than 3 bytes seen */
};

struct long_piece {
    enum long_piece_state state;
    bool split;            /* there is a split; `rest` is the text since */
    size_t split_count;    /* tokens up to the split */
    size_t last_len;       /* bytes of the last character */
    size_t given_back;     /* bytes at the end that belong to what follows */
    unsigned char kept[8]; /* read, but belongs to the text behind the piece */
    size_t kept_len;
    struct bpe_prefix whole;
    struct bpe_prefix rest;
};

/* Begins with `len` bytes of whole characters, for which scan_next() found no end. */
void vcm_long_piece_begin(struct long_piece *piece, const struct vcm_tokenizer *tokenizer,
                          const unsigned char *text, size_t len);

/* Reads characters until the piece ends (its state is then NONE) and returns how many bytes of
 * `text` it used. */
size_t vcm_long_piece_feed(struct long_piece *piece, const struct vcm_tokenizer *tokenizer,
                           const unsigned char *text, size_t len);

/* Ends the piece at the end of the text, if it has not ended. */
void vcm_long_piece_finish(struct long_piece *piece, const struct vcm_tokenizer *tokenizer);

/* After the end: its tokens; `kept` is the text that comes before the unused text. */
size_t vcm_long_piece_count(const struct long_piece *piece);

/* Before the end: no continuation has fewer tokens. */
size_t vcm_long_piece_floor(const struct long_piece *piece);

#endif
