/*
 * head.h - what the line with which a block of lines begins says: whether it is the head of a
 * definition, and the text that names it. Private to enclosing.c.
 *
 * Judged by words and brackets, without a grammar. Reads a bounded number of bytes.
 */
#ifndef VCM_SYMBOLS_HEAD_H
#define VCM_SYMBOLS_HEAD_H

#include "symbols/languages/language.h"

enum vcm_head_kind {
    VCM_HEAD_NONE,      /* a statement, a branch, the end of a block */
    VCM_HEAD_CONTAINER, /* of a type, a namespace, a module: what is in it may be a definition */
    VCM_HEAD_FUNCTION,  /* by a keyword, or a value that is a function */
    VCM_HEAD_SHAPE,     /* "int f(int x) {": of a function, unless it is in one */
    VCM_HEAD_VALUE,     /* "table = [": of a variable, unless it is in a function */
};

struct vcm_head {
    enum vcm_head_kind kind;
    struct vcm_slice text; /* as written, without the body; several lines at times */
};

/* `text` goes from the first character of the line that is no blank to the end of the file. */
void vcm_head_read(struct vcm_head *out, struct vcm_slice text,
                   const struct vcm_language_descriptor *language);

#endif
