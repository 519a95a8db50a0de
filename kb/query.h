/*
 * query.h - parses the text of a search into terms. Every string is a query.
 *
 * Words are terms, "words in quotes" are a phrase, and a star after either makes its last word a
 * prefix, if that has VCM_QUERY_PREFIX_MIN bytes: the words with a prefix of one or two letters are
 * half the index. Nothing else has a meaning: operators, brackets and colons are text.
 */
#ifndef VCM_KB_QUERY_H
#define VCM_KB_QUERY_H

#include <stdbool.h>

#include "base/buf.h"

#define VCM_QUERY_BYTES_MAX  ((size_t)4096) /* longer queries are cut */
#define VCM_QUERY_TERMS_MAX  32u            /* further terms are ignored */
#define VCM_QUERY_PREFIX_MIN 3u

struct vcm_query_term {
    struct vcm_slice text; /* without quotes and star; points into the query */
    bool is_prefix;
};

struct vcm_query {
    struct vcm_buf text; /* valid UTF-8 without control characters */
    struct vcm_query_term terms[VCM_QUERY_TERMS_MAX];
    unsigned count;
};

/* Parses a query; release it also after a failure, which means no memory. */
int vcm_query_init(struct vcm_query *query, struct vcm_slice text, struct vcm_error *err);
void vcm_query_release(struct vcm_query *query);

/* Appends a term as an FTS5 string that matches its words and nothing else. */
void vcm_query_quote(struct vcm_buf *out, const struct vcm_query_term *term);

#endif
