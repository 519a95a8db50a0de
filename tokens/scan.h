/*
 * scan.h - where the pieces of a text end, as the splitting pattern of an encoding says.
 *
 * cl100k_base: (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
 *     | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * o200k_base, with U = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], L = [\p{Ll}\p{Lm}\p{Lo}\p{M}] and S the
 * contractions of the line above: [^\r\n\p{L}\p{N}]?U*L+S?|[^\r\n\p{L}\p{N}]?U+L*S?|\p{N}{1,3}
 *     | ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * Everything here works on valid UTF-8 that begins at a piece and holds whole characters. Without
 * `final` more text may follow, and the answer is NULL when that could move the end. The pattern is
 * a constant at each call, so that the compiler makes one scanner of each. Internal to tokens/.
 */
#ifndef VCM_TOKENS_SCAN_H
#define VCM_TOKENS_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tokens/unicode_class.h"

enum scan_pattern {
    SCAN_O200K,
    SCAN_CL100K,
};

/* One copy for each pattern, with the other's branches gone. */
#define SCAN_INLINE static inline __attribute__((always_inline))

struct scan_char {
    unsigned class;
    unsigned len;
};

/* Sets of classes. */
#define SCAN_UPPER_RUN (UNICODE_UPPER | UNICODE_PLAIN | UNICODE_MARK)
#define SCAN_LOWER_RUN (UNICODE_LOWER | UNICODE_PLAIN | UNICODE_MARK)
#define SCAN_PUNCT     (UNICODE_OTHER | UNICODE_MARK)

static inline unsigned scan_word_start(enum scan_pattern pattern)
{
    return pattern == SCAN_O200K ? UNICODE_LETTER | UNICODE_MARK : UNICODE_LETTER;
}

static inline struct scan_char scan_wide_char(const unsigned char *at)
{
    uint32_t lead = at[0];
    if (lead < 0xe0)
        return (struct scan_char){unicode_class((lead & 0x1f) << 6 | (at[1] & 0x3fu)), 2};
    if (lead < 0xf0)
        return (struct scan_char){
            unicode_class((lead & 0x0f) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu)), 3};
    return (struct scan_char){unicode_class((lead & 0x07) << 18 | (at[1] & 0x3fu) << 12 |
                                            (at[2] & 0x3fu) << 6 | (at[3] & 0x3fu)),
                              4};
}

static inline struct scan_char scan_char(const unsigned char *at)
{
    if (at[0] < 0x80)
        return (struct scan_char){vcm_unicode_class_ascii[at[0]], 1};
    return scan_wide_char(at);
}

/* Works on eight bytes at a time: the highest bit of each byte of a mask selects that byte. */
#define SCAN_BYTES(byte) (UINT64_C(0x0101010101010101) * (byte))

SCAN_INLINE uint64_t scan_load(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* The bytes from `first` to `last`, both ASCII. */
SCAN_INLINE uint64_t scan_in_range(uint64_t word, unsigned first, unsigned last)
{
    uint64_t low = word & SCAN_BYTES(0x7f);
    uint64_t reached = low + SCAN_BYTES(0x80 - first);
    uint64_t passed = low + SCAN_BYTES(0x7f - last);
    return reached & ~passed & ~word & SCAN_BYTES(0x80);
}

/* Behind the run of bytes from `first` to `last`; `fold` is set in each before they are compared.
 */
SCAN_INLINE const unsigned char *scan_range(const unsigned char *at, const unsigned char *end,
                                            unsigned first, unsigned last, unsigned fold)
{
    while (end - at >= 8) {
        uint64_t other = ~scan_in_range(scan_load(at) | SCAN_BYTES(fold), first, last);
        other &= SCAN_BYTES(0x80);
        if (other)
            return at + (unsigned)__builtin_ctzll(other) / 8;
        at += 8;
    }
    while (at < end && (*at | fold) >= first && (*at | fold) <= last)
        at++;
    return at;
}

static inline const unsigned char *scan_while(const unsigned char *at, const unsigned char *end,
                                              unsigned set)
{
    while (at < end) {
        struct scan_char next = scan_char(at);
        if (!(next.class & set))
            break;
        at += next.len;
    }
    return at;
}

/* The length of the contraction that stands at `at`, or 0. Needs 3 bytes, or the end of the text.
 * Case is folded as Unicode does: U+017F is an s. */
static inline size_t scan_contraction(const unsigned char *at, const unsigned char *end)
{
    size_t room = (size_t)(end - at);
    if (room < 2 || at[0] != '\'')
        return 0;
    unsigned first = at[1] | 0x20u;
    if (first == 's' || first == 't' || first == 'm' || first == 'd')
        return 2;
    if (room < 3)
        return 0;
    unsigned second = at[2] | 0x20u;
    if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') ||
        (first == 'l' && second == 'l') || (at[1] == 0xc5 && at[2] == 0xbf))
        return 3;
    return 0;
}

