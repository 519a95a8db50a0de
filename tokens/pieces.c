#include "tokens/pieces.h"

#include "tokens/block.h"

#include "base/banned.h"

/* Short pieces are looked up a block at a time, so that the memory answers meanwhile. */
struct lookup {
    struct vocabulary_word key;
    struct vocabulary_word *slot;
    const unsigned char *piece;
};

SCAN_INLINE struct lookup begin_lookup(struct bpe_cache *cache, const unsigned char *piece,
                                       size_t len, const unsigned char *end)
{
    struct lookup lookup = {.key = bpe_short_key(piece, len, end), .piece = piece};
    lookup.slot = bpe_short_slot(cache, lookup.key);
    __builtin_prefetch(lookup.slot);
    return lookup;
}

SCAN_INLINE size_t end_lookup(const struct bpe *bpe, const struct lookup *lookup)
{
    return bpe_count_short(bpe, lookup->slot, lookup->key, lookup->piece);
}

static inline size_t count_piece(const struct bpe *bpe, struct bpe_cache *cache,
                                 const unsigned char *piece, size_t len, const unsigned char *end)
{
    if (!cache || len > BPE_SHORT_BYTES)
        return vcm_bpe_count_long(bpe, cache, piece, len);
    struct lookup lookup = begin_lookup(cache, piece, len, end);
    return end_lookup(bpe, &lookup);
}

/* Counts the pieces that begin at the bits of `starts`, but for the last, and moves *at to it. */
SCAN_INLINE size_t count_block(const struct bpe *bpe, struct bpe_cache *cache, uint64_t starts,
                               const unsigned char **at, const unsigned char *end)
{
    struct lookup lookups[BLOCK_BYTES];
    const unsigned char *block = *at;
    const unsigned char *piece = block;
    size_t held = 0;
    size_t count = 0;
    for (starts &= starts - 1; starts; starts &= starts - 1) {
        const unsigned char *next = block + __builtin_ctzll(starts);
        size_t len = (size_t)(next - piece);
        if (len <= BPE_SHORT_BYTES)
            lookups[held++] = begin_lookup(cache, piece, len, end);
        else
            count += vcm_bpe_count_long(bpe, cache, piece, len);
        piece = next;
    }
    for (size_t i = 0; i < held; i++)
        count += end_lookup(bpe, &lookups[i]);
    *at = piece;
    return count;
}

SCAN_INLINE size_t count_pieces(enum scan_pattern pattern, const struct bpe *bpe,
                                const unsigned char **at, const unsigned char *end, bool final,
                                size_t limit)
{
    struct bpe_cache *cache = vcm_bpe_cache(bpe);
    const unsigned char *piece = *at;
    size_t count = 0;
    while (piece < end && count <= limit) {
        uint64_t starts = 1;
        if (cache && end - piece >= BLOCK_BYTES)
            starts = block_starts(pattern, piece);
        if (starts != 1) {
            count += count_block(bpe, cache, starts, &piece, end);
            continue;
        }
        const unsigned char *next = scan_next(pattern, piece, end, final);
        if (!next)
            break;
        count += count_piece(bpe, cache, piece, (size_t)(next - piece), end);
        piece = next;
    }
    *at = piece;
    return count;
}

size_t vcm_pieces_count(const struct vcm_tokenizer *tokenizer, const unsigned char **at,
                        const unsigned char *end, bool final, size_t limit)
{
    const struct bpe *bpe = &tokenizer->bpe;
    return tokenizer->pattern == SCAN_O200K ? count_pieces(SCAN_O200K, bpe, at, end, final, limit)
                                            : count_pieces(SCAN_CL100K, bpe, at, end, final, limit);
}
