#include "base/utf8.h"

#include <stdint.h>

#include "base/utf8_width.h"

#include "base/banned.h"

#define HIGH_BITS    UINT64_C(0x8080808080808080)
#define ESCAPE_BYTES 4u /* of "\xHH" */

static const char replacement[] = "\xef\xbf\xbd";

/* The number of leading ASCII bytes. */
static size_t ascii_prefix(const unsigned char *p, size_t len)
{
    size_t i = 0;

    for (; len - i >= 16; i += 16) {
        uint64_t words[2];
        memcpy(words, p + i, sizeof words);
        if ((words[0] | words[1]) & HIGH_BITS)
            break;
    }
    while (i < len && p[i] < 0x80)
        i++;
    return i;
}

/* The length of the valid sequence at `p`, or 0 and the length of the maximal invalid subpart in
 * *bad: the bytes that could still have begun a sequence, at least one. */
static size_t sequence(const unsigned char *p, size_t left, size_t *bad)
{
    unsigned char lead = p[0];
    unsigned char low = 0x80, high = 0xbf;

    *bad = 1;
    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    if (lead == 0xe0)
        low = 0xa0;
    else if (lead == 0xed)
        high = 0x9f;
    else if (lead == 0xf0)
        low = 0x90;
    else if (lead == 0xf4)
        high = 0x8f;

    size_t need = vcm_utf8_sequence_length(lead);
    for (size_t i = 1; i < need; i++) {
        if (i == left || p[i] < low || p[i] > high) {
            *bad = i;
            return 0;
        }
        low = 0x80;
        high = 0xbf;
    }
    return need;
}

size_t vcm_utf8_valid_prefix(struct vcm_slice text)
{
    const unsigned char *p = (const unsigned char *)text.data;
    size_t i = 0, bad;

    while (i < text.len) {
        if (p[i] < 0x80) {
            i += ascii_prefix(p + i, text.len - i);
            continue;
        }
        size_t len = sequence(p + i, text.len - i, &bad);
        if (len == 0)
            break;
        i += len;
    }
    return i;
}

size_t vcm_utf8_invalid_prefix(struct vcm_slice text)
{
    size_t bad = 0;

    if (text.len == 0 || sequence((const unsigned char *)text.data, text.len, &bad) > 0)
        return 0;
    return bad;
}

