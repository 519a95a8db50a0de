/*
 * utf8.h - validation, replacement and length of UTF-8, as WHATWG's decoder sees it.
 */
#ifndef VCM_BASE_UTF8_H
#define VCM_BASE_UTF8_H

#include <stdbool.h>

#include "base/buf.h"

/* How many leading bytes are valid UTF-8: `text.len` when all are. Surrogates, overlong forms and
 * code points above U+10FFFF are invalid. Fast on ASCII. */
size_t vcm_utf8_valid_prefix(struct vcm_slice text);

static inline bool vcm_utf8_valid(struct vcm_slice text)
{
    return vcm_utf8_valid_prefix(text) == text.len;
}

/* The length of the maximal invalid subpart at the start of `text`, the bytes that one U+FFFD
 * stands for; 0 when a valid sequence begins there, or the text is empty. */
size_t vcm_utf8_invalid_prefix(struct vcm_slice text);

/* Appends `text` with one U+FFFD for each maximal invalid subpart. Returns whether there was
 * any. */
bool vcm_utf8_replace(struct vcm_buf *out, struct vcm_slice text);

/* Appends a path with each invalid byte written as \xHH (lower-case hex digits; valid text,
 * backslashes included, is not changed). Returns whether any byte was. */
bool vcm_utf8_escape_path(struct vcm_buf *out, struct vcm_slice path);

/* The length in bytes, 1 to 4, of the sequence that begins with this byte of valid UTF-8. */
unsigned vcm_utf8_sequence_length(unsigned char lead);

/* Terminal columns of valid UTF-8 text: combining marks count 0, wide code points 2. */
size_t vcm_utf8_columns(struct vcm_slice text);

#endif
