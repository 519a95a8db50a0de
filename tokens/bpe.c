#include "tokens/bpe.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tokens/merge.h"

#include "base/banned.h"

_Static_assert(BPE_MIDDLE_BYTES <= BPE_MERGE_BYTES_MAX, "what is missed is merged");

#define HUGE_PAGE_BYTES ((size_t)2 * 1024 * 1024)

/* Allocated, not thread-local variables: those would take their size from the stack of every
 * thread. */
static _Thread_local struct bpe_cache *caches[BPE_CACHES];
static pthread_key_t caches_key;
static bool caches_key_made;
static pthread_once_t caches_once = PTHREAD_ONCE_INIT;

static void free_caches(void *value)
{
    struct bpe_cache **of_thread = value;
    for (int i = 0; i < BPE_CACHES; i++) {
        free(of_thread[i]);
        of_thread[i] = NULL;
    }
}

static void make_caches_key(void)
{
    caches_key_made = pthread_key_create(&caches_key, free_caches) == 0;
}

/* Uses one huge page where the system has them, and writes to it at once: memory that was only
 * mapped shares the page of zeros, and replacing that at the first write interrupts all threads. */
static struct bpe_cache *allocate_cache(void)
{
    void *cache = NULL;
    if (posix_memalign(&cache, HUGE_PAGE_BYTES, sizeof(struct bpe_cache)) != 0)
        return NULL;
    madvise(cache, sizeof(struct bpe_cache), MADV_HUGEPAGE);
    memset(cache, 0, sizeof(struct bpe_cache));
    return cache;
}

static struct bpe_cache *new_cache(unsigned index)
{
    pthread_once(&caches_once, make_caches_key);
    if (!caches_key_made || pthread_setspecific(caches_key, caches) != 0)
        return NULL;
    caches[index] = allocate_cache();
    return caches[index];
}

#define LOW(len)  ((len) >= 8 ? UINT64_MAX : (UINT64_C(1) << (len) % 8 * 8) - 1)
#define HIGH(len) ((len) <= 8 ? 0 : (UINT64_C(1) << (len) % 8 * 8) - 1)
#define MASK(len)                                                                                  \
    {                                                                                              \
        LOW(len), HIGH(len)                                                                        \
    }

const struct vocabulary_word vcm_bpe_short_masks[16] = {
    MASK(0), MASK(1), MASK(2),  MASK(3),  MASK(4),  MASK(5),  MASK(6),  MASK(7),
    MASK(8), MASK(9), MASK(10), MASK(11), MASK(12), MASK(13), MASK(14), MASK(15),
};

void vcm_bpe_init(struct bpe *bpe, const struct vocabulary *vocabulary, unsigned cache)
{
    assert(vocabulary->magic == VOCABULARY_MAGIC && cache < BPE_CACHES);
    *bpe = (struct bpe){
        .vocabulary = vocabulary,
        .splits = vocabulary_section(vocabulary, vocabulary->splits_at),
        .pairs = vocabulary_section(vocabulary, vocabulary->pairs.slots_at),
        .pair_displacements = vocabulary_section(vocabulary, vocabulary->pairs.displacements_at),
        .byte_pairs = vocabulary_section(vocabulary, vocabulary->byte_pairs_at),
        .words = vocabulary_section(vocabulary, vocabulary->words.slots_at),
        .word_displacements = vocabulary_section(vocabulary, vocabulary->words.displacements_at),
        .nodes = vocabulary_section(vocabulary, vocabulary->nodes_at),
        .cache = cache,
    };
}

struct bpe_cache *vcm_bpe_cache(const struct bpe *bpe)
{
    struct bpe_cache *cache = caches[bpe->cache];
    return cache ? cache : new_cache(bpe->cache);
}

/* The token that two neighbours make, or VOCABULARY_NONE. */
static inline uint32_t merged(const struct bpe *bpe, uint32_t left, uint32_t right)
{
    uint64_t key = vocabulary_pair_key(left, right);
    return bpe_pair_rank(*bpe_pair_slot(bpe, vocabulary_pair_hash(key)), key);
}

static size_t count_by_merging(const struct bpe *bpe, const unsigned char *piece, size_t len)
{
    struct merge merge;
    vcm_merge_begin(&merge, bpe, piece, len);
    vcm_merge_finish(&merge, 1, bpe);
    return merge.count;
}

