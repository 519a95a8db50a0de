/*
 * listing.h - the ranked listing: the best symbols of a repository as text that fits a token budget
 * exactly. `vcm repo map` shows it. (The map of repositories that users write is repomap/.)
 *
 * One block a file: its path and a colon, then a line for each symbol with kind, signature and line
 * number. Symbols are taken best first; one that does not fit is skipped, and smaller ones may
 * follow. The text names files by rank and symbols by line. Equal input gives equal bytes.
 */
#ifndef VCM_SYMBOLS_LISTING_H
#define VCM_SYMBOLS_LISTING_H

#include "symbols/rank.h"
#include "tokens/tokenizer.h"

struct vcm_listing {
    struct vcm_buf text;
    size_t tokens; /* of the text, exactly */
    size_t files_covered;
    size_t symbols_shown;
    size_t symbols_total;
    size_t files_dropped; /* files with definitions of which nothing is shown */
    /* The best symbol that was left out, "path: kind signature :line", and the budget that would
     * hold it; "" and 0 when all were shown. */
    struct vcm_buf next;
    size_t tokens_next;
};

/* Fills a listing that the caller releases, also after a failure. */
int vcm_listing_make(struct vcm_listing *out, const struct vcm_index *index,
                     const struct vcm_rank *rank, const struct vcm_tokenizer *tokenizer,
                     size_t budget, struct vcm_error *err);
void vcm_listing_release(struct vcm_listing *listing);

#endif
