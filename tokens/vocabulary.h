/*
 * vocabulary.h - the compiled form of a vocabulary: constant, position-independent, read in place.
 *
 * tokens/gen/vocabulary.c writes it at build time and vocabulary_data.c puts it into the program. A
 * token is identified by its rank. Ranks are dense, every single byte has one, and every longer
 * token is made by exactly one merge of two others; the generator refuses any other vocabulary.
 * Integers are little-endian, so the machine must be, too. Internal to tokens/.
 */
#ifndef VCM_TOKENS_VOCABULARY_H
#define VCM_TOKENS_VOCABULARY_H

#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a vocabulary is read in place");

#define VOCABULARY_MAGIC UINT64_C(0x316b6f746d6376) /* "vcmtok1" */

#define VOCABULARY_RANK_BITS       18
#define VOCABULARY_NODE_BITS       20
#define VOCABULARY_TOKEN_BYTES_MAX 128

/* No token: above every rank. */
#define VOCABULARY_NONE ((1u << VOCABULARY_RANK_BITS) - 1)

struct vocabulary_split {
    uint32_t left; /* of a single byte: its own rank, twice */
    uint32_t right;
};

/* A hash without collisions: the bucket of a key says by how much its hash is displaced. */
struct vocabulary_hash {
    uint32_t slots;
    uint32_t bucket_mask;
    uint32_t slots_at;
    uint32_t displacements_at; /* of 16 bits */
};

/* Bytes, zeros, and in the last byte the length. */
struct vocabulary_word {
    uint64_t low;
    uint64_t high;
};

#define VOCABULARY_WORD_BYTES 15

/*
 * Sections follow the header at these offsets from its first byte.
 *
 * pairs: from (left, right) to the token that the two make, (key << RANK_BITS) | rank, with no key
 * in an unused slot. byte_pairs: the same for two single bytes, 256 for each first one, or NONE:
 * every merge begins with it. words: the tokens of up to WORD_BYTES bytes, most of the pieces of
 * any text. nodes: a double-array trie over the tokens read from their last byte to their first:
 * base, parent and rank (or NONE); node 0 is the root, which is its own parent.
 */
struct vocabulary {
    uint64_t magic;
    uint32_t tokens;
    uint32_t nodes;
    uint32_t splits_at;
    uint32_t nodes_at;
    struct vocabulary_hash pairs;
    struct vocabulary_hash words;
    uint32_t byte_pairs_at;
    uint32_t reserved;
    uint32_t byte_ranks[256];
};

extern const struct vocabulary vcm_vocabulary_o200k_base;
extern const struct vocabulary vcm_vocabulary_cl100k_base;

static inline const void *vocabulary_section(const struct vocabulary *vocabulary, uint32_t at)
{
    return (const char *)vocabulary + at;
}

static inline uint64_t vocabulary_pair_key(uint32_t left, uint32_t right)
{
    return (uint64_t)left << VOCABULARY_RANK_BITS | right;
}

static inline uint64_t vocabulary_pair_hash(uint64_t key)
{
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

static inline uint64_t vocabulary_word_hash(struct vocabulary_word word)
{
    uint64_t hash =
        (word.low ^ word.high * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static inline uint32_t vocabulary_slot(const struct vocabulary_hash *shape, uint64_t hash,
                                       uint32_t displacement)
{
    uint64_t mixed = (hash + displacement) * UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)((mixed >> 32) * shape->slots >> 32);
}

static inline uint64_t vocabulary_node(uint32_t base, uint32_t parent, uint32_t rank)
{
    return (uint64_t)base << (VOCABULARY_NODE_BITS + VOCABULARY_RANK_BITS) |
           (uint64_t)parent << VOCABULARY_RANK_BITS | rank;
}

static inline uint32_t vocabulary_node_base(uint64_t node)
{
    return (uint32_t)(node >> (VOCABULARY_NODE_BITS + VOCABULARY_RANK_BITS));
}

static inline uint32_t vocabulary_node_parent(uint64_t node)
{
    return (uint32_t)(node >> VOCABULARY_RANK_BITS) & ((1u << VOCABULARY_NODE_BITS) - 1);
}

static inline uint32_t vocabulary_node_rank(uint64_t node)
{
    return (uint32_t)node & ((1u << VOCABULARY_RANK_BITS) - 1);
}

#endif
