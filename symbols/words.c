#include "symbols/words.h"

#include <stdbool.h>

#include "base/hash.h"

#include "base/banned.h"

#define WORD_MAX  ((size_t)32) /* of a longer word only the beginning counts */
#define WORD_SEED 0x776f7264u  /* keeps words and whole names apart */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_mark(char c)
{
    return !is_upper(c) && !is_lower(c) && !is_digit(c);
}

/* "aB" begins a word with B, "ABc" with B too. */
static bool begins_word(struct vcm_slice text, size_t at)
{
    if (at == 0 || !is_upper(text.data[at]))
        return false;
    return !is_upper(text.data[at - 1]) ||
           (at + 1 < text.len && is_lower(text.data[at + 1]) && is_upper(text.data[at - 1]));
}

static bool ends_with(const char *word, size_t len, const char *ending)
{
    size_t tail = strlen(ending);

    return len >= tail && memcmp(word + len - tail, ending, tail) == 0;
}

/* "parse", "parses", "parsed" and "parsing" count as one word. A rough rule: the words that it
 * identifies are mostly related. */
static size_t cut_ending(char *word, size_t len)
{
    if (len > 4 && ends_with(word, len, "ies")) {
        word[len - 3] = 'y';
        len -= 2;
    } else if (len > 3 && word[len - 1] == 's' && !strchr("siu", word[len - 2])) {
        len--;
    }
    size_t whole = len;
    if (len > 5 && ends_with(word, len, "ing"))
        len -= 3;
    else if (len > 4 && ends_with(word, len, "ed"))
        len -= 2;
    if (len < whole && len > 3 && word[len - 1] == word[len - 2] && !strchr("ls", word[len - 1]))
        len--;
    if (len > 4 && ends_with(word, len, "ie"))
        word[--len - 1] = 'y'; /* "cookie" is the "cooky" of "cookies" */
    else if (len > 3 && word[len - 1] == 'e')
        len--;
    return len;
}

static uint64_t number_of(struct vcm_slice word)
{
    char text[WORD_MAX];
    size_t len = word.len < WORD_MAX ? word.len : WORD_MAX;

    for (size_t i = 0; i < len; i++)
        text[i] = is_upper(word.data[i]) ? (char)(word.data[i] - 'A' + 'a') : word.data[i];
    return vcm_hash_checksum(vcm_slice_of(text, cut_ending(text, len)), WORD_SEED);
}

size_t vcm_words_of(uint64_t out[VCM_WORDS_MAX], struct vcm_slice text)
{
    size_t count = 0;

    for (size_t start = 0, end; start < text.len && count < VCM_WORDS_MAX; start = end) {
        for (end = start; end < text.len && is_mark(text.data[end]);)
            end++;
        if (end > start)
            continue;
        for (end = start + 1;
             end < text.len && !is_mark(text.data[end]) && !begins_word(text, end);)
            end++;
        if (end - start > 1)
            out[count++] = number_of(vcm_slice_of(text.data + start, end - start));
    }
    return count;
}
