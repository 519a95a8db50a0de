#include "base/text.h"

#include <string.h>

#include "base/limits.h"

#include "base/banned.h"

#define NEAREST_BYTES_MAX 48
#define PREFIX_BYTES_MIN  4

struct unit {
    const char *name;
    uint64_t factor;
};

static bool parse_digits(uint64_t *out, const char **rest, const char *text)
{
    uint64_t value = 0;
    const char *p = text;

    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    *rest = p;
    return p != text;
}

static bool parse_with_unit(uint64_t *out, const char *text, const struct unit *units)
{
    uint64_t value;
    const char *rest;

    if (!parse_digits(&value, &rest, text))
        return false;
    for (; units->name; units++) {
        if (strcmp(rest, units->name) != 0)
            continue;
        if (value > UINT64_MAX / units->factor)
            return false;
        *out = value * units->factor;
        return true;
    }
    return false;
}

bool vcm_text_parse_uint(uint64_t *out, const char *text)
{
    static const struct unit units[] = {{"", 1}, {NULL, 0}};
    return parse_with_unit(out, text, units);
}

bool vcm_text_parse_size(uint64_t *bytes, const char *text)
{
    static const struct unit units[] = {
        {"", 1}, {"KiB", VCM_KIB}, {"MiB", VCM_MIB}, {"GiB", VCM_GIB}, {NULL, 0}};
    return parse_with_unit(bytes, text, units);
}

bool vcm_text_parse_duration(uint64_t *ms, const char *text)
{
    static const struct unit units[] = {
        {"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 60 * 60 * 1000}, {NULL, 0}};
    return parse_with_unit(ms, text, units);
}

static char fold(char c)
{
    if (c == '-' || c == ' ')
        return '_';
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The number of insertions, deletions, replacements and swaps that turn one word into the other,
 * ignoring case and dashes. */
static unsigned distance(struct vcm_slice a, struct vcm_slice b)
{
    unsigned rows[3][NEAREST_BYTES_MAX + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];

    for (unsigned j = 0; j <= b.len; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a.len; i++) {
        unsigned *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = i;
        for (unsigned j = 1; j <= b.len; j++) {
            bool same = fold(a.data[i - 1]) == fold(b.data[j - 1]);
            row[j] = least(above[j - 1] + !same, 1 + least(above[j], row[j - 1]));
            if (i > 1 && j > 1 && fold(a.data[i - 1]) == fold(b.data[j - 2]) &&
                fold(a.data[i - 2]) == fold(b.data[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[b.len];
}

/* Known confusions: "chunk_overlap" and "start_directory" have too large an edit distance from the
 * names that they mean. */
static bool is_start_of_other(struct vcm_slice a, struct vcm_slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;

    return len >= PREFIX_BYTES_MIN && memcmp(a.data, b.data, len) == 0;
}

const char *vcm_text_nearest(struct vcm_slice word, const char *const *words, size_t count)
{
    const char *nearest = NULL;
    unsigned best = 0;

    if (word.len == 0 || word.len > NEAREST_BYTES_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        struct vcm_slice other = vcm_slice_of_string(words[i]);
        if (other.len > NEAREST_BYTES_MAX)
            continue;
        unsigned far = is_start_of_other(word, other) ? 1 : distance(word, other);
        /* A third of the word may differ, and two letters of a short word. */
        unsigned most = other.len < 6 ? (other.len < 3 ? 0 : 2) : (unsigned)other.len / 3;
        if (far <= most && (!nearest || far < best)) {
            nearest = words[i];
            best = far;
        }
    }
    return nearest;
}

static bool is_word_byte(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c & 0x80) != 0;
}

/* Takes the next word off the text; an empty one when there is none. */
static struct vcm_slice next_word(struct vcm_slice *text)
{
    size_t start = 0, end;

    while (start < text->len && !is_word_byte(text->data[start]))
        start++;
    for (end = start; end < text->len && is_word_byte(text->data[end]);)
        end++;
    struct vcm_slice word = vcm_slice_of(text->data + start, end - start);
    *text = vcm_slice_of(text->data + end, text->len - end);
    return word;
}

bool vcm_text_tells_kind(struct vcm_slice signature, const char *kind, struct vcm_slice name)
{
    struct vcm_slice wanted = vcm_slice_of_string(kind);

    if (signature.len > 0 && signature.data[0] == '#')
        return true;
    for (;;) {
        struct vcm_slice word = next_word(&signature);
        if (word.len > 0 && vcm_slice_equal(word, wanted))
            return true;
        if (word.len == 0 || vcm_slice_equal(word, name))
            return false;
    }
}
