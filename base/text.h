/*
 * text.h - numbers with units, suggestions for misspelt words, and words of a signature.
 */
#ifndef VCM_BASE_TEXT_H
#define VCM_BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Decimal digits only, no sign, no space; false on overflow too. */
bool vcm_text_parse_uint(uint64_t *out, const char *text);

/* Digits, alone or followed by KiB, MiB or GiB. */
bool vcm_text_parse_size(uint64_t *bytes, const char *text);

/* Digits followed by ms, s, m or h. */
bool vcm_text_parse_duration(uint64_t *ms, const char *text);

/* The one of `words` that `word` is most likely a misspelling of, ignoring case and dashes, or NULL
 * when none is near. */
const char *vcm_text_nearest(struct vcm_slice word, const char *const *words, size_t count);

/* Whether the signature of the symbol `name` tells its kind: `kind` is one of its words up to the
 * name, as in "export class Cart", or it is a line of the C preprocessor. */
bool vcm_text_tells_kind(struct vcm_slice signature, const char *kind, struct vcm_slice name);

#endif
