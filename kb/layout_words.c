#include "kb/layout_words.h"

#include <limits.h>
#include <stdlib.h>
#include <strings.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/utf8.h"

#include "base/banned.h"

#define EDGE_SHARE    0.12f         /* of a page's height, at its top and its bottom */
#define RUNNING_BYTES ((size_t)200) /* longer lines are not searched for inside pages */
#define EDGE_LINES    3             /* a running line is among this many at the edge */

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_lower(char byte)
{
    return byte >= 'a' && byte <= 'z';
}

static bool is_upper(char byte)
{
    return byte >= 'A' && byte <= 'Z';
}

/* Letters, and whatever is not ASCII. */
static bool is_letter(char byte)
{
    return is_lower(byte) || is_upper(byte) || (unsigned char)byte >= 0x80;
}

/* The replacement of a character, or NULL. *len is its length. */
static const char *replacement(size_t *len, const char *at)
{
    static const char *const ligatures[] = {"ff", "fi", "fl", "ffi", "ffl", "st", "st"};
    const unsigned char *bytes = (const unsigned char *)at;

    *len = vcm_utf8_sequence_length(bytes[0]);
    if (bytes[0] < 0x20 || bytes[0] == 0x7f)
        return " ";
    if (bytes[0] == 0xc2 && bytes[1] == 0xa0)
        return " ";
    if (bytes[0] == 0xef && bytes[1] == 0xac && bytes[2] >= 0x80 && bytes[2] <= 0x86)
        return ligatures[bytes[2] - 0x80];
    return NULL;
}

void vcm_layout_words_clean(struct vcm_buf *out, struct vcm_slice text)
{
    struct vcm_buf valid = VCM_BUF_INIT(VCM_LIMIT_EXTRACT_TEXT_BYTES);
    size_t begin = out->len;
    size_t len;

    vcm_utf8_replace(&valid, text);
    for (size_t i = 0; i < valid.len; i += len) {
        const char *other = replacement(&len, valid.data + i);
        bool space = other ? other[0] == ' ' : valid.data[i] == ' ';
        if (space && (out->len == begin || out->data[out->len - 1] == ' '))
            continue;
        if (other)
            vcm_buf_append_string(out, other);
        else
            vcm_buf_append(out, valid.data + i, len);
    }
    if (out->len > begin && out->data[out->len - 1] == ' ')
        vcm_buf_truncate(out, out->len - 1);
    if (valid.fault != VCM_BUF_FINE)
        out->fault = valid.fault;
    vcm_buf_release(&valid);
}

bool vcm_layout_words_has_letter(struct vcm_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (is_letter(text.data[i]))
            return true;
    }
    return false;
}

bool vcm_layout_words_has_leaders(struct vcm_slice text)
{
    return text.len > 0 && (memmem(text.data, text.len, ". . .", 5) != NULL ||
                            memmem(text.data, text.len, ".....", 5) != NULL);
}

uint32_t vcm_layout_words_number_depth(struct vcm_slice text)
{
    size_t at = 0;
    uint32_t depth = 0;

    while (at < text.len && depth < 6) {
        size_t begin = at;
        if (depth == 0 && is_upper(text.data[at]) && at + 1 < text.len && text.data[at + 1] == '.')
            at++;
        while (at < text.len && at - begin < 3 && is_digit(text.data[at]))
            at++;
        if (at == begin)
            break;
        depth++;
        if (at == text.len || text.data[at] != '.')
            break;
        at++;
    }
    if (depth == 0 || at + 1 >= text.len || text.data[at] != ' ' || !is_letter(text.data[at + 1]) ||
        is_lower(text.data[at + 1]))
        return 0;
    return depth;
}

bool vcm_layout_words_is_usual_heading(struct vcm_slice text)
{
    static const char *const usual[] = {
        "abstract",         "introduction",    "conclusion",   "conclusions", "references",
        "acknowledgements", "acknowledgments", "bibliography", "summary",     "appendix",
        "discussion",       "related work",    "contents",     "preface",     "index",
    };

    while (text.len > 0 && (text.data[text.len - 1] == '.' || text.data[text.len - 1] == ':'))
        text.len--;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        if (text.len == strlen(usual[i]) && strncasecmp(text.data, usual[i], text.len) == 0)
            return true;
    }
    return false;
}

bool vcm_layout_words_ends_sentence(struct vcm_slice text)
{
    while (text.len > 0 && strchr(")\"']", text.data[text.len - 1]))
        text.len--;
    return text.len > 0 && strchr(".!?:", text.data[text.len - 1]) != NULL;
}

bool vcm_layout_words_begins_lower(struct vcm_slice text)
{
    return text.len > 0 && is_lower(text.data[0]);
}

/* The hash of a word in lower case; its last part may be given separately. */
static uint64_t word_hash(const struct vcm_slice *parts, unsigned count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (unsigned i = 0; i < count; i++) {
        for (size_t k = 0; k < parts[i].len; k++) {
            char byte = parts[i].data[k];
            hash = (hash ^ (unsigned char)(is_upper(byte) ? byte | 0x20 : byte)) *
                   UINT64_C(0x100000001b3);
        }
    }
    return hash | 1;
}