bool vcm_utf8_replace(struct vcm_buf *out, struct vcm_slice text)
{
    bool replaced = false;

    while (text.len > 0) {
        size_t skip = vcm_utf8_valid_prefix(text);
        vcm_buf_append(out, text.data, skip);
        if (skip < text.len) {
            vcm_buf_append(out, replacement, sizeof replacement - 1);
            skip += vcm_utf8_invalid_prefix(vcm_slice_of(text.data + skip, text.len - skip));
            replaced = true;
        }
        text = vcm_slice_of(text.data + skip, text.len - skip);
    }
    return replaced;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte of the escape that begins with this backslash, -1 when there is none: "\x2e" and "\x2f"
 * for dots and slashes of names that are refused, "\x5c", and bytes from 0x80. In a name that is to
 * be escaped, such a backslash has to be, too. All others are left as they are, because names with
 * "\x2d" are common (units of systemd).
 */
static int escaped_byte(const char *text, size_t len)
{
    if (len < ESCAPE_BYTES || text[1] != 'x' || hex_digit(text[2]) < 0 || hex_digit(text[3]) < 0)
        return -1;
    int byte = hex_digit(text[2]) * 16 + hex_digit(text[3]);
    return byte >= 0x80 || byte == '\\' || byte == '/' || byte == '.' ? byte : -1;
}

static void append_escape(struct vcm_buf *out, char byte)
{
    vcm_buf_append_format(out, "\\x%02x", (unsigned)(unsigned char)byte);
}

/* Appends valid UTF-8. Returns whether a backslash was escaped. */
static bool escape_valid(struct vcm_buf *out, struct vcm_slice text)
{
    const char *end = text.data + text.len;
    const char *copied = text.data;
    const char *at = text.len > 0 ? memchr(text.data, '\\', text.len) : NULL;

    for (; at; at = memchr(at, '\\', (size_t)(end - at))) {
        if (escaped_byte(at, (size_t)(end - at)) >= 0) {
            vcm_buf_append(out, copied, (size_t)(at - copied));
            append_escape(out, '\\');
            copied = at + 1;
        }
        at++;
    }
    vcm_buf_append(out, copied, (size_t)(end - copied));
    return copied != text.data;
}

bool vcm_utf8_escape_path(struct vcm_buf *out, struct vcm_slice path)
{
    bool escaped = false;

    while (path.len > 0) {
        size_t skip = vcm_utf8_valid_prefix(path);
        escaped |= escape_valid(out, vcm_slice_of(path.data, skip));
        if (skip < path.len) {
            append_escape(out, path.data[skip]);
            skip++;
            escaped = true;
        }
        path = vcm_slice_of(path.data + skip, path.len - skip);
    }
    return escaped;
}

void vcm_utf8_unescape_path(struct vcm_buf *out, struct vcm_slice shown)
{
    for (size_t i = 0; i < shown.len;) {
        int byte = shown.data[i] == '\\' ? escaped_byte(shown.data + i, shown.len - i) : -1;
        vcm_buf_append_byte(out, byte >= 0 ? (char)byte : shown.data[i]);
        i += byte >= 0 ? ESCAPE_BYTES : 1;
    }
}

/* Whether a line must not have the character: it ends lines, moves the cursor, or is blank. */
static bool is_gap(struct vcm_slice c)
{
    unsigned char first = (unsigned char)c.data[0];

    if (c.len == 1)
        return first <= ' ' || first == 0x7f;
    if (c.len == 2)
        return first == 0xc2 && (unsigned char)c.data[1] < 0xa0;
    return c.len == 3 &&
           (memcmp(c.data, "\xe2\x80\xa8", 3) == 0 || memcmp(c.data, "\xe2\x80\xa9", 3) == 0);
}

void vcm_utf8_append_line(struct vcm_buf *out, struct vcm_slice text)
{
    const size_t start = out->len;
    bool gap = false;

    for (size_t i = 0; i < text.len;) {
        struct vcm_slice c =
            vcm_slice_of(text.data + i, vcm_utf8_sequence_length((unsigned char)text.data[i]));
        i += c.len;
        if (is_gap(c)) {
            gap = true;
            continue;
        }
        if (gap && out->len > start)
            vcm_buf_append_byte(out, ' ');
        vcm_buf_append_slice(out, c);
        gap = false;
    }
}

void vcm_utf8_escape_name(struct vcm_buf *out, struct vcm_slice name, bool unsafe)
{
    if (unsafe && name.len > 0 && name.data[0] == '.') {
        append_escape(out, '.');
        name = vcm_slice_of(name.data + 1, name.len - 1);
    }
    const char *slash;
    while (unsafe && name.len > 0 && (slash = memchr(name.data, '/', name.len)) != NULL) {
        size_t len = (size_t)(slash - name.data);
        vcm_utf8_escape_path(out, vcm_slice_of(name.data, len));
        append_escape(out, '/');
        name = vcm_slice_of(slash + 1, name.len - len - 1);
    }
    vcm_utf8_escape_path(out, name);
}

unsigned vcm_utf8_sequence_length(unsigned char lead)
{
    return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

static bool in_ranges(const struct vcm_utf8_range *ranges, size_t count, uint32_t point)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (point > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && point >= ranges[low].first;
}

#define IN_RANGES(ranges, point) in_ranges((ranges), sizeof(ranges) / sizeof((ranges)[0]), (point))

/* The code point at the beginning of `text`, which is not empty, and its length. What is cut off or
 * no beginning of a sequence is one byte. */
static size_t decode(uint32_t *point, struct vcm_slice text)
{
    const unsigned char *p = (const unsigned char *)text.data;
    size_t len = vcm_utf8_sequence_length(p[0]);

    *point = p[0];
    if (len == 1 || len > text.len || p[0] < 0xc0)
        return 1;
    *point = p[0] & (0x7fu >> len);
    for (size_t k = 1; k < len; k++)
        *point = *point << 6 | (p[k] & 0x3fu);
    return len;
}

static bool is_direction(uint32_t point)
{
    return point == 0x61c || point == 0x200e || point == 0x200f ||
           (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

static bool is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x2028 || point == 0x2029;
}

void vcm_utf8_append_visible(struct vcm_buf *out, struct vcm_slice text, bool lines)
{
    while (text.len > 0) {
        uint32_t point;
        size_t len = decode(&point, text);
        if (is_direction(point))
            vcm_buf_append_format(out, "<U+%04X>", (unsigned)point);
        else if (is_control(point) && !(lines && (point == '\n' || point == '\t')))
            vcm_buf_append_byte(out, '?');
        else
            vcm_buf_append(out, text.data, len);
        text = vcm_slice_of(text.data + len, text.len - len);
    }
}

static bool has_control(struct vcm_slice text)
{
    while (text.len > 0) {
        uint32_t point;
        size_t len = decode(&point, text);
        if (is_control(point))
            return true;
        text = vcm_slice_of(text.data + len, text.len - len);
    }
    return false;
}

void vcm_utf8_append_quoted(struct vcm_buf *out, struct vcm_slice name)
{
    static const char letters[] = {['\a'] = 'a', ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n',
                                   ['\v'] = 'v', ['\f'] = 'f', ['\r'] = 'r'};

    if (!has_control(name)) {
        vcm_buf_append_slice(out, name);
        return;
    }
    vcm_buf_append_byte(out, '"');
    while (name.len > 0) {
        uint32_t point;
        size_t len = decode(&point, name);
        if (point < sizeof letters && letters[point])
            vcm_buf_append_format(out, "\\%c", letters[point]);
        else if (is_control(point))
            vcm_buf_append_format(out, "\\u%04x", (unsigned)point);
        else if (point == '"' || point == '\\')
            vcm_buf_append_format(out, "\\%c", (char)point);
        else
            vcm_buf_append(out, name.data, len);
        name = vcm_slice_of(name.data + len, name.len - len);
    }
    vcm_buf_append_byte(out, '"');
}

size_t vcm_utf8_columns(struct vcm_slice text)
{
    size_t columns = 0;

    while (text.len > 0) {
        uint32_t point;
        size_t len = decode(&point, text);
        text = vcm_slice_of(text.data + len, text.len - len);
        if (point < 0x300)
            columns++;
        else if (!IN_RANGES(zero_width, point))
            columns += IN_RANGES(double_width, point) ? 2 : 1;
    }
    return columns;
}
