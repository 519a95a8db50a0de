#include "base/text.h"

#include <string.h>

#include "base/limits.h"

#include "base/banned.h"

#define WORD_MAX 64

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

/* Edits between two words: insertions, deletions, replacements and swapped neighbours. */
static size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][WORD_MAX + 1];

    for (size_t j = 0; j <= b_len; j++)
        rows[1][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *above = rows[i % 3], *row = rows[(i + 1) % 3];
        const size_t *before = rows[(i + 2) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[(a_len + 1) % 3][b_len];
}

const char *vcm_text_nearest(const char *word, const char *const *words)
{
    size_t len = strlen(word);
    /* A slip touches a third of a word at the most. */
    size_t best_distance = len / 3 + 1;
    const char *best = NULL;

    if (len == 0 || len > WORD_MAX)
        return NULL;
    for (; *words; words++) {
        size_t other = strlen(*words);
        if (other > WORD_MAX)
            continue;
        if (len >= 3 && strncmp(word, *words, len) == 0 && !best)
            best = *words;
        size_t distance = edit_distance(word, len, *words, other);
        if (distance < best_distance || (distance == best_distance && !best)) {
            best_distance = distance;
            best = *words;
        }
    }
    return best;
}