static bool has_word(const struct vcm_layout_words *words, uint64_t hash)
{
    for (size_t slot = (size_t)(hash >> 7) & words->mask; words->slots[slot] != 0;
         slot = (slot + 1) & words->mask) {
        if (words->slots[slot] == hash)
            return true;
    }
    return false;
}

static void add_word(struct vcm_layout_words *words, uint64_t hash)
{
    size_t slot = (size_t)(hash >> 7) & words->mask;

    while (words->slots[slot] != 0 && words->slots[slot] != hash)
        slot = (slot + 1) & words->mask;
    words->slots[slot] = hash;
}

/* The end of the word at `at`; inner hyphens belong to it. */
static size_t word_end(struct vcm_slice text, size_t at)
{
    while (at < text.len &&
           (is_letter(text.data[at]) ||
            (text.data[at] == '-' && at + 1 < text.len && is_letter(text.data[at + 1]))))
        at++;
    return at;
}

int vcm_layout_words_open(struct vcm_layout_words *words, struct vcm_slice text,
                          struct vcm_error *err)
{
    size_t slots = 1024;

    while (slots < text.len / 2)
        slots *= 2;
    words->slots = calloc(slots, sizeof *words->slots);
    if (!words->slots)
        return vcm_error_memory(err);
    words->mask = slots - 1;
    for (size_t at = 0; at < text.len;) {
        size_t end = word_end(text, at);
        struct vcm_slice word = vcm_slice_of(text.data + at, end - at);
        if (word.len > 2)
            add_word(words, word_hash(&word, 1));
        at = end + 1;
    }
    return VCM_OK;
}

void vcm_layout_words_close(struct vcm_layout_words *words)
{
    free(words->slots);
    words->slots = NULL;
}

/* The length of the hyphen at the end of the text, or 0. A soft hyphen is never part of a word. */
static size_t hyphen_length(const struct vcm_buf *text, bool *soft)
{
    const char *end = text->data + text->len;

    *soft = false;
    if (text->len > 1 && end[-1] == '-')
        return 1;
    if (text->len > 2 && memcmp(end - 2, "\xc2\xad", 2) == 0) {
        *soft = true;
        return 2;
    }
    return text->len > 3 && memcmp(end - 3, "\xe2\x80\x90", 3) == 0 ? 3 : 0;
}

size_t vcm_layout_words_mend(struct vcm_buf *text, const struct vcm_layout_words *words,
                             struct vcm_slice next)
{
    bool soft;
    size_t hyphen = hyphen_length(text, &soft);
    size_t end = text->len - hyphen;
    size_t begin = end;

    while (begin > 0 && is_letter(text->data[begin - 1]))
        begin--;
    if (hyphen == 0 || begin == end || next.len == 0 || !is_letter(next.data[0]))
        return 0;
    size_t second = word_end(next, 0);
    struct vcm_slice parts[3] = {{text->data + begin, end - begin}, {"-", 1}, {next.data, second}};
    struct vcm_slice joined[2] = {parts[0], parts[2]};
    bool known = has_word(words, word_hash(joined, 2));
    bool compound = !soft && !known && has_word(words, word_hash(parts, 3));
    /* Before a capital most hyphens belong to the word: it is removed only if the joined word
     * occurs elsewhere. */
    if (is_upper(next.data[0]) && !known)
        return 0;
    if (!compound)
        vcm_buf_truncate(text, end);
    while (second < next.len && next.data[second] != ' ')
        second++;
    return second;
}

/* A line at the edge of a page, in the form that is compared with others. */
struct edge {
    uint64_t hash;
    size_t line;
    uint32_t page;
    uint64_t text; /* hash of its text alone, 0 for a number */
};

/* The value of a line that is nothing but a number, arabic or roman; -1 for others. */
static long number_alone(struct vcm_slice text)
{
    static const char letters[] = "ivxlc";
    static const long values[] = {1, 5, 10, 50, 100};
    long value = 0, last = 0;

    if (text.len == 0 || text.len > 9)
        return -1;
    for (size_t i = text.len; i > 0 && !is_digit(text.data[0]); i--) {
        char byte = text.data[i - 1];
        const char *letter = strchr(letters, is_upper(byte) ? byte | 0x20 : byte);
        if (!letter || *letter == '\0')
            return -1;
        long own = values[letter - letters];
        value += own < last ? -own : own;
        last = own;
    }
    for (size_t i = 0; i < text.len && is_digit(text.data[0]); i++) {
        if (!is_digit(text.data[i]))
            return -1;
        value = value * 10 + (text.data[i] - '0');
    }
    return value;
}

/* Numbers, arabic or roman, count as equal. */
static uint64_t text_hash(struct vcm_slice text)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < text.len;) {
        size_t end = i;
        while (end < text.len && is_digit(text.data[end]))
            end++;
        if (end == i && (i == 0 || !is_letter(text.data[i - 1]))) {
            while (end < text.len && strchr("ivxlcIVXLC", text.data[end]))
                end++;
            if (end < text.len && is_letter(text.data[end]))
                end = i;
        }
        hash = vcm_hash_checksum(
            end > i ? vcm_slice_of_string("#") : vcm_slice_of(text.data + i, 1), hash);
        i = end > i ? end : i + 1;
    }
    return hash | 1;
}

