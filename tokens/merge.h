/*
 * merge.h - merges the pairs of short pieces of text, several pieces at a time. Internal to
 * tokens/.
 *
 * Nearly all of the time of a merge is spent waiting for the table of pairs, which is larger than
 * the caches near the processor. A piece cannot look up its next pairs before the last ones are
 * found, but meanwhile the look-ups of other pieces proceed.
 */
#ifndef VCM_TOKENS_MERGE_H
#define VCM_TOKENS_MERGE_H

#include "tokens/bpe.h"

/* A pair that is being looked up, and the part that begins it. */
struct merge_lookup {
    uint64_t key;
    uint64_t hash;
    const uint64_t *slot;
    uint8_t at;
    bool wanted;
};

/* A piece that is being merged. A part is identified by its first byte; parts that were merged into
 * others are skipped. */
struct merge {
    uint32_t parts[BPE_MERGE_BYTES_MAX];
    uint32_t
        ranks[BPE_MERGE_BYTES_MAX]; /* of the token that it makes with the next, and its place */
    uint8_t next[BPE_MERGE_BYTES_MAX];
    uint8_t before[BPE_MERGE_BYTES_MAX];
    uint8_t len;
    uint8_t count; /* of parts; at the end, the tokens of the piece */
    struct merge_lookup left;
    struct merge_lookup right;
};

/* `len` is from 1 to BPE_MERGE_BYTES_MAX. */
void vcm_merge_begin(struct merge *merge, const struct bpe *bpe, const unsigned char *piece,
                     size_t len);

/* Merges the pair of the lowest rank, the leftmost first, until no pair is a token, in each. */
void vcm_merge_finish(struct merge *merges, size_t count, const struct bpe *bpe);

#endif
