/*
 * weave.h - puts what was found in a file's tree in order: definitions with their containers,
 * references with the definition that they are in, imports. Private to extract.c.
 */
#ifndef VCM_SYMBOLS_WEAVE_H
#define VCM_SYMBOLS_WEAVE_H

#include "symbols/languages/language.h"
#include "symbols/symbols.h"
#include "symbols/tree_query.h"

/* Something found in the text. */
struct vcm_find {
    uint32_t start, end, body; /* of the definition or scope */
    uint32_t name, name_end;
    uint32_t holder, holder_end; /* container as written, or both 0 */
    uint32_t statement;          /* 1 + the beginning of what the definition is in, or 0 */
    uint32_t line, end_line;
    uint32_t pattern;
    enum vcm_tree_query_role role;
    unsigned detail;
    bool is_type, is_field; /* the name: tree_query.h */
    bool is_member;         /* no local name hides it */
    bool is_promised;       /* of a scope: what it holds */
};

struct vcm_finds {
    struct vcm_find *items;
    size_t count, capacity;
};

/* Zeroed but for what is to be read and where symbols go. */
struct vcm_weave {
    struct vcm_symbols *out;
    const struct vcm_language_descriptor *language;
    struct vcm_slice text;
    struct vcm_finds blocks;   /* definitions, scopes, access words */
    struct vcm_finds uses;     /* references, imports, local names */
    struct vcm_finds exported; /* names that the file gives to others */
    bool is_closed;            /* whether it keeps all other names to itself */
    bool too_many, no_memory;
};

/* Whether both are in one declaration: "int a, b". */
bool vcm_weave_finds_have_same_span(const struct vcm_find *a, const struct vcm_find *b);

/* To the list that its role belongs in. Says in the weave when it could not: too many, no memory.
 */
void vcm_weave_finds_add(struct vcm_weave *weave, const struct vcm_find *found);

/* Fills the symbols of a weave, once. INTERNAL without memory. */
int vcm_weave_run(struct vcm_weave *weave, struct vcm_error *err);
void vcm_weave_release(struct vcm_weave *weave);

#endif
