/*
 * vocabulary.c - compiles a published vocabulary ("base64 rank" lines) into tokens/vocabulary.h's
 * form. A build tool: it runs on the building machine, prints and exits.
 *
 *     vocabulary <file.tiktoken> <out.bin>
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tokens/vocabulary.h"

#include "base/banned.h"

#define TOKENS_MAX        ((size_t)VOCABULARY_NONE)
#define LINE_BYTES        512
#define SECTION_ALIGNMENT 64
#define LOOKUP_BITS       19
#define BUCKET_KEYS       3
#define SPARE_SLOTS       16 /* one in so many */
#define BYTE_PAIRS        ((size_t)1 << 16)

struct token {
    unsigned char *bytes;
    size_t len;
};

struct compiler {
    const char *path;
    struct token *tokens;
    uint32_t count;
    uint32_t *lookup; /* open addressing from bytes to rank + 1 */
    struct vocabulary head;
    struct vocabulary_split *splits;
    uint64_t *pairs;
    uint16_t *pair_displacements;
    struct vocabulary_word *words;
    uint16_t *word_displacements;
    uint64_t *nodes;
    uint32_t *byte_pairs;
};

static _Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

static _Noreturn void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("vocabulary: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        die("out of memory");
    return memory;
}

static int base64_value(int c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

static size_t decode_base64(unsigned char *out, const char *text, size_t len)
{
    size_t used = 0;
    unsigned bits = 0;
    unsigned held = 0;
    for (size_t i = 0; i < len && text[i] != '='; i++) {
        int value = base64_value(text[i]);
        if (value < 0)
            return 0;
        bits = bits << 6 | (unsigned)value;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[used++] = (unsigned char)(bits >> held);
        }
    }
    return used;
}

static void read_line(struct compiler *compiler, char *line, uint32_t number)
{
    char *space = strchr(line, ' ');
    char *end = NULL;
    unsigned long rank = space ? strtoul(space + 1, &end, 10) : 0;
    unsigned char bytes[LINE_BYTES];
    size_t len = space ? decode_base64(bytes, line, (size_t)(space - line)) : 0;
    if (len == 0 || *end != '\n')
        die("%s:%u: not a 'base64 rank' line", compiler->path, number + 1);
    if (rank != number)
        die("%s:%u: rank %lu where %u is next", compiler->path, number + 1, rank, number);
    if (len > VOCABULARY_TOKEN_BYTES_MAX)
        die("%s:%u: a token of %zu bytes", compiler->path, number + 1, len);
    struct token *token = &compiler->tokens[number];
    token->bytes = take(len, 1);
    memcpy(token->bytes, bytes, len);
    token->len = len;
}

static void read_tokens(struct compiler *compiler)
{
    FILE *file = fopen(compiler->path, "r");
    if (!file)
        die("cannot read %s", compiler->path);
    char line[LINE_BYTES];
    while (fgets(line, sizeof line, file)) {
        if (compiler->count == TOKENS_MAX)
            die("%s: more than %zu tokens", compiler->path, TOKENS_MAX);
        read_line(compiler, line, compiler->count);
        compiler->count++;
    }
    if (ferror(file))
        die("cannot read %s", compiler->path);
    fclose(file);
}

static uint32_t lookup_slot(const struct compiler *compiler, const unsigned char *bytes, size_t len)
{
    uint64_t hash = len;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    uint32_t slot = (uint32_t)((hash ^ hash >> 32) & ((1u << LOOKUP_BITS) - 1));
    for (;; slot = (slot + 1) & ((1u << LOOKUP_BITS) - 1)) {
        uint32_t held = compiler->lookup[slot];
        if (held == 0)
            return slot;
        const struct token *token = &compiler->tokens[held - 1];
        if (token->len == len && memcmp(token->bytes, bytes, len) == 0)
            return slot;
    }
}

static uint32_t rank_of(const struct compiler *compiler, const unsigned char *bytes, size_t len)
{
    uint32_t held = compiler->lookup[lookup_slot(compiler, bytes, len)];
    return held ? held - 1 : VOCABULARY_NONE;
}

