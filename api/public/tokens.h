/*
 * <vcm/tokens.h> - counting tokens.
 */
#ifndef VCM_PUBLIC_TOKENS_H
#define VCM_PUBLIC_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include "api/public/handle.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vcm_tokens_file {
    const char *path; /* "-" for standard input */
    const char *encoding;
    uint64_t bytes;
    uint64_t tokens;
    const struct vcm_error *error; /* NULL unless the file could not be read */
};

struct vcm_tokens_query {
    const char *const *paths; /* none: standard input */
    size_t count;
    const char *encoding; /* NULL: the configured one */
};

typedef int (*vcm_tokens_fn)(void *context, const struct vcm_tokens_file *file,
                             struct vcm_error *err);
/* Counts the tokens of files of any size, on all cores. Visits files in the order given; they live
 * until the callback returns. */
int vcm_tokens(struct vcm *vcm, const struct vcm_tokens_query *query, vcm_tokens_fn visit,
               void *context, struct vcm_error *err);

/* Counts the tokens of a text. `encoding` may be NULL for o200k_base. With a `limit` above 0 the
 * count stops there: a result above the limit means no more than that. INVALID_ARGUMENT for an
 * unknown encoding. */
int vcm_tokens_count(uint64_t *tokens, const char *encoding, const char *text, size_t len,
                     uint64_t limit, struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
