/*
 * weave_text.h - text that symbols keep, and what the text of something found says where the tree
 * does not tell. Private to weave.c and its parts.
 */
#ifndef VCM_SYMBOLS_WEAVE_TEXT_H
#define VCM_SYMBOLS_WEAVE_TEXT_H

#include "symbols/weave.h"

/* The text of the file from `start` up to `end`. */
static inline struct vcm_slice vcm_weave_text_at(const struct vcm_weave *weave, uint32_t start,
                                                 uint32_t end)
{
    return vcm_slice_of(weave->text.data + start, end - start);
}

/* A copy that lives as long as the symbols do; of a line, which is cleared. Empty, and said in the
 * weave, without memory. */
struct vcm_slice vcm_weave_text_keep(struct vcm_weave *weave, struct vcm_slice text);
struct vcm_slice vcm_weave_text_keep_line(struct vcm_weave *weave, struct vcm_buf *line);

/* "const" of "const a = 1, b = 2", for both; empty without a statement around. */
struct vcm_slice vcm_weave_text_opening_word(const struct vcm_weave *weave,
                                             const struct vcm_find *found);

/* Where the head of a definition ends: before its body. */
uint32_t vcm_weave_text_head_end(const struct vcm_weave *weave, const struct vcm_find *found);

/* Whether a use without a qualifier is the name of nothing: "<div>" is a tag of the document, and
 * "self" of Lua is the object. */
bool vcm_weave_text_is_no_name(const struct vcm_weave *weave, const struct vcm_find *use);

#endif