static void index_tokens(struct compiler *compiler)
{
    for (uint32_t rank = 0; rank < compiler->count; rank++) {
        const struct token *token = &compiler->tokens[rank];
        uint32_t slot = lookup_slot(compiler, token->bytes, token->len);
        if (compiler->lookup[slot])
            die("%s: tokens %u and %u are the same", compiler->path, compiler->lookup[slot] - 1,
                rank);
        compiler->lookup[slot] = rank + 1;
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned char value = (unsigned char)byte;
        uint32_t rank = rank_of(compiler, &value, 1);
        if (rank == VOCABULARY_NONE)
            die("%s: no token for byte 0x%02x", compiler->path, byte);
        compiler->head.byte_ranks[byte] = rank;
        compiler->splits[rank] = (struct vocabulary_split){rank, rank};
    }
}

/*
 * Merges the bytes of a token as an encoder would, and keeps the last two parts. That no other pair
 * ever makes this token in any text is what lets an encoder look at pairs of ranks only: merges
 * inside the token's bytes happen in the order that they have here, whatever stands around them.
 */
static void find_split(struct compiler *compiler, uint32_t rank)
{
    const struct token *token = &compiler->tokens[rank];
    size_t starts[VOCABULARY_TOKEN_BYTES_MAX + 1];
    size_t parts = token->len;
    for (size_t i = 0; i <= parts; i++)
        starts[i] = i;
    while (parts > 2) {
        uint32_t best = VOCABULARY_NONE;
        size_t at = 0;
        for (size_t i = 0; i + 1 < parts; i++) {
            uint32_t merged =
                rank_of(compiler, token->bytes + starts[i], starts[i + 2] - starts[i]);
            if (merged < best) {
                best = merged;
                at = i;
            }
        }
        if (best >= rank)
            die("%s: no merges make token %u", compiler->path, rank);
        memmove(&starts[at + 1], &starts[at + 2], (parts - at - 1) * sizeof starts[0]);
        parts--;
    }
    compiler->splits[rank].left = rank_of(compiler, token->bytes, starts[1]);
    compiler->splits[rank].right =
        rank_of(compiler, token->bytes + starts[1], token->len - starts[1]);
}

/* Keys to be placed in a perfect hash, sorted by bucket. */
struct placing {
    const struct vocabulary_hash *shape;
    uint64_t *hashes;
    uint32_t *slots;  /* where each key went */
    uint32_t *starts; /* of each bucket */
    bool *used;
    uint16_t *displacements;
};

static bool place_bucket(struct placing *placing, uint32_t bucket)
{
    uint32_t from = placing->starts[bucket];
    uint32_t to = placing->starts[bucket + 1];
    for (uint32_t displacement = 0; displacement <= UINT16_MAX; displacement++) {
        uint32_t at = from;
        for (; at < to; at++) {
            uint32_t slot = vocabulary_slot(placing->shape, placing->hashes[at], displacement);
            if (placing->used[slot])
                break;
            placing->used[slot] = true;
            placing->slots[at] = slot;
        }
        if (at == to) {
            placing->displacements[bucket] = (uint16_t)displacement;
            return true;
        }
        while (at-- > from)
            placing->used[placing->slots[at]] = false;
    }
    return false;
}

/* Places the fullest buckets first, while there is room to choose. */
static bool place_all(struct placing *placing, uint32_t keys)
{
    uint32_t buckets = placing->shape->bucket_mask + 1;
    for (uint32_t size = keys; size > 0;) {
        uint32_t next = 0;
        for (uint32_t i = 0; i < buckets; i++) {
            uint32_t members = placing->starts[i + 1] - placing->starts[i];
            if (members == size && !place_bucket(placing, i))
                return false;
            if (members < size && members > next)
                next = members;
        }
        size = next;
    }
    return true;
}

