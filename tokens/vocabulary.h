/*
 * vocabulary.h - the compiled form of a vocabulary: constant, position-independent, read in place.
 *
 * tokens/gen/vocabulary.c writes it at build time and vocabulary_data.c puts it into the program.
 * A token is known by its rank. Ranks are dense, every single byte has one, and every longer token
 * is made by exactly one merge of two others; the generator refuses a vocabulary that is not so.
 * All integers have the byte order of the machine that built it. Internal to tokens/.
 */
#ifndef VCM_TOKENS_VOCABULARY_H
#define VCM_TOKENS_VOCABULARY_H

#include <stdint.h>

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

/*
 * Sections follow the header at these offsets from its first byte.
 *
 * pairs: a perfect hash from (left, right) to the token that the two make, (key << RANK_BITS) |
 * rank, with no key in an unused slot. displacements: one for each bucket of that hash.
 * nodes: a double-array trie over the tokens read from their last byte to their first: base,
 * parent and rank (or NONE); node 0 is the root, which is its own parent.
 */
struct vocabulary {
    uint64_t magic;
    uint32_t tokens;
    uint32_t pair_bits;
    uint32_t bucket_bits;
    uint32_t nodes;
    uint32_t splits_at;
    uint32_t pairs_at;
    uint32_t displacements_at;
    uint32_t nodes_at;
    uint32_t byte_ranks[256];
    uint32_t reserved[16 - 2 - 8];
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

static inline uint32_t vocabulary_pair_bucket(uint64_t hash, unsigned bucket_bits)
{
    return (uint32_t)(hash & ((UINT64_C(1) << bucket_bits) - 1));
}

static inline uint32_t vocabulary_pair_slot(uint64_t hash, uint32_t displacement,
                                            unsigned pair_bits)
{
    uint64_t mixed = (hash + displacement) * UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(mixed >> (64 - pair_bits));
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
