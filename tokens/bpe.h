/*
 * bpe.h - how many tokens one piece of text has after the byte-pair merges of a vocabulary.
 *
 * A piece is what the splitting pattern (scan.h) gives; merges never cross its ends. There are two
 * algorithms with the same result: merging, fast for the short pieces of most texts, and struct
 * bpe_prefix, which reads a piece of any length byte by byte in fixed memory and linear time.
 * bpe_count() caches short pieces per thread. Internal to tokens/.
 */
#ifndef VCM_TOKENS_BPE_H
#define VCM_TOKENS_BPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tokens/vocabulary.h"

/* Above this, merging (which is quadratic) is slower than struct bpe_prefix. */
#define BPE_MERGE_BYTES_MAX 62

/* A short piece is cached in the form of the vocabulary's words, with the count in the highest 4
 * bits. */
#define BPE_SHORT_BYTES VOCABULARY_WORD_BYTES
#define BPE_SHORT_BITS  17

/* A middling piece is cached as a whole; longer ones are rare and not cached. */
#define BPE_MIDDLE_BYTES 62
#define BPE_MIDDLE_BITS  12

struct bpe_middle_slot {
    unsigned char bytes[BPE_MIDDLE_BYTES];
    uint8_t len;
    uint8_t count;
};

/* The token that a token and one more byte made before: a guess for the next step of a long run. */
#define BPE_LONGER_BITS 10

struct bpe_longer {
    uint32_t key; /* the token and the byte, plus one */
    uint32_t token;
};

/* Whether two tokens are compatible, as found before: the pair's key, plus one, and the answer in
 * the lowest bit. */
#define BPE_AGREED_BITS 13

struct bpe_cache {
    struct vocabulary_word shorts[1 << BPE_SHORT_BITS];
    struct bpe_middle_slot middles[1 << BPE_MIDDLE_BITS];
    struct bpe_longer longer[1 << BPE_LONGER_BITS];
    uint64_t agreed[1 << BPE_AGREED_BITS];
};

struct bpe {
    const struct vocabulary *vocabulary;
    const struct vocabulary_split *splits;
    const uint64_t *pairs;
    const uint16_t *pair_displacements;
    const uint32_t *byte_pairs;
    const struct vocabulary_word *words;
    const uint16_t *word_displacements;
    const uint64_t *nodes;
    unsigned cache; /* the index of the thread's cache */
};

#define BPE_CACHES 2

void vcm_bpe_init(struct bpe *bpe, const struct vocabulary *vocabulary, unsigned cache);

/* The calling thread's cache for this vocabulary; NULL without memory for one. */
struct bpe_cache *vcm_bpe_cache(const struct bpe *bpe);

/* The count of a piece of any length. `cache` may be NULL. */
size_t vcm_bpe_count_long(const struct bpe *bpe, struct bpe_cache *cache,
                          const unsigned char *piece, size_t len);

/*
 * The encodings of all prefixes of a piece: the last token and the number of tokens of each, for
 * the latest prefixes. Any token sequence in which each two neighbours alone would stay as they are
 * is the encoding of its bytes, so the last token of a prefix is the one token that ends there and
 * is compatible with the last token of the prefix before it.
 */
#define BPE_PREFIX_RING 256

struct bpe_prefix {
    uint64_t len; /* bytes read so far */
    uint64_t counts[BPE_PREFIX_RING];
    uint32_t last[BPE_PREFIX_RING];
    uint8_t last_len[BPE_PREFIX_RING];
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

/* No continuation has fewer tokens than this. */
size_t vcm_bpe_prefix_floor(const struct bpe_prefix *prefix);

/* The slot for a pair with this hash; and its token, or NONE. */
static inline const uint64_t *bpe_pair_slot(const struct bpe *bpe, uint64_t hash)
{
    const struct vocabulary_hash *shape = &bpe->vocabulary->pairs;
    uint16_t displacement = bpe->pair_displacements[hash & shape->bucket_mask];
    return &bpe->pairs[vocabulary_slot(shape, hash, displacement)];
}

static inline uint32_t bpe_pair_rank(uint64_t pair, uint64_t key)
{
    return pair >> VOCABULARY_RANK_BITS == key ? (uint32_t)pair & VOCABULARY_NONE : VOCABULARY_NONE;
}

/* For each length, a mask of the piece's bytes among 16. */
extern const struct vocabulary_word vcm_bpe_short_masks[16];

/* The key of a short piece in a text that ends at `end`, which bounds the bytes that may be
 * read. */
static inline struct vocabulary_word bpe_short_key(const unsigned char *piece, size_t len,
                                                   const unsigned char *end)
{
    struct vocabulary_word key = {0, 0};
    if (end - piece >= 16) {
        memcpy(&key, piece, 16);
        key.low &= vcm_bpe_short_masks[len].low;
        key.high &= vcm_bpe_short_masks[len].high;
    } else {
        memcpy(&key, piece, len);
    }
    key.high |= (uint64_t)len << 56;
    return key;
}

static inline struct vocabulary_word *bpe_short_slot(struct bpe_cache *cache,
                                                     struct vocabulary_word key)
{
    uint64_t hash = vocabulary_word_hash(key);
    return &cache->shorts[hash >> (64 - BPE_SHORT_BITS)];
}

/* Whether a slot holds this piece; its count is then in the highest 4 bits. */
static inline bool bpe_short_holds(const struct vocabulary_word *slot,
                                   const struct vocabulary_word *key)
{
    return slot->low == key->low && (slot->high & (UINT64_MAX >> 4)) == key->high;
}

/* A piece that was not in its slot. */
struct bpe_missed {
    union {
        struct vocabulary_word key; /* of a short one */
        struct {
            const unsigned char *piece;
            struct bpe_middle_slot *slot;
        } middle;
    };
    struct vocabulary_word *slot; /* NULL for a middling one */
    uint32_t count;               /* once it is counted */
    uint32_t middle_len;
};

/* The slot of a middling piece; true with its count if it is cached. */
bool vcm_bpe_find_middle(struct bpe_missed *out, struct bpe_cache *cache,
                         const unsigned char *piece, size_t len);

/* Counts such pieces and puts them into their slots. Counting many together overlaps their waits
 * for memory. */
#define BPE_MISSED_MAX 16
size_t vcm_bpe_count_missed(const struct bpe *bpe, struct bpe_missed *missed, size_t len);

#endif
