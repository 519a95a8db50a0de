/*
 * weave.h - makes the symbols of a file from what was found in its tree: definitions with their
 * containers, references with the definition that they are in, imports. Private to extractor.c.
 *
 * extractor.c adds the finds of one file, in any order, and runs the weave once. The parts are
 * weave_finds.h (the lists), weave_define.h and weave_refer.h (the two walks over them).
 */
#ifndef VCM_SYMBOLS_WEAVE_H
#define VCM_SYMBOLS_WEAVE_H

#include "symbols/languages/language.h"
#include "symbols/symbols.h"
#include "symbols/tree_query.h"

/* What one match of the query found, by places in the text. */
struct vcm_find {
    uint32_t start, end, body; /* of the definition or scope */
    uint32_t name, name_end;
    uint32_t holder, holder_end; /* container as written, or both 0; of a use: its module */
    uint32_t statement;          /* 1 + the beginning of what the definition is in, or 0 */
    uint32_t chain, chain_end;   /* in `chains`: its type, or what is before it (receiver.h) */
    uint32_t line, end_line;
    uint32_t name_line; /* of a definition; 0: as above */
    uint32_t pattern;
    enum vcm_tree_query_role role;
    unsigned detail;
    bool is_type, is_field; /* the name: tree_query.h */
    bool is_member;         /* no local name hides it */
    bool is_promised;       /* of a scope: what it holds is public, as an interface says */
};

struct vcm_finds {
    struct vcm_find *items;
    size_t count, capacity;
};

/* The caller sets the symbols to fill, the language and the text, and zeroes the rest. */
struct vcm_weave {
    struct vcm_symbols *out;
    const struct vcm_language_descriptor *language;
    struct vcm_slice text;
    struct vcm_finds blocks;   /* definitions, scopes, access words */
    struct vcm_finds uses;     /* references, imports, local names */
    struct vcm_finds exported; /* names that the file exports */
    struct vcm_finds passed;   /* names that imports make, and that the file gives to others */
    struct vcm_buf chains;     /* of finds */
    bool is_closed;            /* the file hides all names that it does not export */
    bool too_many, no_memory;
};

/* Fills the symbols of a weave, once. INTERNAL without memory. */
int vcm_weave_run(struct vcm_weave *weave, struct vcm_error *err);
void vcm_weave_release(struct vcm_weave *weave);

#endif
