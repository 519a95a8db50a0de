/*
 * snippet.h - helpers for pieces of a file's text: how it begins and ends, where a word begins.
 * Private to this folder.
 */
#ifndef VCM_SYMBOLS_SNIPPET_H
#define VCM_SYMBOLS_SNIPPET_H

#include "base/buf.h"

static inline bool vcm_snippet_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Whether a name may have the character: letters, digits, "_", all beyond ASCII, and the mark,
 * where the language has one more (0: it has none). */
static inline bool vcm_snippet_is_word(char c, char mark)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80 || (c == mark && mark != '\0');
}

/* Where the word begins that ends at `end`; `end` without one. */
size_t vcm_snippet_word_start(struct vcm_slice text, size_t end, char mark);

/* Whether the text up to `at` ends so. */
bool vcm_snippet_ends_at(struct vcm_slice text, size_t at, const char *with);

bool vcm_snippet_begins(struct vcm_slice text, const char *with);
bool vcm_snippet_ends(struct vcm_slice text, const char *with);

/* Without white space and other invisible bytes at both ends. */
struct vcm_slice vcm_snippet_trim(struct vcm_slice text);

/* The first ones, or all that there are. */
struct vcm_slice vcm_snippet_first(struct vcm_slice text, size_t bytes_max);

/* Appends to a list of names that an import makes: "a, b as c". `here` may be empty. */
void vcm_snippet_put_name(struct vcm_buf *out, struct vcm_slice name, struct vcm_slice here);

#endif
