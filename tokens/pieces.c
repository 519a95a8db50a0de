#include "tokens/pieces.h"

#include "base/banned.h"

/* Short pieces are looked up some at a time, so that the memory answers while the next are found.
 */
#define BATCH 16

struct batch_entry {
    struct vocabulary_word key;
    struct vocabulary_word *slot;
    const unsigned char *piece;
};

static inline size_t count_batch(const struct bpe *bpe, const struct batch_entry *batch, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += bpe_count_short(bpe, batch[i].slot, batch[i].key, batch[i].piece);
    return count;
}

SCAN_INLINE size_t count_pieces(enum scan_pattern pattern, const struct bpe *bpe,
                                const unsigned char **at, const unsigned char *end, bool final,
                                size_t limit)
{
    struct bpe_cache *cache = vcm_bpe_cache(bpe);
    struct batch_entry batch[BATCH];
    const unsigned char *piece = *at;
    size_t count = 0;
    bool more = true;
    while (more && count <= limit) {
        size_t held = 0;
        while (held < BATCH && (more = piece < end)) {
            const unsigned char *next = scan_next(pattern, piece, end, final);
            if (!(more = next != NULL))
                break;
            size_t len = (size_t)(next - piece);
            if (cache && len <= BPE_SHORT_BYTES) {
                struct batch_entry *entry = &batch[held++];
                entry->key = bpe_short_key(piece, len, end);
                entry->slot = bpe_short_slot(cache, entry->key);
                entry->piece = piece;
                __builtin_prefetch(entry->slot);
            } else {
                count += vcm_bpe_count_long(bpe, cache, piece, len);
            }
            piece = next;
        }
        count += count_batch(bpe, batch, held);
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
