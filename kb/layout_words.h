/*
 * layout_words.h - the words of a line, for layout.c. Private to layout.c.
 */
#ifndef VCM_KB_LAYOUT_WORDS_H
#define VCM_KB_LAYOUT_WORDS_H

#include "kb/layout.h"

/* The words of a text, as hashes, to tell a divided word from a compound. */
struct vcm_layout_words {
    uint64_t *slots;
    size_t mask;
};

int vcm_layout_words_open(struct vcm_layout_words *words, struct vcm_slice text,
                          struct vcm_error *err);
void vcm_layout_words_close(struct vcm_layout_words *words);

/* Appends a line without ligatures, control characters and spaces around it. */
void vcm_layout_words_clean(struct vcm_buf *out, struct vcm_slice text);

bool vcm_layout_words_has_letter(struct vcm_slice text);

/* Dots that lead to a page number. */
bool vcm_layout_words_has_leaders(struct vcm_slice text);

/* 2 for "3.1 Title", 1 for "4 Title" and "A. Title"; 0 without a number. */
uint32_t vcm_layout_words_number_depth(struct vcm_slice text);

/* "Abstract", "References" and their like. */
bool vcm_layout_words_is_usual_heading(struct vcm_slice text);

bool vcm_layout_words_ends_sentence(struct vcm_slice text);
bool vcm_layout_words_begins_lower(struct vcm_slice text);

/* When `text` ends with the first part of a divided word and `next` begins with the second, removes
 * the hyphen unless it belongs to the word, and returns the length of the second; else 0. */
size_t vcm_layout_words_mend(struct vcm_buf *text, const struct vcm_layout_words *words,
                             struct vcm_slice next);

/* Marks the lines at the edges of pages that repeat, but for their numbers, on others. */
int vcm_layout_words_mark_running(struct vcm_layout *layout, struct vcm_error *err);

#endif
