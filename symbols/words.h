/*
 * words.h - the words that names and paths are made of.
 *
 * "readHTTPRequests", "read_http_request" and "http/reading.c" share words: case, endings that
 * English puts behind words, and marks between them do not count. A word is known by a number;
 * equal words have equal numbers everywhere. Private to this folder.
 */
#ifndef VCM_SYMBOLS_WORDS_H
#define VCM_SYMBOLS_WORDS_H

#include <stdint.h>

#include "base/buf.h"

/* More words of one text are not looked at. */
#define VCM_WORDS_MAX 32u

/* Fills in the numbers of the words, in their order, and returns how many. Words of one letter are
 * none. */
size_t vcm_words_of(uint64_t out[VCM_WORDS_MAX], struct vcm_slice text);

#endif
