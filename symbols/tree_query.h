/*
 * tree_query.h - a language's query, compiled, and what its captures say. Private to extract.c.
 *
 * Captures that have no role make a query unfit, as do predicates other than these two, which hold
 * for the text of a capture:
 *   (#any-of? @verb "require" "load")    (#not-any-of? @name "_")
 * Belongs to nobody's thread once it is compiled.
 */
#ifndef VCM_SYMBOLS_TREE_QUERY_H
#define VCM_SYMBOLS_TREE_QUERY_H

#include <tree_sitter/api.h>

#include "symbols/symbol.h"

/* What a capture of a query says. */
enum vcm_tree_query_role {
    VCM_ROLE_NONE,
    VCM_ROLE_NAME,      /* of the definition, reference or scope of the same match */
    VCM_ROLE_DEFINE,    /* def.<kind> */
    VCM_ROLE_REFER,     /* ref.<use> */
    VCM_ROLE_SCOPE,     /* holds definitions and is none itself: an impl block */
    VCM_ROLE_CONTAINER, /* names the container where nesting does not tell it */
    VCM_ROLE_IMPORT,
    VCM_ROLE_VERB,   /* for a predicate: what the match hangs on and is not part of */
    VCM_ROLE_ACCESS, /* a word that changes the visibility of what follows in its container */
    VCM_ROLE_BODY,   /* where a definition's body begins, when no field of the grammar tells */
    VCM_ROLE_IGNORE, /* looks like a use and is none */
    VCM_ROLE_LOCAL,  /* a name that hides others of the same name in the function around it */
};

struct vcm_tree_query_capture {
    enum vcm_tree_query_role role;
    unsigned detail; /* kind, or use */
};

struct vcm_tree_query {
    TSQuery *query;
    struct vcm_tree_query_capture *captures;
};

/* Fills a struct that is zero. INTERNAL without memory, or when it does not fit its grammar. */
int vcm_tree_query_compile(struct vcm_tree_query *out, enum vcm_language language,
                           struct vcm_error *err);
void vcm_tree_query_release(struct vcm_tree_query *query);

/* Whether the text has the words that the match's pattern asks for. */
bool vcm_tree_query_fits(const struct vcm_tree_query *query, const TSQueryMatch *match,
                         struct vcm_slice text);

#endif
