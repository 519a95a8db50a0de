/*
 * extractor.h - reads the symbols of a file's text. With grammars/ the owner of tree-sitter.
 *
 * The captures of a language's query (languages/<name>.scm) say what is a definition, a reference,
 * an import. Trees are walked without recursion. Size, steps and the number of symbols are bounded
 * (limits.h); the rest is omitted and the state says so. Equal bytes give equal symbols. Queries
 * are compiled when first needed and then shared: any number of threads may extract.
 */
#ifndef VCM_SYMBOLS_EXTRACTOR_H
#define VCM_SYMBOLS_EXTRACTOR_H

#include "symbols/languages/language.h"
#include "symbols/symbols.h"

struct vcm_extractor;

int vcm_extractor_open(struct vcm_extractor **out, struct vcm_error *err);
/* From now on extracting stops when asked to. The flag may be NULL, and outlives the extractor. Not
 * while a thread extracts. */
void vcm_extractor_set_cancel(struct vcm_extractor *extractor, const struct vcm_cancel *cancel);
void vcm_extractor_close(struct vcm_extractor *extractor);

/* Fills symbols that are initialised. INTERNAL without memory, or when a query does not fit its
 * grammar, which is a fault of the build; INTERRUPTED. */
int vcm_extractor_run(struct vcm_symbols *out, struct vcm_extractor *extractor,
                      enum vcm_language language, struct vcm_slice text, struct vcm_error *err);

/* The steps of the file that was read last, as grammars/core.c counts them. For tests. */
uint64_t vcm_extractor_steps_last(struct vcm_extractor *extractor);

#endif
