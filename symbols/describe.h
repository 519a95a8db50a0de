/*
 * describe.h - the signature and the comment of a definition, from the text around it. Works on
 * bytes and lines, language by language; knows no syntax tree. Private to this folder.
 */
#ifndef VCM_SYMBOLS_DESCRIBE_H
#define VCM_SYMBOLS_DESCRIBE_H

#include "symbols/languages/language.h"

/* Where a definition is in its file. */
struct vcm_describe_place {
    struct vcm_slice text; /* of the file */
    size_t start, end;
    size_t body; /* where the body begins; `end` without one */
    size_t name; /* where the name ends, or 0 when that is not known */
};

/* Appends one line: white space collapsed, without comments and the brackets of the body, cut at
 * VCM_LIMIT_SIGNATURE_BYTES between characters; valid UTF-8. */
void vcm_describe_signature(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                            const struct vcm_describe_place *place);

/* Appends the first sentence of the comment that ends right above the definition, or of the
 * docstring with which its body begins. */
void vcm_describe_comment(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                          const struct vcm_describe_place *place);

/* Appends the first sentence of a comment behind the definition, which some languages have for
 * fields and labels. */
void vcm_describe_remark(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                         const struct vcm_describe_place *place);

#endif
