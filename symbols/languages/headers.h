/*
 * headers.h - whether a ".h" is one of C or of C++, which its name does not tell: what most sources
 * around it are. Around is the nearest folder that has sources, itself or below; without any, and
 * of as many of each, C++, whose grammar reads C as well. Paths decide, not contents: no file has
 * to be read for it. Private to index.c.
 */
#ifndef VCM_SYMBOLS_LANGUAGES_HEADERS_H
#define VCM_SYMBOLS_LANGUAGES_HEADERS_H

#include "symbols/languages/language.h"

struct vcm_headers_folder;

/* Whether others include it, by its name. */
bool vcm_headers_is_header(struct vcm_slice path);

/* Zeroed to begin with. */
struct vcm_headers {
    struct vcm_headers_folder *folders;
    size_t count, capacity;
    size_t last; /* where those of the last source begin */
    bool no_memory;
};

/* Of every file of a tree, in the order of the tree; what is no source of C or C++ is passed over.
 */
void vcm_headers_note(struct vcm_headers *headers, struct vcm_slice path,
                      enum vcm_language language);

/* Once, when all are noted. False without memory. */
bool vcm_headers_settle(struct vcm_headers *headers);

/* The language of a file that is, by its name, of `language`. */
enum vcm_language vcm_headers_language(const struct vcm_headers *headers, struct vcm_slice path,
                                       enum vcm_language language);

void vcm_headers_release(struct vcm_headers *headers);

#endif