static size_t count_uncached(const struct bpe *bpe, const unsigned char *piece, size_t len)
{
    if (len <= BPE_MERGE_BYTES_MAX)
        return count_by_merging(bpe, piece, len);
    struct bpe_prefix prefix;
    vcm_bpe_prefix_init(&prefix);
    vcm_bpe_prefix_push(&prefix, bpe, piece, len);
    return bpe_prefix_count(&prefix, 0);
}

static struct bpe_middle_slot *middle_slot(struct bpe_cache *cache, const unsigned char *piece,
                                           size_t len)
{
    uint64_t words[4];
    memcpy(&words[0], piece, 16);
    memcpy(&words[2], piece + len - 16, 16);
    uint64_t hash = len;
    for (int i = 0; i < 4; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return &cache->middles[hash >> (64 - BPE_MIDDLE_BITS)];
}

static void fill_middle(struct bpe_middle_slot *slot, const unsigned char *piece, size_t len,
                        size_t count)
{
    slot->count = (uint8_t)count;
    slot->len = (uint8_t)len;
    memcpy(slot->bytes, piece, len);
}

bool vcm_bpe_find_middle(struct bpe_missed *out, struct bpe_cache *cache,
                         const unsigned char *piece, size_t len)
{
    struct bpe_middle_slot *slot = middle_slot(cache, piece, len);
    out->middle.piece = piece;
    out->middle.slot = slot;
    out->middle_len = (uint32_t)len;
    out->slot = NULL;
    out->count = slot->count;
    return slot->len == len && memcmp(slot->bytes, piece, len) == 0;
}

size_t vcm_bpe_count_long(const struct bpe *bpe, struct bpe_cache *cache,
                          const unsigned char *piece, size_t len)
{
    struct bpe_missed lookup;
    if (!cache || len <= BPE_SHORT_BYTES || len > BPE_MIDDLE_BYTES)
        return count_uncached(bpe, piece, len);
    if (!vcm_bpe_find_middle(&lookup, cache, piece, len))
        fill_middle(lookup.middle.slot, piece, len, count_uncached(bpe, piece, len));
    return lookup.middle.slot->count;
}

/* Sets the counts of short pieces that are words of the vocabulary to 1, of others to 0. The
 * look-up of a middling piece finds nothing and is ignored. */
static void find_words(const struct bpe *bpe, struct bpe_missed *missed, size_t len)
{
    const struct vocabulary_hash *shape = &bpe->vocabulary->words;
    const struct vocabulary_word *words[BPE_MISSED_MAX];
    uint64_t hashes[BPE_MISSED_MAX];
    for (size_t i = 0; i < len; i++) {
        hashes[i] = vocabulary_word_hash(missed[i].key);
        __builtin_prefetch(&bpe->word_displacements[hashes[i] & shape->bucket_mask]);
    }
    for (size_t i = 0; i < len; i++) {
        uint16_t displacement = bpe->word_displacements[hashes[i] & shape->bucket_mask];
        words[i] = &bpe->words[vocabulary_slot(shape, hashes[i], displacement)];
        __builtin_prefetch(words[i]);
    }
    for (size_t i = 0; i < len; i++)
        missed[i].count = missed[i].slot && words[i]->low == missed[i].key.low &&
                          words[i]->high == missed[i].key.high;
}

static void begin_missed(struct merge *merge, const struct bpe *bpe,
                         const struct bpe_missed *missed)
{
    if (missed->slot)
        vcm_merge_begin(merge, bpe, (const unsigned char *)&missed->key,
                        (size_t)(missed->key.high >> 56));
    else
        vcm_merge_begin(merge, bpe, missed->middle.piece, missed->middle_len);
}

static void keep_missed(const struct bpe_missed *missed)
{
    if (missed->slot) {
        *missed->slot = missed->key;
        missed->slot->high |= (uint64_t)missed->count << 60;
    } else {
        fill_middle(missed->middle.slot, missed->middle.piece, missed->middle_len, missed->count);
    }
}

size_t vcm_bpe_count_missed(const struct bpe *bpe, struct bpe_missed *missed, size_t len)
{
    struct merge merges[BPE_MISSED_MAX];
    size_t merge_count = 0, total = 0;
    find_words(bpe, missed, len);
    for (size_t i = 0; i < len; i++)
        if (missed[i].count == 0)
            begin_missed(&merges[merge_count++], bpe, &missed[i]);
    vcm_merge_finish(merges, merge_count, bpe);
    merge_count = 0;
    for (size_t i = 0; i < len; i++) {
        if (missed[i].count == 0)
            missed[i].count = merges[merge_count++].count;
        keep_missed(&missed[i]);
        total += missed[i].count;
    }
    return total;
}

void vcm_bpe_prefix_init(struct bpe_prefix *prefix)
{
    prefix->len = 0;
    prefix->counts[0] = 0;
}

/*
 * Whether two tokens side by side stay as they are: undoes their merges in reverse order, and
 * checks at each step whether the parts that then meet at the seam would have been merged first.
 */
static bool decide(const struct bpe *bpe, uint32_t left, uint32_t right)
{
    uint32_t limit = VOCABULARY_NONE;
    for (;;) {
        if (merged(bpe, left, right) < limit)
            return false;
        bool undo_left = left > right;
        for (int tries = 0;; tries++) {
            uint32_t part = undo_left ? bpe->splits[left].right : bpe->splits[right].left;
            if (part != (undo_left ? left : right)) {
                /* Of two merges of the same rank the left one is done first. */
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

static bool agree(const struct bpe *bpe, struct bpe_cache *cache, uint32_t left, uint32_t right)
{
    if (!cache)
        return decide(bpe, left, right);
    uint64_t key = vocabulary_pair_key(left, right) + 1;
    uint64_t *slot = &cache->agreed[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BPE_AGREED_BITS)];
    if (*slot >> 1 != key)
        *slot = key << 1 | decide(bpe, left, right);
    return *slot & 1;
}

static void set_last(struct bpe_prefix *prefix, uint32_t token, uint64_t start)
{
    uint64_t end = prefix->len;
    prefix->last[end % BPE_PREFIX_RING] = token;
    prefix->last_len[end % BPE_PREFIX_RING] = (uint8_t)(end - start);
    prefix->counts[end % BPE_PREFIX_RING] = prefix->counts[start % BPE_PREFIX_RING] + 1;
}

/* Checks all tokens that end here, from the shortest, for the one that is compatible with the token
 * before it, and returns where it begins. */
static uint64_t find_last(struct bpe_prefix *prefix, const struct bpe *bpe, struct bpe_cache *cache)
{
    uint32_t node = 0;
    for (uint64_t at = prefix->len; at > 0; at--) {
        uint32_t child =
            vocabulary_node_base(bpe->nodes[node]) + prefix->bytes[at % BPE_PREFIX_RING];
        if (vocabulary_node_parent(bpe->nodes[child]) != node)
            break;
        node = child;
        uint32_t token = vocabulary_node_rank(bpe->nodes[node]);
        uint64_t start = at - 1;
        if (token != VOCABULARY_NONE &&
            (start == 0 || agree(bpe, cache, prefix->last[start % BPE_PREFIX_RING], token))) {
            set_last(prefix, token, start);
            return start;
        }
    }
    assert(false && "every prefix has an encoding");
    return 0;
}

/* In a run of one character many tokens end at each position, and usually the last one grows: that
 * token is tried first, when it was seen before. */
static void push_byte(struct bpe_prefix *prefix, const struct bpe *bpe, struct bpe_cache *cache,
                      unsigned char byte)
{
    uint64_t before = prefix->len++;
    prefix->bytes[prefix->len % BPE_PREFIX_RING] = byte;
    assert(prefix->len > 0);
    if (!cache || before == 0) {
        find_last(prefix, bpe, cache);
        return;
    }
    uint32_t last = prefix->last[before % BPE_PREFIX_RING];
    uint64_t start = before - prefix->last_len[before % BPE_PREFIX_RING];
    uint32_t key = (last << 8 | byte) + 1;
    struct bpe_longer *longer =
        &cache->longer[key * UINT32_C(0x9e3779b1) >> (32 - BPE_LONGER_BITS)];
    if (longer->key == key &&
        (start == 0 || agree(bpe, cache, prefix->last[start % BPE_PREFIX_RING], longer->token)))
        set_last(prefix, longer->token, start);
    else if (find_last(prefix, bpe, cache) == start)
        *longer = (struct bpe_longer){key, prefix->last[prefix->len % BPE_PREFIX_RING]};
}

void vcm_bpe_prefix_push(struct bpe_prefix *prefix, const struct bpe *bpe,
                         const unsigned char *bytes, size_t len)
{
    struct bpe_cache *cache = vcm_bpe_cache(bpe);
    for (size_t i = 0; i < len; i++)
        push_byte(prefix, bpe, cache, bytes[i]); // NOLINT(clang-analyzer-core*)
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
