/*
 * split.h - cuts a text whose record would exceed a page's budget into parts that do not.
 *
 * Cuts are chosen by content, so that an edit moves only those next to it: lines are grouped by
 * cluster.h, and the better a gap is as a place to cut, the stronger it is. Best is a blank line or
 * a closing bracket at column 0 before a line that begins at column 0, then any line end, then a
 * place inside a line; among equals a hash of the line after the gap decides. Tried and dropped: a
 * class of its own for any line end before a line at column 0; one such line among indented ones
 * moved three cuts. Long lines are divided into pieces of 64 to 512 bytes, whose ends are chosen by
 * content, too. Cuts depend on the text, the tokenizer and the budget alone. A path that takes more
 * than VCM_SPLIT_PATH_TOKENS moves no cut, but adds some inside of parts that would exceed the
 * budget with it.
 * The parts in order are the text, byte for byte; no cut falls inside a UTF-8 sequence or a CRLF.
 * The text is escaped and its tokens are counted once, whatever the number of parts.
 */
#ifndef VCM_VCM_PAGE_SPLIT_H
#define VCM_VCM_PAGE_SPLIT_H

#include <stdint.h>

#include "base/buf.h"
#include "tokens/tokenizer.h"
#include "vcm/page/heading.h"
#include "vcm/page/page.h"

/* The tokens of a part that are reserved for the path and the braces, so that the same content is
 * cut in the same places whatever its path is. */
#define VCM_SPLIT_PATH_TOKENS(budget)                                                              \
    ((budget) / 4 < (budget) / 64 + 32 ? (budget) / 4 : (budget) / 64 + 32)

/* One part: `value` is serialised and valid during the call, like the heading; `record` has every
 * field but content_id, parts and the lossy flags. */
typedef int (*vcm_split_part_fn)(void *context, struct vcm_slice value,
                                 const struct vcm_page_record *record, struct vcm_error *err);

/* Working memory, kept from one text to the next. One thread at a time. */
struct vcm_split;

struct vcm_split_options {
    const struct vcm_tokenizer *tokenizer; /* outlives the splitter */
    uint32_t token_budget;
    const struct vcm_heading_functions *headings; /* NULL: parts have none */
};

int vcm_split_open(struct vcm_split **out, const struct vcm_split_options *options,
                   struct vcm_error *err);
void vcm_split_close(struct vcm_split *split);

/*
 * Calls `emit` for each part in order, at least once. VCM_UNSUPPORTED when
 * the path and one character of the text alone exceed the budget; parts emitted before are void.
 */
int vcm_split_text(struct vcm_split *split, struct vcm_slice path, struct vcm_slice text,
                   vcm_split_part_fn emit, void *context, struct vcm_error *err);

#endif
