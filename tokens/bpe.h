/*
 * bpe.h - how many tokens the byte-pair merges of a vocabulary leave of one piece of text.
 *
 * A piece is what the splitting pattern (scan.h) gives; merges never cross its ends. Two ways to
 * the same number: merging, quick for the short pieces that texts are made of, and struct
 * bpe_prefix, which takes a piece of any length byte by byte in fixed memory and linear time.
 * bpe_count() remembers short pieces per thread. Internal to tokens/.
 */
#ifndef VCM_TOKENS_BPE_H
#define VCM_TOKENS_BPE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tokens/vocabulary.h"

/* Above this, merging (which is quadratic) is slower than struct bpe_prefix. */
#define BPE_MERGE_BYTES_MAX 256

/* One 16-byte slot: up to 15 bytes of a piece, its length (4 bits) and its count (4 bits). */
#define BPE_CACHE_BITS        14
#define BPE_CACHE_PIECE_BYTES 15

struct bpe_cache_slot {
    uint64_t low;
    uint64_t high;
};

struct bpe_cache {
    struct bpe_cache_slot slots[1 << BPE_CACHE_BITS];
};

struct bpe {
    const struct vocabulary *vocabulary;
    const struct vocabulary_split *splits;
    const uint64_t *pairs;
    const uint16_t *displacements;
    const uint64_t *nodes;
    unsigned cache; /* which of the thread's caches */
};

void vcm_bpe_init(struct bpe *bpe, const struct vocabulary *vocabulary, unsigned cache);

#define BPE_CACHES 2

/* The calling thread's cache for this vocabulary. */
struct bpe_cache *vcm_bpe_cache(const struct bpe *bpe);

/* The count of a piece of any length, not looked up in a cache. */
size_t vcm_bpe_count_piece(const struct bpe *bpe, const unsigned char *piece, size_t len);

/* Counts what the cache does not hold, and puts it there. */
size_t vcm_bpe_count_missed(const struct bpe *bpe, struct bpe_cache_slot *slot,
                            struct bpe_cache_slot key, const unsigned char *piece, size_t len);

/*
 * The encodings of all prefixes of a piece: the last token of each, and how many tokens it has, for
 * the latest prefixes. Any token sequence in which each two neighbours alone would stay as they are
 * is the encoding of its bytes, so the last token of a prefix is the one token that ends there and
 * agrees with the last token of the prefix before it.
 */
#define BPE_PREFIX_RING 256

struct bpe_prefix {
    uint64_t len; /* bytes taken so far */
    uint64_t counts[BPE_PREFIX_RING];
    uint32_t last[BPE_PREFIX_RING];
    unsigned char bytes[BPE_PREFIX_RING];
};

void vcm_bpe_prefix_init(struct bpe_prefix *prefix);
void vcm_bpe_prefix_push(struct bpe_prefix *prefix, const struct bpe *bpe,
                         const unsigned char *bytes, size_t len);

/* The count of the prefix that lacks the last `back` bytes, at most VOCABULARY_TOKEN_BYTES_MAX. */
static inline size_t bpe_prefix_count(const struct bpe_prefix *prefix, size_t back)
{
    return (size_t)prefix->counts[(prefix->len - back) % BPE_PREFIX_RING];
}

/* No continuation has a prefix of fewer tokens than this. */
size_t vcm_bpe_prefix_floor(const struct bpe_prefix *prefix);

static inline struct bpe_cache_slot bpe_cache_key(const unsigned char *piece, size_t len,
                                                  const unsigned char *end)
{
    struct bpe_cache_slot key = {0, 0};
    if ((size_t)(end - piece) >= 16) {
        memcpy(&key.low, piece, 8);
        memcpy(&key.high, piece + 8, 8);
        unsigned low_bits = len < 8 ? (unsigned)(8 - len) * 8 : 0;
        unsigned high_bits = len > 8 ? (unsigned)(16 - len) * 8 : 0;
        key.low = key.low << low_bits >> low_bits;
        key.high = len > 8 ? key.high << high_bits >> high_bits : 0;
    } else {
        memcpy(&key, piece, len);
    }
    key.high |= (uint64_t)len << 56;
    return key;
}

/* The count of one piece of a text that ends at `end` (which only bounds what may be read). */
static inline size_t bpe_count(const struct bpe *bpe, struct bpe_cache *cache,
                               const unsigned char *piece, size_t len, const unsigned char *end)
{
    if (len > BPE_CACHE_PIECE_BYTES)
        return vcm_bpe_count_piece(bpe, piece, len);
    struct bpe_cache_slot key = bpe_cache_key(piece, len, end);
    uint64_t hash =
        (key.low ^ key.high * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15);
    struct bpe_cache_slot *slot = &cache->slots[hash >> (64 - BPE_CACHE_BITS)];
    if (slot->low == key.low && (slot->high & (UINT64_MAX >> 4)) == key.high)
        return (size_t)(slot->high >> 60);
    return vcm_bpe_count_missed(bpe, slot, key, piece, len);
}

#endif
