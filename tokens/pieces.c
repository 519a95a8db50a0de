#include "tokens/pieces.h"

#include "base/banned.h"

static inline __attribute__((always_inline)) size_t
count_pieces(enum scan_pattern pattern, const struct bpe *bpe, const unsigned char **at,
             const unsigned char *end, bool final, size_t limit)
{
    struct bpe_cache *cache = vcm_bpe_cache(bpe);
    const unsigned char *piece = *at;
    size_t count = 0;
    while (piece < end && count <= limit) {
        const unsigned char *next = scan_next(pattern, piece, end, final);
        if (!next)
            break;
        count += bpe_count(bpe, cache, piece, (size_t)(next - piece), end);
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