/* Finds a slot for each of the hashes, which must differ. Returns the displacements. */
static uint16_t *hash_perfectly(struct vocabulary_hash *shape, const uint64_t *hashes,
                                uint32_t keys, uint32_t *slots)
{
    shape->slots = keys + keys / SPARE_SLOTS;
    while (shape->bucket_mask + 1 < keys / BUCKET_KEYS)
        shape->bucket_mask = shape->bucket_mask * 2 + 1;
    uint32_t buckets = shape->bucket_mask + 1;
    struct placing placing = {.shape = shape};
    placing.hashes = take(keys, sizeof *placing.hashes);
    placing.slots = take(keys, sizeof *placing.slots);
    placing.starts = take((size_t)buckets + 1, sizeof *placing.starts);
    placing.used = take(shape->slots, sizeof *placing.used);
    placing.displacements = take(buckets, sizeof *placing.displacements);
    uint32_t *order = take(keys, sizeof *order);
    uint32_t *next = take(buckets, sizeof *next);
    for (uint32_t i = 0; i < keys; i++)
        placing.starts[(hashes[i] & shape->bucket_mask) + 1]++;
    for (uint32_t i = 0; i < buckets; i++) {
        placing.starts[i + 1] += placing.starts[i];
        next[i] = placing.starts[i];
    }
    for (uint32_t i = 0; i < keys; i++) {
        order[i] = next[hashes[i] & shape->bucket_mask]++;
        placing.hashes[order[i]] = hashes[i];
    }
    if (!place_all(&placing, keys))
        die("no perfect hash found for %u keys", keys);
    for (uint32_t i = 0; i < keys; i++)
        slots[i] = placing.slots[order[i]];
    free(placing.hashes);
    free(placing.slots);
    free(placing.starts);
    free(placing.used);
    free(order);
    free(next);
    return placing.displacements;
}

static void hash_pairs(struct compiler *compiler)
{
    uint64_t *entries = take(compiler->count, sizeof *entries);
    uint64_t *hashes = take(compiler->count, sizeof *hashes);
    uint32_t *slots = take(compiler->count, sizeof *slots);
    uint32_t keys = 0;
    for (uint32_t rank = 0; rank < compiler->count; rank++) {
        struct vocabulary_split split = compiler->splits[rank];
        if (compiler->tokens[rank].len == 1)
            continue;
        uint64_t key = vocabulary_pair_key(split.left, split.right);
        entries[keys] = key << VOCABULARY_RANK_BITS | rank;
        hashes[keys++] = vocabulary_pair_hash(key);
    }
    compiler->pair_displacements = hash_perfectly(&compiler->head.pairs, hashes, keys, slots);
    compiler->pairs = take(compiler->head.pairs.slots, sizeof *compiler->pairs);
    memset(compiler->pairs, 0xff, compiler->head.pairs.slots * sizeof *compiler->pairs);
    for (uint32_t i = 0; i < keys; i++)
        compiler->pairs[slots[i]] = entries[i];
    free(entries);
    free(hashes);
    free(slots);
}

static void hash_words(struct compiler *compiler)
{
    struct vocabulary_word *words = take(compiler->count, sizeof *words);
    uint64_t *hashes = take(compiler->count, sizeof *hashes);
    uint32_t *slots = take(compiler->count, sizeof *slots);
    uint32_t keys = 0;
    for (uint32_t rank = 0; rank < compiler->count; rank++) {
        const struct token *token = &compiler->tokens[rank];
        if (token->len > VOCABULARY_WORD_BYTES)
            continue;
        memcpy(&words[keys], token->bytes, token->len);
        words[keys].high |= (uint64_t)token->len << 56;
        hashes[keys] = vocabulary_word_hash(words[keys]);
        keys++;
    }
    compiler->word_displacements = hash_perfectly(&compiler->head.words, hashes, keys, slots);
    compiler->words = take(compiler->head.words.slots, sizeof *compiler->words);
    for (uint32_t i = 0; i < keys; i++)
        compiler->words[slots[i]] = words[i];
    free(words);
    free(hashes);
    free(slots);
}

