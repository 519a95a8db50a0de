#include "tokens/merge.h"

#include <assert.h>

#include "base/banned.h"

/* Rank and position in one number, so that the smallest is the pair to merge. */
#define PLACE_BITS 6
#define NO_PAIR    UINT32_MAX

_Static_assert(BPE_MERGE_BYTES_MAX < 1 << PLACE_BITS, "a place must fit");

static inline uint32_t rank_at(uint32_t rank, size_t at)
{
    return rank << PLACE_BITS | (uint32_t)at;
}

void vcm_merge_begin(struct merge *merge, const struct bpe *bpe, const unsigned char *piece,
                     size_t len)
{
    assert(len > 0 && len <= BPE_MERGE_BYTES_MAX);
    for (size_t i = 0; i < len; i++) {
        /* The analyser loses sight of the bytes of a key that vcm_bpe_count_missed() hands on. */
        merge->parts[i] = bpe->vocabulary->byte_ranks[piece[i]]; // NOLINT(clang-analyzer-core*)
        merge->next[i] = (uint8_t)(i + 1);
        merge->before[i] = (uint8_t)(i - 1);
    }
    for (size_t i = 0; i + 1 < len; i++)
        merge->ranks[i] = rank_at(bpe->byte_pairs[(size_t)piece[i] << 8 | piece[i + 1]], i);
    merge->ranks[len - 1] = NO_PAIR;
    merge->len = merge->count = (uint8_t)len;
    merge->left.wanted = merge->right.wanted = false;
}

static inline void ask(struct merge_lookup *lookup, const struct bpe *bpe, uint32_t left,
                       uint32_t right, uint8_t at)
{
    lookup->key = vocabulary_pair_key(left, right);
    lookup->hash = vocabulary_pair_hash(lookup->key);
    lookup->at = at;
    lookup->wanted = true;
    __builtin_prefetch(&bpe->pair_displacements[lookup->hash & bpe->vocabulary->pairs.bucket_mask]);
}

static inline void find_slot(struct merge_lookup *lookup, const struct bpe *bpe)
{
    if (!lookup->wanted)
        return;
    lookup->slot = bpe_pair_slot(bpe, lookup->hash);
    __builtin_prefetch(lookup->slot);
}

static inline void answer(struct merge *merge, struct merge_lookup *lookup)
{
    if (!lookup->wanted)
        return;
    merge->ranks[lookup->at] = rank_at(bpe_pair_rank(*lookup->slot, lookup->key), lookup->at);
    lookup->wanted = false;
}

/* Merges one pair and looks up the pairs of the new token with its neighbours; false at the end. */
static bool merge_lowest(struct merge *merge, const struct bpe *bpe)
{
    uint32_t best = NO_PAIR;
    for (size_t i = 0; i < merge->len; i++)
        best = merge->ranks[i] < best ? merge->ranks[i] : best;
    uint32_t token = best >> PLACE_BITS;
    if (token >= VOCABULARY_NONE)
        return false;
    uint8_t at = best & ((1u << PLACE_BITS) - 1);
    uint8_t gone = merge->next[at];
    uint8_t after = merge->next[gone];
    merge->parts[at] = token;
    merge->ranks[at] = merge->ranks[gone] = NO_PAIR;
    merge->next[at] = after;
    merge->count--;
    if (after < merge->len) {
        merge->before[after] = at;
        ask(&merge->right, bpe, token, merge->parts[after], at);
    }
    if (at > 0) {
        uint8_t before = merge->before[at];
        ask(&merge->left, bpe, merge->parts[before], token, before);
    }
    return true;
}

void vcm_merge_finish(struct merge *merges, size_t count, const struct bpe *bpe)
{
    struct merge *active[BPE_MISSED_MAX];
    size_t left = count;

    assert(count <= BPE_MISSED_MAX);
    for (size_t i = 0; i < count; i++)
        active[i] = &merges[i];
    while (left > 0) {
        size_t kept = 0;
        for (size_t i = 0; i < left; i++) {
            answer(active[i], &active[i]->left);
            answer(active[i], &active[i]->right);
            if (merge_lowest(active[i], bpe))
                active[kept++] = active[i];
        }
        left = kept;
        for (size_t i = 0; i < left; i++) {
            find_slot(&active[i]->left, bpe);
            find_slot(&active[i]->right, bpe);
        }
    }
}
