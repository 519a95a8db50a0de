/*
 * pieces.h - the hot loop: splits text into pieces and adds up their tokens.
 *
 * Also defines struct vcm_tokenizer: the pattern and the vocabulary. The loop is compiled for each
 * instruction set that makes it faster; vcm_pieces_choose() selects what the machine supports.
 * Internal to tokens/.
 */
#ifndef VCM_TOKENS_PIECES_H
#define VCM_TOKENS_PIECES_H

#include <stdbool.h>
#include <stddef.h>

#include "tokens/bpe.h"
#include "tokens/scan.h"
#include "tokens/tokenizer.h"

/* Counts the pieces of [at, end), valid UTF-8. */
struct pieces_job {
    const unsigned char *at; /* in: a piece; out: behind the last one counted, which is `end` when
                              * `final`, else the piece that more text could change */
    const unsigned char *end;
    bool final;
    size_t tokens;             /* in: of what is before `at`; out: of what is before it now */
    const unsigned char *text; /* marks are offsets from here */
    struct vcm_tokenizer_mark *marks;
    size_t marks_len;
    size_t marks_done; /* out */
};

typedef void (*vcm_pieces_fn)(const struct vcm_tokenizer *tokenizer, struct pieces_job *job);

struct vcm_tokenizer {
    const char *name;
    bool exact; /* else approx4, and the rest means nothing */
    enum scan_pattern pattern;
    vcm_pieces_fn pieces;
    struct bpe bpe;
};

vcm_pieces_fn vcm_pieces_choose(void);

void vcm_pieces_count_plain(const struct vcm_tokenizer *tokenizer, struct pieces_job *job);
void vcm_pieces_count_avx2(const struct vcm_tokenizer *tokenizer, struct pieces_job *job);
void vcm_pieces_count_avx512(const struct vcm_tokenizer *tokenizer, struct pieces_job *job);

/* The tokens of the pieces of [*at, end), without marks. */
static inline size_t pieces_count(const struct vcm_tokenizer *tokenizer, const unsigned char **at,
                                  const unsigned char *end, bool final)
{
    struct pieces_job job = {.at = *at, .end = end, .final = final, .text = *at};

    tokenizer->pieces(tokenizer, &job);
    *at = job.at;
    return job.tokens;
}

#endif
