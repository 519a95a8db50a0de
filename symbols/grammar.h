/*
 * grammar.h - the grammars and queries that are built in. Private to extract.c and grammar.c.
 */
#ifndef VCM_SYMBOLS_GRAMMAR_H
#define VCM_SYMBOLS_GRAMMAR_H

#include <tree_sitter/api.h>

#include "symbols/language.h"

/* NULL for a language that has none. */
const TSLanguage *vcm_grammar_of(enum vcm_language language);

#define VCM_GRAMMAR_TEXTS 3u /* of a query */

/* The texts of a language's query, one behind the other; all but the first may be empty. */
void vcm_grammar_query(struct vcm_slice texts[VCM_GRAMMAR_TEXTS], enum vcm_language language);

#endif
