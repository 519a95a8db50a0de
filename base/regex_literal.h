/*
 * regex_literal.h - what can be told from a regular expression before it is run: a text that every
 * match contains, and whether lines may be searched together.
 *
 * Reads the syntax of regex.h as far as it is common; what it does not understand makes the answer
 * empty, never wrong. Knows no library. Any thread may call it.
 */
#ifndef VCM_BASE_REGEX_LITERAL_H
#define VCM_BASE_REGEX_LITERAL_H

#include <stdbool.h>

#include "base/buf.h"

struct vcm_regex_literal {
    struct vcm_buf text; /* the longest text that every match contains, or nothing */
    bool is_whole;       /* the text is all that the pattern says */
    /* A match of a line alone is also one where lines follow and precede: no look-around, no
     * possessive or atomic part, no anchor other than ^ and $, no option. */
    bool is_plain;
    bool has_line_break; /* the pattern wants a line break, which no line has */
};

/* Fills in `out`, which the caller releases. With `ignore_case`, letters are no part of the text.
 * The pattern is valid UTF-8. */
void vcm_regex_literal_find(struct vcm_regex_literal *out, struct vcm_slice pattern,
                            bool ignore_case);
void vcm_regex_literal_release(struct vcm_regex_literal *literal);

#endif
