/*
 * prose.h - where paragraphs and sentences end.
 *
 * Positions are byte offsets into valid UTF-8. The white space behind a paragraph or a sentence
 * belongs to it, so that the parts put together are the text.
 */
#ifndef VCM_KB_PROSE_H
#define VCM_KB_PROSE_H

#include "base/buf.h"

/* The end of the paragraph that `at` < `end` is in: behind the blank lines that follow it. */
size_t vcm_prose_paragraph_end(const char *text, size_t at, size_t end);

/* The end of the sentence that begins at `at` < `end`; `end` is that of the paragraph. A line that
 * begins an item of a list, a row of a table or indented code begins a sentence too. */
size_t vcm_prose_sentence_end(const char *text, size_t at, size_t end);

/* The end of the last word that ends in `at` < … <= `limit`, white space included, or `at`. `end`
 * is that of the text. */
size_t vcm_prose_word_end_before(const char *text, size_t at, size_t limit, size_t end);

#endif
