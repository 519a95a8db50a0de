/*
 * utf8_step.h - one step of WHATWG's UTF-8 decoder over bytes that may end anywhere.
 *
 * base/utf8.h validates whole texts; a counter that is fed in pieces must also recognise a sequence
 * that is not complete yet. Internal to tokens/.
 */
#ifndef VCM_TOKENS_UTF8_STEP_H
#define VCM_TOKENS_UTF8_STEP_H

#include <stdbool.h>
#include <stddef.h>

enum utf8_step_kind {
    UTF8_STEP_VALID,
    UTF8_STEP_INVALID,    /* a maximal invalid subpart: one U+FFFD */
    UTF8_STEP_INCOMPLETE, /* valid so far, and the bytes end here */
};

struct utf8_step {
    enum utf8_step_kind kind;
    size_t len; /* of the sequence, the subpart, or what there is of it; at least 1 */
};

/* The sequence at the beginning of `len` > 0 bytes. */
static inline struct utf8_step utf8_step(const unsigned char *bytes, size_t len)
{
    unsigned lead = bytes[0];
    unsigned low = 0x80;
    unsigned high = 0xbf;
    size_t need;
    if (lead < 0x80) {
        return (struct utf8_step){UTF8_STEP_VALID, 1};
    } else if (lead >= 0xc2 && lead <= 0xdf) {
        need = 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
        need = 3;
        low = lead == 0xe0 ? 0xa0 : low;
        high = lead == 0xed ? 0x9f : high;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
        need = 4;
        low = lead == 0xf0 ? 0x90 : low;
        high = lead == 0xf4 ? 0x8f : high;
    } else {
        return (struct utf8_step){UTF8_STEP_INVALID, 1};
    }
    for (size_t i = 1; i < need; i++) {
        if (i == len)
            return (struct utf8_step){UTF8_STEP_INCOMPLETE, i};
        if (bytes[i] < low || bytes[i] > high)
            return (struct utf8_step){UTF8_STEP_INVALID, i};
        low = 0x80;
        high = 0xbf;
    }
    return (struct utf8_step){UTF8_STEP_VALID, need};
}

#endif