static void list_byte_pairs(struct compiler *compiler)
{
    compiler->byte_pairs = take(BYTE_PAIRS, sizeof *compiler->byte_pairs);
    for (size_t pair = 0; pair < BYTE_PAIRS; pair++) {
        const unsigned char bytes[] = {(unsigned char)(pair >> 8), (unsigned char)pair};
        compiler->byte_pairs[pair] = rank_of(compiler, bytes, sizeof bytes);
    }
}

static const struct compiler *sorted_compiler;

static int compare_reversed(const void *a, const void *b)
{
    const struct token *x = &sorted_compiler->tokens[*(const uint32_t *)a];
    const struct token *y = &sorted_compiler->tokens[*(const uint32_t *)b];
    for (size_t i = 1; i <= x->len && i <= y->len; i++)
        if (x->bytes[x->len - i] != y->bytes[y->len - i])
            return x->bytes[x->len - i] < y->bytes[y->len - i] ? -1 : 1;
    return x->len < y->len ? -1 : x->len > y->len;
}

/* A node to be given children: the sorted tokens [from, to) share their last `depth` bytes. */
struct work {
    uint32_t node;
    uint32_t from;
    uint32_t to;
    uint32_t depth;
};

struct trie {
    struct compiler *compiler;
    uint32_t *order;
    unsigned char *used;
    uint32_t size;       /* one above the highest node */
    uint32_t first_free; /* no node below it is free */
    struct work *queue;
    size_t queue_len;
};

static unsigned char label_at(const struct trie *trie, uint32_t index, uint32_t depth)
{
    const struct token *token = &trie->compiler->tokens[trie->order[index]];
    return token->bytes[token->len - 1 - depth];
}

static uint32_t find_base(struct trie *trie, const unsigned char *labels, size_t count)
{
    uint32_t limit = (1u << VOCABULARY_NODE_BITS) - 256;
    while (trie->used[trie->first_free])
        trie->first_free++;
    uint32_t from = trie->first_free > labels[0] ? trie->first_free - labels[0] : 0;
    for (uint32_t base = from; base < limit; base++) {
        size_t i = 0;
        while (i < count && !trie->used[base + labels[i]])
            i++;
        if (i == count)
            return base;
    }
    die("%s: the trie does not fit", trie->compiler->path);
}

static void add_children(struct trie *trie, struct work work)
{
    struct compiler *compiler = trie->compiler;
    uint32_t rank = VOCABULARY_NONE;
    if (work.depth > 0 && compiler->tokens[trie->order[work.from]].len == work.depth)
        rank = trie->order[work.from++];
    unsigned char labels[256];
    uint32_t starts[257];
    size_t count = 0;
    for (uint32_t i = work.from; i < work.to; i++) {
        unsigned char label = label_at(trie, i, work.depth);
        if (count == 0 || labels[count - 1] != label) {
            starts[count] = i;
            labels[count++] = label;
        }
    }
    starts[count] = work.to;
    uint32_t base = count ? find_base(trie, labels, count) : 0;
    uint32_t parent = vocabulary_node_parent(compiler->nodes[work.node]);
    compiler->nodes[work.node] = vocabulary_node(base, parent, rank);
    for (size_t i = 0; i < count; i++) {
        uint32_t child = base + labels[i];
        trie->used[child] = 1;
        trie->size = child >= trie->size ? child + 1 : trie->size;
        compiler->nodes[child] = vocabulary_node(0, work.node, VOCABULARY_NONE);
        trie->queue[trie->queue_len++] =
            (struct work){child, starts[i], starts[i + 1], work.depth + 1};
    }
}

