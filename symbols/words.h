/*
 * words.h - the words that names and paths are made of.
 *
 * "readHTTPRequests", "read_http_request" and "http/reading.c" share words: case, English endings,
 * and marks between words do not count. A word is identified by a number; equal words have equal
 * numbers everywhere. Private to this folder.
 */
#ifndef VCM_SYMBOLS_WORDS_H
#define VCM_SYMBOLS_WORDS_H

#include <stdint.h>

#include "base/buf.h"

/* Further words of one text are ignored. */
#define VCM_WORDS_MAX 32u

/* Fills in the numbers of the words, in their order, and returns how many. Words of one letter are
 * skipped. */
size_t vcm_words_of(uint64_t out[VCM_WORDS_MAX], struct vcm_slice text);

#endif
