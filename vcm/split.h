/*
 * split.h - cuts a text whose record would exceed a page's budget into parts that do not.
 *
 * Cuts are chosen by content, so that an edit moves only those next to it: within the window from
 * half a part to a whole one, the most natural line end wins (a blank line before a line that
 * begins at column 0, then any line before such a one, then any line end, then a place inside a
 * line), and among equals the one that a hash of its neighbourhood prefers.
 * The parts in order are the text, byte for byte; no cut falls inside a UTF-8 sequence or a CRLF.
 */
#ifndef VCM_VCM_SPLIT_H
#define VCM_VCM_SPLIT_H

#include <stdint.h>

#include "base/buf.h"
#include "tokens/tokenizer.h"
#include "vcm/page.h"

/* One part: `value` is serialised and valid during the call; `record` has every field but
 * content_id, parts and the lossy flags. */
typedef int (*vcm_split_part_fn)(void *context, struct vcm_slice value,
                                 const struct vcm_page_record *record, struct vcm_error *err);

struct vcm_split_options {
    const struct vcm_tokenizer *tokenizer;
    uint32_t token_budget;
};

/*
 * Calls `emit` for each part in order, at least once. VCM_UNSUPPORTED when
 * the path and one character of the text alone exceed the budget; parts emitted before are void.
 */
int vcm_split_text(struct vcm_slice path, struct vcm_slice text,
                   const struct vcm_split_options *options, vcm_split_part_fn emit, void *context,
                   struct vcm_error *err);

#endif