/* An unused node must not look like a child of the root: it names itself as its parent. */
static void build_trie(struct compiler *compiler)
{
    size_t room = (size_t)1 << VOCABULARY_NODE_BITS;
    struct trie trie = {.compiler = compiler, .size = 1};
    compiler->nodes = take(room, sizeof *compiler->nodes);
    trie.used = take(room, 1);
    trie.queue = take(room, sizeof *trie.queue);
    trie.order = take(compiler->count, sizeof *trie.order);
    for (uint32_t i = 0; i < compiler->count; i++)
        trie.order[i] = i;
    sorted_compiler = compiler;
    qsort(trie.order, compiler->count, sizeof *trie.order, compare_reversed);
    for (uint32_t i = 0; i < room; i++)
        compiler->nodes[i] = vocabulary_node(0, i, VOCABULARY_NONE);
    trie.used[0] = 1;
    trie.queue[trie.queue_len++] = (struct work){0, 0, compiler->count, 0};
    for (size_t i = 0; i < trie.queue_len; i++)
        add_children(&trie, trie.queue[i]);
    /* base + label is read without a check, so the last nodes are followed by unused ones. */
    compiler->head.nodes = trie.size + 256;
    free(trie.order);
    free(trie.used);
    free(trie.queue);
}

static void write_section(FILE *file, uint32_t *at, const void *data, size_t size)
{
    static const char zeros[SECTION_ALIGNMENT];
    long here = ftell(file);
    size_t pad = (SECTION_ALIGNMENT - (size_t)here % SECTION_ALIGNMENT) % SECTION_ALIGNMENT;
    fwrite(zeros, 1, pad, file);
    *at = (uint32_t)((size_t)here + pad);
    fwrite(data, 1, size, file);
}

static void write_file(struct compiler *compiler, const char *path)
{
    struct vocabulary *head = &compiler->head;
    FILE *file = fopen(path, "wb");
    if (!file)
        die("cannot write %s", path);
    fwrite(head, sizeof *head, 1, file);
    write_section(file, &head->splits_at, compiler->splits,
                  compiler->count * sizeof *compiler->splits);
    write_section(file, &head->pairs.slots_at, compiler->pairs,
                  head->pairs.slots * sizeof *compiler->pairs);
    write_section(file, &head->pairs.displacements_at, compiler->pair_displacements,
                  (head->pairs.bucket_mask + 1) * sizeof *compiler->pair_displacements);
    write_section(file, &head->words.slots_at, compiler->words,
                  head->words.slots * sizeof *compiler->words);
    write_section(file, &head->words.displacements_at, compiler->word_displacements,
                  (head->words.bucket_mask + 1) * sizeof *compiler->word_displacements);
    write_section(file, &head->byte_pairs_at, compiler->byte_pairs,
                  BYTE_PAIRS * sizeof *compiler->byte_pairs);
    write_section(file, &head->nodes_at, compiler->nodes, head->nodes * sizeof *compiler->nodes);
    rewind(file);
    fwrite(head, sizeof *head, 1, file);
    if (ferror(file) || fclose(file) != 0)
        die("cannot write %s", path);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        die("usage: vocabulary <file.tiktoken> <out.bin>");
    struct compiler compiler = {.path = argv[1]};
    compiler.tokens = take(TOKENS_MAX, sizeof *compiler.tokens);
    compiler.splits = take(TOKENS_MAX, sizeof *compiler.splits);
    compiler.lookup = take((size_t)1 << LOOKUP_BITS, sizeof *compiler.lookup);
    read_tokens(&compiler);
    index_tokens(&compiler);
    for (uint32_t rank = 0; rank < compiler.count; rank++)
        if (compiler.tokens[rank].len > 1)
            find_split(&compiler, rank);
    compiler.head.magic = VOCABULARY_MAGIC;
    compiler.head.tokens = compiler.count;
    hash_pairs(&compiler);
    hash_words(&compiler);
    list_byte_pairs(&compiler);
    build_trie(&compiler);
    write_file(&compiler, argv[2]);
    for (uint32_t rank = 0; rank < compiler.count; rank++)
        free(compiler.tokens[rank].bytes);
    free(compiler.tokens);
    free(compiler.splits);
    free(compiler.lookup);
    free(compiler.pairs);
    free(compiler.pair_displacements);
    free(compiler.words);
    free(compiler.word_displacements);
    free(compiler.nodes);
    free(compiler.byte_pairs);
    return 0;
}
