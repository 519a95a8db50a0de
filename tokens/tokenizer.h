/*
 * tokenizer.h - exact token counts under a published vocabulary.
 *
 * Counts only: it produces no token ids, and special tokens such as "<|endoftext|>" are plain text.
 * Text that is not valid UTF-8 is counted as WHATWG's decoder would give it, with one U+FFFD for
 * each maximal invalid subpart. Counting cannot fail.
 *
 * The vocabularies are constant data inside the program, shared between processes; opening one
 * reads nothing. A handle never changes: any number of threads may count with it at one time. Each
 * thread that counts keeps a cache of 2.2 MiB until it ends; there are no locks.
 *
 * Adding text can lower a count ("\n\n\n" may be fewer tokens than "\n\n"), so a caller that stops
 * early must compare with vcm_tokenizer_counter_floor(), never with a count.
 */
#ifndef VCM_TOKENS_TOKENIZER_H
#define VCM_TOKENS_TOKENIZER_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define VCM_TOKENIZER_DEFAULT "o200k_base"

struct vcm_tokenizer;

/* The known names, ended by NULL: o200k_base, cl100k_base, approx4 (bytes / 4, rounded up). */
const char *const *vcm_tokenizer_names(void);

/* VCM_INVALID_ARGUMENT, naming the known ones, when `name` is none of them. */
int vcm_tokenizer_open(struct vcm_tokenizer **out, const char *name, struct vcm_error *err);
void vcm_tokenizer_close(struct vcm_tokenizer *tokenizer);

const char *vcm_tokenizer_name(const struct vcm_tokenizer *tokenizer);

size_t vcm_tokenizer_count(const struct vcm_tokenizer *tokenizer, struct vcm_slice text);

/* The exact count when that is at most `limit`, otherwise some number above it; stops early. */
size_t vcm_tokenizer_count_limited(const struct vcm_tokenizer *tokenizer, struct vcm_slice text,
                                   size_t limit);

/* The length in bytes of the longest prefix of at most `limit` tokens that is all of `text` or ends
 * behind a "\n"; when there is none, of the longest that ends between two characters and not inside
 * a CRLF; 0 when the first character alone is too much. `*tokens` is its exact count. */
size_t vcm_tokenizer_fit(const struct vcm_tokenizer *tokenizer, struct vcm_slice text, size_t limit,
                         size_t *tokens);

/*
 * Counts a text that comes in pieces, cut anywhere, even inside a character. A plain value:
 * allocated by the caller, copied by assignment (to return to an earlier point), nothing to
 * release. It must not outlive its tokenizer. Its size does not depend on the length of the text.
 */
#define VCM_TOKENIZER_COUNTER_BYTES 8704

struct vcm_tokenizer_counter {
    _Alignas(16) unsigned char state[VCM_TOKENIZER_COUNTER_BYTES];
};

void vcm_tokenizer_counter_init(struct vcm_tokenizer_counter *counter,
                                const struct vcm_tokenizer *tokenizer);

void vcm_tokenizer_counter_feed(struct vcm_tokenizer_counter *counter, struct vcm_slice piece);

/* The exact count of everything fed, followed by `tail`. Changes nothing: more may be fed. The cost
 * is that of the tail and the last unfinished word. */
size_t vcm_tokenizer_counter_total(const struct vcm_tokenizer_counter *counter,
                                   struct vcm_slice tail);

/* The exact count of everything fed. */
static inline size_t vcm_tokenizer_counter_finish(const struct vcm_tokenizer_counter *counter)
{
    return vcm_tokenizer_counter_total(counter, vcm_slice_of("", 0));
}

/* A lower bound: no continuation of what was fed has fewer tokens. Never decreases. */
size_t vcm_tokenizer_counter_floor(const struct vcm_tokenizer_counter *counter);

#define VCM_TOKENIZER_MARK_BYTES_MAX 0xffffffffu

/* A place in a text that is measured. */
struct vcm_tokenizer_mark {
    uint32_t end;    /* in: an offset above 0; of several marks, the ends ascend */
    uint32_t at;     /* out: where the last word begins that begins before `end` */
    uint32_t tokens; /* out: of the text before `at` */
    uint32_t late;   /* in: 0; used inside */
};

/*
 * Measures a text that grows at its end: how many tokens are before the marks in it. "Word" is what
 * the encoding's pattern splits a text into; merges never cross a word's ends, so that counts of
 * whole words add up, and two texts that have a word's beginning and all that follows in common
 * have the same tokens from there on. The exact encodings only.
 */
struct vcm_tokenizer_measure {
    size_t at;     /* all before this is measured: a word begins here */
    size_t tokens; /* of it */
};

/* Continues with `text`, valid UTF-8 of at most VCM_TOKENIZER_MARK_BYTES_MAX bytes, which begins
 * with the text of the call before; `final` when nothing will follow. Fills in marks, none of which
 * ends behind the text, and returns how many are final: all of them when the text is. */
size_t vcm_tokenizer_measure_more(struct vcm_tokenizer_measure *measure,
                                  const struct vcm_tokenizer *tokenizer, struct vcm_slice text,
                                  bool final, struct vcm_tokenizer_mark *marks, size_t count);

/* Whether counts are those of a vocabulary, not bytes / 4. */
bool vcm_tokenizer_measure_is_exact(const struct vcm_tokenizer *tokenizer);

#endif
