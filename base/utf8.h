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

/* Appends a path with each invalid byte written as \xHH (lower-case hex digits). A backslash that
 * begins what could be such an escape (\x2e, \x2f, \x5c, \x80 to \xff) is written as \x5c, so that
 * two paths never become one. All else is not changed. Returns whether anything was. */
bool vcm_utf8_escape_path(struct vcm_buf *out, struct vcm_slice path);

/* The same for one name of a path. With `unsafe` its slashes and a dot at its beginning are
 * escaped, too, so that the result leads nowhere. */
void vcm_utf8_escape_name(struct vcm_buf *out, struct vcm_slice name, bool unsafe);

/* Appends the path that vcm_utf8_escape_path() made this of. */
void vcm_utf8_unescape_path(struct vcm_buf *out, struct vcm_slice shown);

/* Appends valid UTF-8 as one line: a space for each run of white space, of control characters (C0,
 * DEL, C1) and of U+2028 and U+2029, and none at the beginning and the end. */
void vcm_utf8_append_line(struct vcm_buf *out, struct vcm_slice text);

/* Appends text for a terminal: a question mark for each control character (C0, DEL, C1) and line or
 * paragraph separator, "<U+202E>" and the like for each control of the direction of writing, which
 * would show the text in another order. With `lines`, line feeds and tabs stay. */
void vcm_utf8_append_visible(struct vcm_buf *out, struct vcm_slice text, bool lines);

/* Appends a name as it is or, when it has control characters or separators of lines, in double
 * quotes with escapes as in C: it stays on one line. */
void vcm_utf8_append_quoted(struct vcm_buf *out, struct vcm_slice name);

/* The length in bytes, 1 to 4, of the sequence that begins with this byte of valid UTF-8. */
unsigned vcm_utf8_sequence_length(unsigned char lead);

/* Terminal columns of valid UTF-8 text: combining marks count 0, wide code points 2. */
size_t vcm_utf8_columns(struct vcm_slice text);

#endif
