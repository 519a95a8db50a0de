/*
 * patterns_form.h - the patterns of a query, ready to be looked up. Made by patterns_read.c,
 * searched by patterns.c; private to these.
 */
#ifndef VCM_SYMBOLS_PATTERNS_FORM_H
#define VCM_SYMBOLS_PATTERNS_FORM_H

#include "base/arena.h"
#include "symbols/patterns.h"

#define VCM_PATTERNS_ANY          UINT16_MAX /* "(_)": a node of any kind that has a name */
#define VCM_PATTERNS_NAMES_MAX    64u        /* of captures */
#define VCM_PATTERNS_CAPTURES_MAX 4u         /* of one node */
#define VCM_PATTERNS_CHAIN_MAX    12u
#define VCM_PATTERNS_WORDS_MAX    16u /* that a predicate has */

/* A node of a pattern. Any one of its alternatives may match. */
struct vcm_patterns_form {
    bool alternatives; /* `children` are these */
    TSSymbol symbol;
    TSFieldId field; /* 0: any */
    bool first;      /* the first of the named children */
    uint32_t captures[VCM_PATTERNS_CAPTURES_MAX];
    unsigned capture_count;
    bool holds_name; /* in it or below: the node that a match is about */
    TSFieldId without[VCM_PATTERNS_CAPTURES_MAX];
    unsigned without_count;
    struct vcm_patterns_form *children, *next;
};

/* A pattern from the node that it is about up to its root. */
struct vcm_patterns_chain {
    uint32_t pattern;
    unsigned count;
    const struct vcm_patterns_form *forms[VCM_PATTERNS_CHAIN_MAX];
    TSFieldId
        fields[VCM_PATTERNS_CHAIN_MAX];  /* an alternative is in the field that the choice is in */
    bool firsts[VCM_PATTERNS_CHAIN_MAX]; /* and is first where the choice is */
    struct vcm_patterns_chain *next;     /* of the same kind */
};

/* That the text of a capture is one of some words, or none of them. */
struct vcm_patterns_asked {
    uint32_t capture;
    bool negated;
    size_t count;
    struct vcm_slice words[VCM_PATTERNS_WORDS_MAX];
    struct vcm_patterns_asked *next;
};

struct vcm_patterns {
    struct vcm_arena arena;
    const TSLanguage *language;
    struct vcm_slice captures[VCM_PATTERNS_NAMES_MAX]; /* their names */
    uint32_t capture_count;
    size_t symbol_count;
    struct vcm_patterns_chain **by_symbol; /* of the node that a pattern is about */
    struct vcm_patterns_chain **by_parent; /* where that may be any: of the node above */
    struct vcm_patterns_chain *loose;      /* where that may be any too */
    bool *has_field;                       /* kinds above others whose field is asked for */
    bool *is_nested;                       /* kinds whose children are nested in hidden nodes */
    struct vcm_patterns_asked **asked;     /* for each pattern, by its place in the text */
    size_t asked_capacity;
    uint32_t *left; /* the patterns that are none of ours, by their place in the text */
    uint32_t left_count;
    size_t left_capacity;
};

#endif
