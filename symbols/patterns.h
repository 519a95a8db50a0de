/*
 * patterns.h - finds the matches of a query's simple patterns in one walk over a syntax tree.
 *
 * tree-sitter's own cursor follows every pattern that has begun, at every node. Most of ours ask
 * for a node of some kind in certain fields of nodes of certain kinds above it: they are looked up
 * by the kind of the node and compared with what is above. Those patterns are switched off in the
 * query, which still finds the rest: anchors but that of a first child, several children without
 * fields, repetitions.
 * The finds are the same, in another order. Trees are walked without recursion.
 * Any number of threads may search. Private to extractor.c and tree_query.c.
 */
#ifndef VCM_SYMBOLS_PATTERNS_H
#define VCM_SYMBOLS_PATTERNS_H

#include <tree_sitter/api.h>

#include "base/buf.h"
#include "base/error.h"

struct vcm_patterns;

/* `nested` as in struct vcm_language_tree. Reads the text of a query, and appends to `rest` the
 * patterns that are not simple, and those that do not fit the grammar, so that tree-sitter reports
 * them. INTERNAL without memory. */
int vcm_patterns_open(struct vcm_patterns **out, const TSLanguage *language,
                      const char *const *nested, struct vcm_slice text, struct vcm_buf *rest,
                      struct vcm_error *err);
void vcm_patterns_close(struct vcm_patterns *patterns);

/* The name of a capture by the number that matches have; "" beyond the last. */
struct vcm_slice vcm_patterns_capture(const struct vcm_patterns *patterns, uint32_t id);

/* Whether the text has the words that the pattern of a match requires: (#any-of? @verb "require").
 * A search does not check them. */
bool vcm_patterns_words_fit(const struct vcm_patterns *patterns, const TSQueryMatch *match,
                            struct vcm_slice text);

/* How many patterns are in the rest, and the place in the whole text of each. */
uint32_t vcm_patterns_left(const struct vcm_patterns *patterns);
uint32_t vcm_patterns_place(const struct vcm_patterns *patterns, uint32_t left);

/* The nodes from the root to the one that a match is about. */
struct vcm_patterns_path;

/* The node so many levels above the one that the match is about; without an id beyond the root. */
TSNode vcm_patterns_above(const struct vcm_patterns_path *path, unsigned levels);

/* A match is valid during the call, and so is the path. False ends the search. */
typedef bool (*vcm_patterns_fn)(void *context, const TSQueryMatch *match,
                                const struct vcm_patterns_path *path);

/* In work of parse_memory.h. False when it ended because `steps_max` nodes were visited in addition
 * to the walk, which does not happen with files that people write. */
bool vcm_patterns_search(const struct vcm_patterns *patterns, TSNode root, uint64_t steps_max,
                         vcm_patterns_fn visit, void *context);

#endif
