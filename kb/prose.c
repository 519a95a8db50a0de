#include "kb/prose.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/utf8.h"

#include "base/banned.h"

static bool is_space(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_ascii_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* The position behind the line that `at` is in. */
static size_t line_end(const char *text, size_t at, size_t end)
{
    const char *newline = memchr(text + at, '\n', end - at);
    return newline ? (size_t)(newline - text) + 1 : end;
}

static bool line_is_blank(const char *text, size_t at, size_t end)
{
    while (at < end && is_space(text[at]))
        at++;
    return at == end;
}

size_t vcm_prose_paragraph_end(const char *text, size_t at, size_t end)
{
    bool has_words = false;

    while (at < end) {
        size_t next = line_end(text, at, end);
        bool blank = line_is_blank(text, at, next);
        if (blank && has_words) {
            while (next < end) {
                size_t after = line_end(text, next, end);
                if (!line_is_blank(text, next, after))
                    break;
                next = after;
            }
            return next;
        }
        has_words |= !blank;
        at = next;
    }
    return end;
}

static size_t skip_space(const char *text, size_t at, size_t end)
{
    while (at < end && is_space(text[at]))
        at++;
    return at;
}

static uint32_t code_point(const char *text, size_t at)
{
    const unsigned char *bytes = (const unsigned char *)text + at;

    switch (vcm_utf8_sequence_length(bytes[0])) {
    case 2:
        return (bytes[0] & 0x1fu) << 6 | (bytes[1] & 0x3fu);
    case 3:
        return (bytes[0] & 0xfu) << 12 | (bytes[1] & 0x3fu) << 6 | (bytes[2] & 0x3fu);
    case 4:
        return (bytes[0] & 0x7u) << 18 | (bytes[1] & 0x3fu) << 12 | (bytes[2] & 0x3fu) << 6 |
               (bytes[3] & 0x3fu);
    default:
        return bytes[0];
    }
}

/* Lower-case letters of the scripts that have them and end sentences with a full stop. */
static bool is_lower(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 0xdf && c <= 0xff && c != 0xf7) ||
           (c >= 0x3ac && c <= 0x3ce) || (c >= 0x430 && c <= 0x45f);
}

/* Full stops that need no space after them. */
static bool is_wide_stop(uint32_t c)
{
    return c == 0x3002 || c == 0xff01 || c == 0xff1f || c == 0xff61;
}

static bool is_stop(uint32_t c)
{
    return c == '.' || c == '!' || c == '?' || c == 0x2026 || c == 0x61f || c == 0x6d4 ||
           c == 0x964;
}

static bool is_closer(uint32_t c)
{
    return c == ')' || c == ']' || c == '}' || c == '"' || c == '\'' || c == '*' || c == '_' ||
           c == '`' || c == 0xbb || c == 0x2019 || c == 0x201d || c == 0x300d || c == 0x300f ||
           c == 0xff09;
}

/* Whether the full stop at `stop` belongs to an abbreviation: an initial or a known one. */
static bool is_abbreviation(const char *text, size_t begin, size_t stop)
{
    static const char *const known[] = {"e.g",  "i.e", "cf",   "vs",  "Dr", "Mr",  "Mrs", "Ms",
                                        "Prof", "St",  "Fig",  "fig", "Eq", "eq",  "Sec", "sec",
                                        "No",   "Vol", "vol",  "pp",  "al", "ca",  "Ch",  "Figs",
                                        "Eqs",  "viz", "resp", "Ref", "ed", "eds", "Jr",  "Sr"};
    size_t at = stop;

    while (at > begin && (is_ascii_letter(text[at - 1]) || text[at - 1] == '.'))
        at--;
    struct vcm_slice word = vcm_slice_of(text + at, stop - at);
    if (word.len == 1 && word.data[0] >= 'A' && word.data[0] <= 'Z')
        return true;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (vcm_slice_equal(word, vcm_slice_of_string(known[i])))
            return true;
    }
    return false;
}

/* Whether a line that begins at `at` is an item, a row or code, rather than a prose line. */
static bool begins_item(const char *text, size_t at, size_t end)
{
    size_t first = at;

    while (first < end && (text[first] == ' ' || text[first] == '\t'))
        first++;
    if (first == end || text[first] == '\n' || text[first] == '\r')
        return false;
    if (first - at >= 4 || text[at] == '\t' || text[first] == '|')
        return true;
    size_t mark = first;
    if (text[mark] == '-' || text[mark] == '*' || text[mark] == '+') {
        mark++;
    } else {
        while (mark < end && mark - first < 4 && is_digit(text[mark]))
            mark++;
        if (mark == first || mark == end || (text[mark] != '.' && text[mark] != ')'))
            return false;
        mark++;
    }
    return mark < end && text[mark] == ' ';
}

/* The position behind the stop at `at` and its closing quotes or brackets, when a sentence ends
 * there; else 0. *next is where to continue. */
static size_t stop_end(size_t *next, const char *text, size_t begin, size_t at, size_t end)
{
    uint32_t stop = code_point(text, at);
    size_t after = at + vcm_utf8_sequence_length((unsigned char)text[at]);

    while (after < end) {
        uint32_t c = code_point(text, after);
        if (!is_closer(c) && !is_stop(c) && !is_wide_stop(c))
            break;
        after += vcm_utf8_sequence_length((unsigned char)text[after]);
    }
    *next = after;
    size_t following = skip_space(text, after, end);
    if (following == end || is_wide_stop(stop))
        return following;
    if (following == after || is_lower(code_point(text, following)))
        return 0;
    if (stop == '.' && is_abbreviation(text, begin, at))
        return 0;
    return following;
}

size_t vcm_prose_sentence_end(const char *text, size_t at, size_t end)
{
    size_t begin = at;

    at = skip_space(text, at, end);
    while (at < end) {
        unsigned char byte = (unsigned char)text[at];
        size_t next = at + vcm_utf8_sequence_length(byte);
        if (byte == '\n' && begins_item(text, next, end))
            return next;
        if (byte == '.' || byte == '!' || byte == '?' || byte >= 0xc0) {
            uint32_t c = code_point(text, at);
            if (is_stop(c) || is_wide_stop(c)) {
                size_t sentence = stop_end(&next, text, begin, at, end);
                if (sentence > 0)
                    return sentence;
            }
        }
        at = next;
    }
    return end;
}

size_t vcm_prose_word_end_before(const char *text, size_t at, size_t limit, size_t end)
{
    for (size_t i = limit; i > at; i--) {
        if (is_space(text[i - 1]) && (i == end || !is_space(text[i])))
            return i;
    }
    return at;
}
