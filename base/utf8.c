#include "base/utf8.h"

#include <stdint.h>

#include "base/utf8_width.h"

#include "base/banned.h"

#define HIGH_BITS UINT64_C(0x8080808080808080)

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

bool vcm_utf8_escape_path(struct vcm_buf *out, struct vcm_slice path)
{
    bool escaped = false;

    while (path.len > 0) {
        size_t skip = vcm_utf8_valid_prefix(path);
        vcm_buf_append(out, path.data, skip);
        if (skip < path.len) {
            vcm_buf_append_format(out, "\\x%02x", (unsigned)(unsigned char)path.data[skip]);
            skip++;
            escaped = true;
        }
        path = vcm_slice_of(path.data + skip, path.len - skip);
    }
    return escaped;
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

size_t vcm_utf8_columns(struct vcm_slice text)
{
    const unsigned char *p = (const unsigned char *)text.data;
    size_t columns = 0;

    for (size_t i = 0; i < text.len;) {
        size_t len = vcm_utf8_sequence_length(p[i]);
        if (len > text.len - i)
            break;
        uint32_t point = len == 1 ? p[i] : p[i] & (0x7fu >> len);
        for (size_t k = 1; k < len; k++)
            point = point << 6 | (p[i + k] & 0x3fu);
        i += len;
        if (point < 0x300)
            columns++;
        else if (!IN_RANGES(zero_width, point))
            columns += IN_RANGES(double_width, point) ? 2 : 1;
    }
    return columns;
}
