/*
 * block.h - finds the ends of many pieces of ASCII text at once, with bit masks.
 *
 * The patterns of scan.h as logic on 64 bytes: a bit of a mask stands for a byte, the lowest for
 * the first. Reports only ends that no text behind the block could change, and leaves contractions,
 * other characters and pieces that do not end in the block to scan.h. Without SSE2 everything is
 * left to scan.h. Internal to tokens/.
 */
#ifndef VCM_TOKENS_BLOCK_H
#define VCM_TOKENS_BLOCK_H

#include "tokens/scan.h"

#define BLOCK_BYTES 64

#ifdef __SSE2__
#include <immintrin.h>

/* How many bytes behind the start of a piece must be known: whether it is a letter, whether a
 * space. */
#define BLOCK_MARGIN 4

struct block {
    unsigned known; /* number of leading ASCII bytes; the masks have no bits behind them */
    uint64_t upper;
    uint64_t lower;
    uint64_t digit;
    uint64_t space; /* ' ' */
    uint64_t blank; /* all white space but line breaks */
    uint64_t newline;
    uint64_t slash;
    uint64_t quote;
    uint64_t punct; /* the rest, with slash and quote */
};

#if defined __AVX512BW__

typedef __m512i block_vector;

SCAN_INLINE block_vector block_vector_load(const unsigned char *at)
{
    return _mm512_loadu_si512((const void *)at);
}

/* The bytes from `first` on, `count` of them. */
SCAN_INLINE uint64_t block_range(block_vector bytes, unsigned char first, int count)
{
    __m512i moved = _mm512_sub_epi8(bytes, _mm512_set1_epi8((char)first));
    return _mm512_cmplt_epu8_mask(moved, _mm512_set1_epi8((char)count));
}

SCAN_INLINE uint64_t block_equal(block_vector bytes, char byte)
{
    return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte));
}

SCAN_INLINE uint64_t block_high_bits(block_vector bytes)
{
    return _mm512_movepi8_mask(bytes);
}

#elif defined __AVX2__

typedef __m256i block_vector;

SCAN_INLINE block_vector block_vector_load(const unsigned char *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

SCAN_INLINE uint64_t block_range(block_vector bytes, unsigned char first, int count)
{
    __m256i moved = _mm256_add_epi8(bytes, _mm256_set1_epi8((char)(0x80 - first)));
    return (unsigned)_mm256_movemask_epi8(
        _mm256_cmpgt_epi8(_mm256_set1_epi8((char)(count - 128)), moved));
}

SCAN_INLINE uint64_t block_equal(block_vector bytes, char byte)
{
    return (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte)));
}

SCAN_INLINE uint64_t block_high_bits(block_vector bytes)
{
    return (unsigned)_mm256_movemask_epi8(bytes);
}

#else

typedef __m128i block_vector;

SCAN_INLINE block_vector block_vector_load(const unsigned char *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

SCAN_INLINE uint64_t block_range(block_vector bytes, unsigned char first, int count)
{
    __m128i moved = _mm_add_epi8(bytes, _mm_set1_epi8((char)(0x80 - first)));
    return (unsigned)_mm_movemask_epi8(_mm_cmplt_epi8(moved, _mm_set1_epi8((char)(count - 128))));
}

SCAN_INLINE uint64_t block_equal(block_vector bytes, char byte)
{
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)));
}

SCAN_INLINE uint64_t block_high_bits(block_vector bytes)
{
    return (unsigned)_mm_movemask_epi8(bytes);
}

#endif

SCAN_INLINE struct block block_load(const unsigned char *at)
{
    struct block block = {0};
    uint64_t wide = 0;
    for (unsigned i = 0; i < BLOCK_BYTES; i += sizeof(block_vector)) {
        block_vector bytes = block_vector_load(at + i);
        wide |= block_high_bits(bytes) << i;
        block.upper |= block_range(bytes, 'A', 26) << i;
        block.lower |= block_range(bytes, 'a', 26) << i;
        block.digit |= block_range(bytes, '0', 10) << i;
        block.space |= block_equal(bytes, ' ') << i;
        block.blank |= block_range(bytes, '\t', 5) << i;
        block.newline |= (block_equal(bytes, '\n') | block_equal(bytes, '\r')) << i;
        block.slash |= block_equal(bytes, '/') << i;
        block.quote |= block_equal(bytes, '\'') << i;
    }
    block.blank = (block.blank & ~block.newline) | block.space;
    block.punct = ~(block.upper | block.lower | block.digit | block.blank | block.newline);
    block.known = BLOCK_BYTES;
    if (wide) {
        block.known = (unsigned)__builtin_ctzll(wide);
        uint64_t valid = (UINT64_C(1) << block.known) - 1;
        block.upper &= valid;
        block.lower &= valid;
        block.digit &= valid;
        block.space &= valid;
        block.blank &= valid;
        block.newline &= valid;
        block.slash &= valid;
        block.quote &= valid;
        block.punct &= valid;
    }
    return block;
}

