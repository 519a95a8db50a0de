#include "base/base64.h"

#include <stdint.h>

#include "base/banned.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void vcm_base64_put(struct vcm_buf *out, struct vcm_slice bytes)
{
    const unsigned char *in = (const unsigned char *)bytes.data;
    char *p = vcm_buf_reserve(out, vcm_base64_length(bytes.len));

    if (!p)
        return;
    for (size_t left = bytes.len; left > 0; in += 3) {
        uint32_t bits = (uint32_t)in[0] << 16 | (left > 1 ? (uint32_t)in[1] << 8 : 0) |
                        (left > 2 ? (uint32_t)in[2] : 0);
        *p++ = alphabet[bits >> 18];
        *p++ = alphabet[bits >> 12 & 63];
        *p++ = left > 1 ? alphabet[bits >> 6 & 63] : '=';
        *p++ = left > 2 ? alphabet[bits & 63] : '=';
        left = left > 3 ? left - 3 : 0;
    }
    vcm_buf_advance(out, vcm_base64_length(bytes.len));
}

/* The value of four characters; returns how many bytes they encode, 0 when they are invalid. */
static unsigned take_group(uint32_t *bits, const char *group, bool last)
{
    unsigned padding = 0;

    *bits = 0;
    for (unsigned i = 0; i < 4; i++) {
        const char *digit = group[i] != '\0' ? strchr(alphabet, group[i]) : NULL;
        if (last && i >= 2 && group[i] == '=')
            padding++;
        else if (!digit || padding > 0)
            return 0;
        *bits = *bits << 6 | (digit ? (uint32_t)(digit - alphabet) : 0);
    }
    /* The unused bits before the padding must be zero, so that each content has one encoding. */
    return *bits & ((1u << (8 * padding)) - 1) ? 0 : 3 - padding;
}

bool vcm_base64_get(struct vcm_buf *out, struct vcm_slice text)
{
    size_t before = out->len;
    uint32_t bits;

    if (text.len % 4 != 0)
        return false;
    for (size_t at = 0; at < text.len; at += 4) {
        unsigned count = take_group(&bits, text.data + at, at + 4 == text.len);
        if (count == 0) {
            vcm_buf_truncate(out, before);
            return false;
        }
        for (unsigned i = 0; i < count; i++)
            vcm_buf_append_byte(out, (char)(bits >> (16 - 8 * i) & 255));
    }
    return true;
}
