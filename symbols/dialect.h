/*
 * dialect.h - what single languages write in a way of their own: heads before a definition,
 * containers with arguments, constructors by their name, words that are no names, "use" of Rust.
 * Private to weave.c.
 */
#ifndef VCM_SYMBOLS_DIALECT_H
#define VCM_SYMBOLS_DIALECT_H

#include "symbols/weave.h"

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