/* The bits that `from` reaches through adjacent bits of `through`, towards higher bits. */
SCAN_INLINE uint64_t block_spread_up(uint64_t from, uint64_t through)
{
    for (unsigned step = 1; step < BLOCK_BYTES; step *= 2) {
        from |= through & from << step;
        through &= through << step;
    }
    return from;
}

SCAN_INLINE uint64_t block_spread_down(uint64_t from, uint64_t through)
{
    for (unsigned step = 1; step < BLOCK_BYTES; step *= 2) {
        from |= through & from >> step;
        through &= through >> step;
    }
    return from;
}

/* Every third digit of a run begins a piece. */
SCAN_INLINE uint64_t block_number_starts(uint64_t digit)
{
    uint64_t starts = digit & ~(digit << 1);
    uint64_t fourth = digit & digit << 1 & digit << 2 & digit << 3;
    for (uint64_t next = starts << 3 & fourth; next; next = next << 3 & fourth)
        starts |= next;
    return starts;
}

/* Line breaks, and slashes, that belong to the piece of punctuation before them. */
SCAN_INLINE uint64_t block_punct_tails(enum scan_pattern pattern, const struct block *block)
{
    uint64_t tail = pattern == SCAN_O200K ? block->newline | block->slash : block->newline;
    return block_spread_up(block->newline & block->punct << 1, tail);
}

/*
 * White space: a run up to its last line break is a piece; the rest is another, except its last
 * character, which begins the next piece. Line breaks that belong to punctuation are not part of a
 * run.
 */
SCAN_INLINE uint64_t block_space_starts(const struct block *block, uint64_t tails)
{
    uint64_t white = block->blank | block->newline;
    uint64_t visible = block->upper | block->lower | block->digit | block->punct;
    uint64_t before_break = block_spread_down(block->newline, white);
    uint64_t after_break = (block->newline & ~tails) << 1;
    uint64_t last = ~(white >> 1) & block->blank << 1;
    return (block->blank & (visible << 1 | tails << 1)) |
           (block->blank & (after_break | last) & ~before_break) |
           (block->newline & (block->upper | block->lower | block->digit) << 1);
}

/* Punctuation continues in a run, behind one ' ', and in a tail; but not behind a tail's slash. */
SCAN_INLINE uint64_t block_punct_starts(const struct block *block, uint64_t tails)
{
    uint64_t runs_on = (block->punct & ~tails) << 1 | block->space << 1 | tails;
    return block->punct & ~runs_on;
}

/* A word includes the one character before it, when that is no line break and would begin a
 * piece. */
SCAN_INLINE uint64_t block_word_starts(enum scan_pattern pattern, const struct block *block,
                                       uint64_t punct_starts)
{
    uint64_t letter = block->upper | block->lower;
    uint64_t starts = letter & ~((letter | block->blank | punct_starts) << 1);
    return pattern == SCAN_O200K ? starts | (block->upper & block->lower << 1) : starts;
}

/* The bits that are certain: not too near the end, not in white space that may continue, and not at
 * or behind a contraction. */
SCAN_INLINE uint64_t block_certain(enum scan_pattern pattern, const struct block *block,
                                   const unsigned char *at)
{
    uint64_t visible = block->upper | block->lower | block->digit | block->punct;
    uint64_t letter = block->upper | block->lower;
    if (block->known <= BLOCK_MARGIN || !visible)
        return 1;
    unsigned last = block->known - BLOCK_MARGIN;
    unsigned white = BLOCK_BYTES - (unsigned)__builtin_clzll(visible);
    last = white < last ? white : last;
    uint64_t certain = (UINT64_C(2) << last) - 1;
    uint64_t quotes = block->quote & letter >> 1 & certain;
    if (pattern == SCAN_O200K)
        quotes &= letter << 1;
    for (; quotes; quotes &= quotes - 1) {
        unsigned quote = (unsigned)__builtin_ctzll(quotes);
        if (scan_contraction(at + quote, at + BLOCK_BYTES) > 0)
            return (certain & ((UINT64_C(1) << quote) - 1)) | 1;
    }
    return certain;
}

/* Where pieces begin in the 64 bytes at `at`, which is itself the beginning of one. The end of the
 * piece at the highest bit is not known. */
SCAN_INLINE uint64_t block_starts(enum scan_pattern pattern, const unsigned char *at)
{
    uint32_t margin;
    memcpy(&margin, at, sizeof margin);
    if (margin & 0x80808080u) /* too little is known, the usual case in many languages */
        return 1;
    struct block block = block_load(at);
    uint64_t tails = block_punct_tails(pattern, &block);
    /* The first byte begins a piece whatever stands before it. */
    uint64_t puncts = block_punct_starts(&block, tails) | (block.punct & 1);
    uint64_t starts = puncts | block_space_starts(&block, tails) |
                      block_number_starts(block.digit) | block_word_starts(pattern, &block, puncts);
    return (starts | 1) & block_certain(pattern, &block, at);
}

#else

SCAN_INLINE uint64_t block_starts(enum scan_pattern pattern, const unsigned char *at)
{
    (void)pattern;
    (void)at;
    return 1;
}

#endif

#endif
