#include "tokens/pieces.h"

#include "tokens/block.h"

#include "base/banned.h"

/* A count under way. Short pieces are looked up a block at a time, and those that the cache does
 * not hold are counted some at a time, so that the memory answers meanwhile. */
struct counting {
    const struct bpe *bpe;
    struct bpe_cache *cache;
    const unsigned char *end;
    size_t count;
    size_t missed_len;
    struct bpe_missed missed[BPE_MISSED_MAX];
};

static void count_missed(struct counting *counting)
{
    counting->count += vcm_bpe_count_missed(counting->bpe, counting->missed, counting->missed_len);
    counting->missed_len = 0;
}

SCAN_INLINE void begin_lookup(const struct counting *counting, struct bpe_missed *lookup,
                              const unsigned char *piece, size_t len)
{
    lookup->key = bpe_short_key(piece, len, counting->end);
    lookup->slot = bpe_short_slot(counting->cache, lookup->key);
    __builtin_prefetch(lookup->slot);
}

SCAN_INLINE void end_lookup(struct counting *counting, const struct bpe_missed *lookup)
{
    if (bpe_short_holds(lookup->slot, &lookup->key)) {
        counting->count += (size_t)(lookup->slot->high >> 60);
        return;
    }
    counting->missed[counting->missed_len++] = *lookup;
    if (counting->missed_len == BPE_MISSED_MAX)
        count_missed(counting);
}

static void count_piece(struct counting *counting, const unsigned char *piece, size_t len)
{
    if (counting->cache && len <= BPE_SHORT_BYTES) {
        struct bpe_missed lookup;
        begin_lookup(counting, &lookup, piece, len);
        end_lookup(counting, &lookup);
    } else {
        counting->count += vcm_bpe_count_long(counting->bpe, counting->cache, piece, len);
    }
}

/* Counts the pieces that begin at the bits of `starts`, but for the last, and returns that. */
SCAN_INLINE const unsigned char *count_block(struct counting *counting, uint64_t starts,
                                             const unsigned char *block)
{
    struct bpe_missed lookups[BLOCK_BYTES];
    uint64_t single = starts & starts >> 1;
    uint64_t last = UINT64_C(1) << (63 - __builtin_clzll(starts));
    size_t held = 0;
    /* A byte is a token. */
    counting->count += (size_t)__builtin_popcountll(single);
    for (uint64_t left = starts & ~single & ~last; left; left &= left - 1) {
        unsigned from = (unsigned)__builtin_ctzll(left);
        size_t len = (size_t)__builtin_ctzll(starts >> from >> 1) + 1;
        if (len <= BPE_SHORT_BYTES)
            begin_lookup(counting, &lookups[held++], block + from, len);
        else
            count_piece(counting, block + from, len);
    }
    for (size_t i = 0; i < held; i++)
        end_lookup(counting, &lookups[i]);
    return block + __builtin_ctzll(last);
}

SCAN_INLINE size_t count_pieces(enum scan_pattern pattern, const struct bpe *bpe,
                                const unsigned char **at, const unsigned char *end, bool final,
                                size_t limit)
{
    struct counting counting; /* not cleared: the list is long, and a text may be short */
    counting.bpe = bpe;
    counting.cache = vcm_bpe_cache(bpe);
    counting.end = end;
    counting.count = 0;
    counting.missed_len = 0;
    const unsigned char *piece = *at;
    while (piece < end && counting.count <= limit) {
        uint64_t starts = 1;
        if (counting.cache && end - piece >= BLOCK_BYTES)
            starts = block_starts(pattern, piece);
        if (starts != 1) {
            piece = count_block(&counting, starts, piece);
            continue;
        }
        const unsigned char *next = scan_next(pattern, piece, end, final);
        if (!next)
            break;
        count_piece(&counting, piece, (size_t)(next - piece));
        piece = next;
    }
    count_missed(&counting);
    *at = piece;
    return counting.count;
}

size_t vcm_pieces_count(const struct vcm_tokenizer *tokenizer, const unsigned char **at,
                        const unsigned char *end, bool final, size_t limit)
{
    const struct bpe *bpe = &tokenizer->bpe;
    return tokenizer->pattern == SCAN_O200K ? count_pieces(SCAN_O200K, bpe, at, end, final, limit)
                                            : count_pieces(SCAN_CL100K, bpe, at, end, final, limit);
}
