/*
 * pieces.h - the hot loop: splits text into pieces and adds up their tokens.
 *
 * Also the home of struct vcm_tokenizer, which says by which pattern and vocabulary. Internal to
 * tokens/.
 */
#ifndef VCM_TOKENS_PIECES_H
#define VCM_TOKENS_PIECES_H

#include <stdbool.h>
#include <stddef.h>

#include "tokens/bpe.h"
#include "tokens/scan.h"

struct vcm_tokenizer {
    const char *name;
    bool exact; /* else approx4, and the rest means nothing */
    enum scan_pattern pattern;
    struct bpe bpe;
};

/*
 * Counts the pieces of [*at, end), valid UTF-8, and moves *at behind the last one counted: to `end`
 * when `final`, else to the piece that more text could change. Stops when the count is above
 * `limit`.
 */
size_t vcm_pieces_count(const struct vcm_tokenizer *tokenizer, const unsigned char **at,
                        const unsigned char *end, bool final, size_t limit);

#endif
