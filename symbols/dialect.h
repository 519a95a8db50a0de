/*
 * dialect.h - what single languages write in a way of their own: heads before a definition,
 * containers with arguments, constructors by their name, words that are no names, "use" of Rust.
 * Private to weave.c.
 */
#ifndef VCM_SYMBOLS_DIALECT_H
#define VCM_SYMBOLS_DIALECT_H

#include "symbols/weave.h"

/* What languages do each in their own way, as far as it is a matter of yes or no. */
enum vcm_dialect_habit {
    VCM_HABIT_TAGS = 1 << 0,        /* types have tags, and macros know no containers */
    VCM_HABIT_HIDES = 1 << 1,       /* what a class holds is private until it says otherwise */
    VCM_HABIT_BASES = 1 << 2,       /* constructors initialise bases as they do members */
    VCM_HABIT_CLAUSES = 1 << 3,     /* a function is written as several, one behind the other */
    VCM_HABIT_RECORDS = 1 << 4,     /* components in a type's head are part of what it shows */
    VCM_HABIT_PROMOTES = 1 << 5,    /* a constructor's parameter may be a member of the type */
    VCM_HABIT_MIXES_IN = 1 << 6,    /* modules have methods, and blocks no names of their own */
    VCM_HABIT_SCHEMAS = 1 << 7,     /* what stands before a function is no type */
    VCM_HABIT_SIGNATURES = 1 << 8,  /* a signature before a module says what all may see */
    VCM_HABIT_PARTS = 1 << 9,       /* parts of types are exported one by one */
    VCM_HABIT_NAMELESS = 1 << 10,   /* methods at the top are those of what has no name */
    VCM_HABIT_ASSIGNS = 1 << 11,    /* members and variables are defined by the first assignment */
    VCM_HABIT_SETS = 1 << 12,       /* so are variables at the top */
    VCM_HABIT_CALLS_TYPES = 1 << 13 /* functions by the name of a type make one */
};

bool vcm_dialect_has(enum vcm_language language, enum vcm_dialect_habit habit);

/* Definitions begin where their heads do; a head of none becomes a region, for the names that it
 * makes. Blocks are in the order of the file. */
void vcm_dialect_join_heads(struct vcm_finds *blocks);

/* Appends a container as other languages write it: "a.B" of "a::B<T>" in C++. */
void vcm_dialect_put_container(struct vcm_buf *out, enum vcm_language language,
                               struct vcm_slice container);

/* Whether a function is a constructor because it has the name of its type, whose name, or path, is
 * `type`. */
bool vcm_dialect_is_constructor(enum vcm_language language, const struct vcm_find *found,
                                struct vcm_slice name, struct vcm_slice type);

/* Whether what looks like a name that is used is none. */
bool vcm_dialect_is_keyword(enum vcm_language language, struct vcm_slice name,
                            enum vcm_symbol_use use);

/* Whether the language has such a local name without a declaration; `in_field` in what reads and
 * writes one. */
bool vcm_dialect_is_implied(enum vcm_language language, struct vcm_slice name, bool in_field);

/* The "use" of Rust at [start, end), or the braces of a group in its group: appends the module, and
 * the names that are taken out of it or the one that it gets. True when the names are in the
 * module. */
bool vcm_dialect_read_use(struct vcm_buf *target, struct vcm_buf *names, struct vcm_slice text,
                          size_t start, size_t end);

#endif
