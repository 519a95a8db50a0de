/*
 * tree_query.h - what to look for in the syntax trees of a language: languages/<name>.scm,
 * compiled.
 *
 * The captures of a query have roles; patterns may ask that a captured text is one of some words.
 * A compiled query is not changed: any number of threads may use it. Private to extractor.c and
 * weave.c.
 */
#ifndef VCM_SYMBOLS_TREE_QUERY_H
#define VCM_SYMBOLS_TREE_QUERY_H

#include "symbols/languages/language.h"
#include "symbols/parse_memory.h"
#include "symbols/patterns.h"
#include "symbols/receiver.h"
#include "symbols/symbol.h"

/* What a capture of a query says. */
enum vcm_tree_query_role {
    VCM_ROLE_NONE,
    VCM_ROLE_NAME,      /* of the definition, reference or scope of the same match */
    VCM_ROLE_DEFINE,    /* def.<kind> */
    VCM_ROLE_REFER,     /* ref.<use> */
    VCM_ROLE_SCOPE,     /* holds definitions and is none itself: an impl block */
    VCM_ROLE_PROMISE,   /* such a scope, whose definitions all may see: they were promised */
    VCM_ROLE_HEAD,      /* begins before the definition in it and is part of it: a template */
    VCM_ROLE_TAIL,      /* what a definition goes on with behind its node */
    VCM_ROLE_CONTAINER, /* names the container where nesting does not tell it */
    VCM_ROLE_IMPORT,
    VCM_ROLE_VERB,      /* or "word", for a predicate: what the match hangs on and is not part of */
    VCM_ROLE_ACCESS,    /* a word that changes the visibility of what follows in its container */
    VCM_ROLE_BODY,      /* where a definition's body begins, when no field of the grammar tells */
    VCM_ROLE_STATEMENT, /* what a definition is in: its first word begins the signature */
    VCM_ROLE_IGNORE,    /* looks like a use and is none */
    VCM_ROLE_LOCAL,     /* a name that hides others of the same name in the block around it */
    VCM_ROLE_OUTER,     /* a name that is none of the block's around it, which assigns to it */
    VCM_ROLE_REGION,    /* a block that has local names and is no container */
    VCM_ROLE_HIDE,      /* "private": a name whose definition, before or around it, is that */
    VCM_ROLE_EXPORT,    /* a name that the file gives to others */
    VCM_ROLE_EXPORT_ALL,  /* a type with all that it holds */
    VCM_ROLE_EXPORT_PART, /* something that a type holds */
    VCM_ROLE_CLOSED,      /* says that the file keeps the names that it does not export */
    VCM_ROLE_IMPORTED,    /* a name that looks like a definition, and that an import makes */
    VCM_ROLE_GIVE,        /* a name for others, of what the container has by its own name here */
};

/* What is said of a name, a local name, or what is no use, behind a dot: "local.lower". */
enum vcm_tree_query_manner {
    VCM_MANNER_PLAIN,
    VCM_MANNER_TYPE,    /* of a type: type parameters, which are such local names, hide it */
    VCM_MANNER_FIELD,   /* of a field, though no object stands before it */
    VCM_MANNER_MEMBER,  /* of a field, a type, a module: no local name hides it */
    VCM_MANNER_LOWER,   /* in a pattern, where it is a constant when it begins with a capital */
    VCM_MANNER_ALL,     /* the node is none: all names in it are meant */
    VCM_MANNER_DEFAULT, /* what is given has no name for others */
    VCM_MANNER_WHOLE,   /* what is given stands for the module */
};

struct vcm_tree_query_capture {
    enum vcm_tree_query_role role;
    unsigned detail; /* kind, or use, or visibility, or manner */
};

struct vcm_tree_query {
    struct vcm_patterns *patterns; /* NULL until it is compiled */
    struct vcm_tree_query_capture *captures;
    struct vcm_parse_memory *memory; /* where `rest` lies */
    TSQuery *rest;                   /* what is not simple, or NULL */
    struct vcm_tree_query_capture *rest_captures;
    struct vcm_receiver_table *receivers;
};

/* Fills a zeroed query. INTERNAL without memory, or when the text does not fit its grammar. */
int vcm_tree_query_compile(struct vcm_tree_query *out,
                           const struct vcm_language_descriptor *language, struct vcm_error *err);
void vcm_tree_query_release(struct vcm_tree_query *query);

/* Whether the text has the words that a pattern of the rest asks for: (#any-of? @verb "require"
 * "load"). */
bool vcm_tree_query_words_fit(const struct vcm_tree_query *query, const TSQueryMatch *match,
                              struct vcm_slice text);

#endif