static inline const unsigned char *scan_suffix(const unsigned char *at, const unsigned char *end,
                                               bool final)
{
    if (at < end && *at != '\'')
        return at;
    if (!final && end - at < 3)
        return NULL;
    return at + scan_contraction(at, end);
}

/*
 * A word of o200k_base from its first letter or mark. U* matches as much as it can; when no L
 * follows, it backtracks until the character behind it is an L, which ends the word there. Only
 * when there is none does the second alternative match the whole run of capitals.
 */
static inline const unsigned char *scan_any_cased_word(const unsigned char *at,
                                                       const unsigned char *end, bool final)
{
    const unsigned char *caseless = NULL;
    struct scan_char next = {0, 0};
    while (at < end && (next = scan_char(at)).class & SCAN_UPPER_RUN) {
        at += next.len;
        if (next.class & SCAN_LOWER_RUN)
            caseless = at;
    }
    if (at < end && next.class == UNICODE_LOWER)
        return scan_suffix(scan_while(at, end, SCAN_LOWER_RUN), end, final);
    if (at == end && !final)
        return NULL;
    if (caseless && caseless != at)
        return caseless;
    return scan_suffix(at, end, final);
}

/* The same for the words that are ASCII, and are followed by ASCII. */
SCAN_INLINE const unsigned char *scan_cased_word(const unsigned char *at, const unsigned char *end,
                                                 bool final)
{
    const unsigned char *capitals = scan_range(at, end, 'A', 'Z', 0);
    const unsigned char *word = scan_range(capitals, end, 'a', 'z', 0);
    if (word == end || *word >= 0x80)
        return scan_any_cased_word(at, end, final);
    return *word == '\'' ? scan_suffix(word, end, final) : word;
}

SCAN_INLINE const unsigned char *scan_word(enum scan_pattern pattern, const unsigned char *at,
                                           const unsigned char *end, bool final)
{
    if (pattern == SCAN_O200K)
        return scan_cased_word(at, end, final);
    at = scan_range(at, end, 'a', 'z', 0x20);
    if (at < end && *at < 0x80)
        return at;
    at = scan_while(at, end, UNICODE_LETTER);
    return at == end && !final ? NULL : at;
}

static inline bool scan_is_punct_tail(enum scan_pattern pattern, unsigned char byte)
{
    return byte == '\n' || byte == '\r' || (pattern == SCAN_O200K && byte == '/');
}

SCAN_INLINE const unsigned char *scan_punct(enum scan_pattern pattern, const unsigned char *at,
                                            const unsigned char *end, bool final)
{
    at = scan_while(at, end, SCAN_PUNCT);
    while (at < end && scan_is_punct_tail(pattern, *at))
        at++;
    return at == end && !final ? NULL : at;
}

/* Up to the last line break of the run; without one, all but the character that the next piece may
 * begin with. */
SCAN_INLINE const unsigned char *scan_space(const unsigned char *start, const unsigned char *end,
                                            bool final)
{
    const unsigned char *at = start;
    const unsigned char *last = start;
    const unsigned char *newline = NULL;
    while (at < end) {
        const unsigned char *blanks = scan_range(at, end, ' ', ' ', 0);
        last = blanks > at ? blanks - 1 : last;
        at = blanks;
        if (at == end)
            break;
        struct scan_char next = scan_char(at);
        if (!(next.class & UNICODE_WHITESPACE))
            break;
        last = at;
        at += next.len;
        if (next.class == UNICODE_NEWLINE)
            newline = at;
    }
    if (at == end && !final)
        return NULL;
    if (newline)
        return newline;
    return at == end || last == start ? at : last;
}

SCAN_INLINE const unsigned char *scan_number(const unsigned char *at, const unsigned char *end,
                                             bool final)
{
    for (int digits = 0; digits < 3; digits++) {
        if (at == end)
            return final ? at : NULL;
        struct scan_char next = scan_char(at);
        if (next.class != UNICODE_NUMBER)
            return at;
        at += next.len;
    }
    return at;
}

/* The end of the piece that begins at `at` < `end`. */
SCAN_INLINE const unsigned char *scan_next(enum scan_pattern pattern, const unsigned char *at,
                                           const unsigned char *end, bool final)
{
    struct scan_char first = scan_char(at);
    if (first.class & scan_word_start(pattern))
        return scan_word(pattern, at, end, final);
    if (first.class == UNICODE_NUMBER)
        return scan_number(at, end, final);
    const unsigned char *second = at + first.len;
    if (second == end)
        return final ? end : NULL;
    if (pattern == SCAN_CL100K && *at == '\'') {
        if (!final && end - at < 3)
            return NULL;
        size_t len = scan_contraction(at, end);
        if (len > 0)
            return at + len;
    }
    unsigned class = scan_char(second).class;
    if (first.class != UNICODE_NEWLINE && class & scan_word_start(pattern))
        return scan_word(pattern, second, end, final);
    if (first.class & SCAN_PUNCT || (*at == ' ' && class & SCAN_PUNCT))
        return scan_punct(pattern, second, end, final);
    return scan_space(at, end, final);
}

#endif
