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
void vcm_extractor_close(struct vcm_extractor *extractor);

/* Fills symbols that are initialised. INTERNAL without memory, or when a query does not fit its
 * grammar, which is a fault of the build. */
int vcm_extractor_run(struct vcm_symbols *out, struct vcm_extractor *extractor,
                      enum vcm_language language, struct vcm_slice text, struct vcm_error *err);

#endif