/* Lines with the same hash may be running lines. A number that is not the outermost line may be
 * part of a table or a listing: it is a page number only if it grows with the pages. */
static struct edge edge_of(struct vcm_slice text, bool top, unsigned outside, size_t line,
                           uint32_t page)
{
    long number = number_alone(text);
    uint64_t side = top ? 1 : 2;
    struct edge edge = {.line = line, .page = page, .text = number < 0 ? text_hash(text) : 0};

    if (number >= 0) {
        long offset = outside > 0 ? number - (long)page : LONG_MAX;
        edge.hash = vcm_hash_checksum(vcm_slice_of((const char *)&offset, sizeof offset), side);
    } else {
        edge.hash = edge.text ^ side << 62;
    }
    return edge;
}

/* How many printed lines are between the line and the edge of the page, at most EDGE_LINES. */
static unsigned lines_outside(const struct vcm_layout *layout, size_t first, size_t end,
                              size_t line, bool top)
{
    const struct vcm_layout_box *box = &layout->lines[line].box;
    unsigned count = 0;

    for (size_t i = first; i < end && count < EDGE_LINES; i++) {
        const struct vcm_layout_box *other = &layout->lines[i].box;
        if (top ? other->y1 <= box->y0 + 1 : other->y0 >= box->y1 - 1)
            count++;
    }
    return count;
}

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a;
    const struct edge *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* How often a text occurs inside pages, not at their edges. */
static size_t count_inside(const uint64_t *inside, size_t count, uint64_t text)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (inside[middle] < text)
            low = middle + 1;
        else
            high = middle;
    }
    size_t first = low;
    while (low < count && inside[low] == text)
        low++;
    return low - first;
}

/* Puts the hashes of the lines inside pages into `inside`, sorted. */
static size_t collect_edges(struct edge *edges, uint64_t *inside, size_t *inside_count,
                            const struct vcm_layout *layout)
{
    size_t count = 0;

    for (size_t p = 0; p < layout->page_count; p++) {
        size_t first = layout->pages[p].first;
        size_t end = p + 1 < layout->page_count ? layout->pages[p + 1].first : layout->line_count;
        float height = layout->pages[p].height;
        for (size_t i = first; i < end; i++) {
            const struct vcm_layout_line *line = &layout->lines[i];
            bool top = line->box.y1 < height * EDGE_SHARE;
            bool bottom = line->box.y0 > height * (1 - EDGE_SHARE);
            struct vcm_slice text = vcm_slice_of(layout->text.data + line->offset, line->len);
            unsigned outside =
                top || bottom ? lines_outside(layout, first, end, i, top) : EDGE_LINES;
            if (outside < EDGE_LINES)
                edges[count++] = edge_of(text, top, outside, i, line->page);
            else if (line->len <= RUNNING_BYTES)
                inside[(*inside_count)++] = text_hash(text);
        }
    }
    qsort(inside, *inside_count, sizeof *inside, compare_hashes);
    return count;
}

/* Text on one printed line with a running one, such as a chapter beside the page's number, is
 * running too. */
static void mark_neighbours(struct vcm_layout *layout, const struct edge *edges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct vcm_layout_line *line = &layout->lines[edges[i].line];
        size_t first = layout->pages[line->page - 1].first;
        size_t end =
            line->page < layout->page_count ? layout->pages[line->page].first : layout->line_count;
        for (size_t k = first; line->running && k < end; k++) {
            struct vcm_layout_line *other = &layout->lines[k];
            if (other->box.y0 < line->box.y0 + 2 && other->box.y0 > line->box.y0 - 2)
                other->running = true;
        }
    }
}

int vcm_layout_words_mark_running(struct vcm_layout *layout, struct vcm_error *err)
{
    struct edge *edges = calloc(layout->line_count + 1, sizeof *edges);
    uint64_t *inside = calloc(layout->line_count + 1, sizeof *inside);
    size_t inside_count = 0;

    if (!edges || !inside) {
        free(edges);
        free(inside);
        return vcm_error_memory(err);
    }
    size_t count = collect_edges(edges, inside, &inside_count, layout);
    qsort(edges, count, sizeof *edges, compare_edges);
    for (size_t i = 0; i < count;) {
        size_t pages = 1;
        size_t end = i + 1;
        for (; end < count && edges[end].hash == edges[i].hash; end++)
            pages += edges[end].page != edges[end - 1].page;
        bool running = pages >= 3 || (pages == 2 && layout->page_count == 2);
        /* A text that occurs as often elsewhere is a word of a table at the edge. */
        if (running && edges[i].text != 0)
            running = count_inside(inside, inside_count, edges[i].text) < pages;
        for (; i < end; i++)
            layout->lines[edges[i].line].running = running;
    }
    mark_neighbours(layout, edges, count);
    free(inside);
    free(edges);
    return VCM_OK;
}
