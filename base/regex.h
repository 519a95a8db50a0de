/*
 * regex.h - regular expressions, searched for in the lines of a text. The owner of PCRE2.
 *
 * The syntax is that of Perl. A match is within one line: neither the expression nor what it looks
 * at crosses a line's end, and "$" stands before CRLF as before LF. Letters, digits and words are
 * those of Unicode. The steps in one line, memory and stack are bounded (limits.h): an expression
 * that explodes is an error that names it, after a few hundredths of a second.
 *
 * A regex never changes: any number of threads may use it, each with a matcher of its own.
 */
#ifndef VCM_BASE_REGEX_H
#define VCM_BASE_REGEX_H

#include <stdbool.h>

#include "base/cancel.h"
#include "base/slice.h"

struct vcm_regex;
struct vcm_regex_matcher;

struct vcm_regex_options {
    bool ignore_case;
    bool word;    /* only where no letter, digit or underscore stands before or behind */
    bool literal; /* the pattern is the text itself */
};

/* INVALID_ARGUMENT with the column of the fault. The pattern is copied. */
int vcm_regex_open(struct vcm_regex **out, const char *pattern,
                   const struct vcm_regex_options *options, struct vcm_error *err);
void vcm_regex_close(struct vcm_regex *regex);

/* The text that every match contains, as it stands in any text that matches; "" for none. */
struct vcm_slice vcm_regex_literal(const struct vcm_regex *regex);

/* From `deadline_ms` of vcm_clock_ms() on the matcher fails; 0 for no end. `cancel` may be NULL. */
int vcm_regex_matcher_open(struct vcm_regex_matcher **out, const struct vcm_regex *regex,
                           uint64_t deadline_ms, const struct vcm_cancel *cancel,
                           struct vcm_error *err);
void vcm_regex_matcher_close(struct vcm_regex_matcher *matcher);

/* Begins a text, which is valid UTF-8 and stays until the last search in it. */
void vcm_regex_matcher_begin(struct vcm_regex_matcher *matcher, struct vcm_slice text);

struct vcm_regex_line {
    size_t start, end;             /* of the line, without its end */
    size_t match_start, match_end; /* of the first match in it */
};

/* The first line with a match that begins at or behind `from`, where a line begins. NOT_FOUND, with
 * err untouched, when there is none. TIMEOUT names the pattern; INTERRUPTED. */
int vcm_regex_matcher_next(struct vcm_regex_line *out, struct vcm_regex_matcher *matcher,
                           size_t from, struct vcm_error *err);

#endif
