/*
 * text.h - small questions to the text of a file, which several modules ask. Private to this
 * folder.
 */
#ifndef VCM_SYMBOLS_SNIPPET_H
#define VCM_SYMBOLS_SNIPPET_H

#include "base/buf.h"

static inline bool vcm_snippet_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool vcm_snippet_begins(struct vcm_slice text, const char *with);
bool vcm_snippet_ends(struct vcm_slice text, const char *with);

/* Without white space, and other bytes that show nothing, at both ends. */
struct vcm_slice vcm_snippet_trim(struct vcm_slice text);

/* The first ones, or all that there are. */
struct vcm_slice vcm_snippet_first(struct vcm_slice text, size_t bytes_max);

/* Appends to a list of names that an import makes: "a, b as c". `here` may be empty. */
void vcm_snippet_put_name(struct vcm_buf *out, struct vcm_slice name, struct vcm_slice here);

#endif
