/*
 * dialect.h - rules that depend on several properties of a language: heads before a definition,
 * containers with arguments, constructors by their name, words that are no names. Private to
 * weave.c and its parts.
 */
#ifndef VCM_SYMBOLS_DIALECT_H
#define VCM_SYMBOLS_DIALECT_H

#include "symbols/weave.h"

/* Moves the beginning of a definition to that of its head ("template <class T>"); a head without a
 * definition becomes a region, for the local names that it declares. Blocks are in the order of the
 * file, before and after. */
void vcm_dialect_join_heads(struct vcm_finds *blocks);

/* Appends a container as other languages write it: "a.B" of "a::B<T>" in C++. */
void vcm_dialect_put_container(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                               struct vcm_slice container);

/* Whether a function is a constructor because it has the name of its type, whose name, or path, is
 * `type`. */
bool vcm_dialect_is_constructor(const struct vcm_language_descriptor *language,
                                const struct vcm_find *found, struct vcm_slice name,
                                struct vcm_slice type);

/* Whether a word that looks like the use of a name is a keyword. */
bool vcm_dialect_is_keyword(const struct vcm_language_descriptor *language, struct vcm_slice name,
                            enum vcm_symbol_use use);

/* Whether the name is local without a declaration, as "it" is in Kotlin; `in_field`: in the code
 * that reads or writes a field. */
bool vcm_dialect_is_implied(const struct vcm_language_descriptor *language, struct vcm_slice name,
                            bool in_field);

#endif
