#include "tokens/bpe.h"

#include <assert.h>
#include <stdbool.h>

#include "base/banned.h"

static _Thread_local struct bpe_cache caches[BPE_CACHES];

void vcm_bpe_init(struct bpe *bpe, const struct vocabulary *vocabulary, unsigned cache)
{
    assert(vocabulary->magic == VOCABULARY_MAGIC && cache < BPE_CACHES);
    *bpe = (struct bpe){
        .vocabulary = vocabulary,
        .splits = vocabulary_section(vocabulary, vocabulary->splits_at),
        .pairs = vocabulary_section(vocabulary, vocabulary->pairs_at),
        .displacements = vocabulary_section(vocabulary, vocabulary->displacements_at),
        .nodes = vocabulary_section(vocabulary, vocabulary->nodes_at),
        .cache = cache,
    };
}

struct bpe_cache *vcm_bpe_cache(const struct bpe *bpe)
{
    return &caches[bpe->cache];
}

/* The token that two neighbours make, or VOCABULARY_NONE. */
static inline uint32_t merged(const struct bpe *bpe, uint32_t left, uint32_t right)
{
    const struct vocabulary *vocabulary = bpe->vocabulary;
    uint64_t key = vocabulary_pair_key(left, right);
    uint64_t hash = vocabulary_pair_hash(key);
    uint16_t displacement =
        bpe->displacements[vocabulary_pair_bucket(hash, vocabulary->bucket_bits)];
    uint64_t pair = bpe->pairs[vocabulary_pair_slot(hash, displacement, vocabulary->pair_bits)];
    return pair >> VOCABULARY_RANK_BITS == key ? (uint32_t)pair & VOCABULARY_NONE : VOCABULARY_NONE;
}

/* Merges the pair of the lowest rank, the leftmost first, until no pair is a token. */
static size_t count_by_merging(const struct bpe *bpe, const unsigned char *piece, size_t len)
{
    uint32_t parts[BPE_MERGE_BYTES_MAX];
    uint32_t ranks[BPE_MERGE_BYTES_MAX]; /* of the token that a part makes with the next one */
    size_t count = len;

    parts[0] = bpe->vocabulary->byte_ranks[piece[0]];
    for (size_t i = 1; i < len; i++) {
        parts[i] = bpe->vocabulary->byte_ranks[piece[i]];
        ranks[i - 1] = merged(bpe, parts[i - 1], parts[i]);
    }
    while (count > 1) {
        uint32_t best = VOCABULARY_NONE;
        size_t at = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            at = ranks[i] < best ? i : at;
            best = ranks[i] < best ? ranks[i] : best;
        }
        if (best == VOCABULARY_NONE)
            break;
        count--;
        parts[at] = best;
        if (at + 1 < count) {
            memmove(&parts[at + 1], &parts[at + 2], (count - at - 1) * sizeof parts[0]);
            memmove(&ranks[at + 1], &ranks[at + 2], (count - at - 2) * sizeof ranks[0]);
            ranks[at] = merged(bpe, best, parts[at + 1]);
        }
        if (at > 0)
            ranks[at - 1] = merged(bpe, parts[at - 1], best);
    }
    return count;
}

size_t vcm_bpe_count_piece(const struct bpe *bpe, const unsigned char *piece, size_t len)
{
    if (len <= BPE_MERGE_BYTES_MAX)
        return count_by_merging(bpe, piece, len);
    struct bpe_prefix prefix;
    vcm_bpe_prefix_init(&prefix);
    vcm_bpe_prefix_push(&prefix, bpe, piece, len);
    return bpe_prefix_count(&prefix, 0);
}

size_t vcm_bpe_count_missed(const struct bpe *bpe, struct bpe_cache_slot *slot,
                            struct bpe_cache_slot key, const unsigned char *piece, size_t len)
{
    size_t count = count_by_merging(bpe, piece, len);
    slot->low = key.low;
    slot->high = key.high | (uint64_t)count << 60;
    return count;
}

void vcm_bpe_prefix_init(struct bpe_prefix *prefix)
{
    prefix->len = 0;
    prefix->counts[0] = 0;
}

/*
 * Whether two tokens side by side stay as they are: undoes their merges in the reverse of the order
 * in which they were made, and looks at each step whether the parts that then met at the seam would
 * have been merged first.
 */
static bool agree(const struct bpe *bpe, uint32_t left, uint32_t right)
{
    uint32_t limit = VOCABULARY_NONE;
    for (;;) {
        if (merged(bpe, left, right) < limit)
            return false;
        bool undo_left = left > right;
        for (int tries = 0;; tries++) {
            uint32_t part = undo_left ? bpe->splits[left].right : bpe->splits[right].left;
            if (part != (undo_left ? left : right)) {
                /* Of two merges of one rank the left one came first. */
                limit = undo_left ? left : right + 1;
                *(undo_left ? &left : &right) = part;
                break;
            }
            if (tries == 1)
                return true;
            undo_left = !undo_left;
        }
    }
}

static void push_byte(struct bpe_prefix *prefix, const struct bpe *bpe, unsigned char byte)
{
    uint64_t end = ++prefix->len;
    prefix->bytes[end % BPE_PREFIX_RING] = byte;
    uint32_t node = 0;
    for (uint64_t at = end; at > 0; at--) {
        uint32_t child =
            vocabulary_node_base(bpe->nodes[node]) + prefix->bytes[at % BPE_PREFIX_RING];
        if (vocabulary_node_parent(bpe->nodes[child]) != node)
            break;
        node = child;
        uint32_t token = vocabulary_node_rank(bpe->nodes[node]);
        uint64_t start = at - 1;
        if (token != VOCABULARY_NONE &&
            (start == 0 || agree(bpe, prefix->last[start % BPE_PREFIX_RING], token))) {
            prefix->last[end % BPE_PREFIX_RING] = token;
            prefix->counts[end % BPE_PREFIX_RING] = prefix->counts[start % BPE_PREFIX_RING] + 1;
            return;
        }
    }
    assert(!"every prefix has an encoding");
}

void vcm_bpe_prefix_push(struct bpe_prefix *prefix, const struct bpe *bpe,
                         const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        push_byte(prefix, bpe, bytes[i]);
}

size_t vcm_bpe_prefix_floor(const struct bpe_prefix *prefix)
{
    uint64_t least = prefix->counts[prefix->len % BPE_PREFIX_RING];
    for (uint64_t back = 1; back < VOCABULARY_TOKEN_BYTES_MAX && back <= prefix->len; back++) {
        uint64_t count = prefix->counts[(prefix->len - back) % BPE_PREFIX_RING];
        least = count < least ? count : least;
    }
    return (size_t)least;
}
