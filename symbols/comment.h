/*
 * comment.h - where the comment above a definition begins, from lines alone.
 */
#ifndef VCM_SYMBOLS_COMMENT_H
#define VCM_SYMBOLS_COMMENT_H

#include "symbols/languages/language.h"

/* More lines than this above a definition are not its comment. */
#define VCM_COMMENT_LINES_MAX 200u

/* The first line of the comment that ends directly above `line`, with the annotations between them
 * ("@Override", "#[test]"); `line` itself when there is none. Lines count from 1. */
uint32_t vcm_comment_begin(enum vcm_language language, struct vcm_slice text, uint32_t line);

#endif
