#include "tokens/tokenizer.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "tokens/pieces.h"
#include "tokens/utf8_step.h"

#include "base/banned.h"

/* How much is fed between two checks of a limit, and the step of vcm_tokenizer_fit() inside a line
 * before it tries single characters. */
#define LIMIT_STRIDE_BYTES ((size_t)64 * 1024)
#define FIT_STRIDE_BYTES   ((size_t)256)

static const char *const names[] = {"o200k_base", "cl100k_base", "approx4", NULL};

const char *const *vcm_tokenizer_names(void)
{
    return names;
}

static int unknown_name(const char *name, struct vcm_error *err)
{
    struct vcm_buf known = VCM_BUF_INIT(256);
    for (const char *const *each = names; *each; each++)
        vcm_buf_append_format(&known, "%s%s", each == names ? "" : ", ", *each);
    int rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "no tokenizer '%s'; known are: %s", name,
                           vcm_buf_text(&known));
    vcm_buf_release(&known);
    return rc;
}

int vcm_tokenizer_open(struct vcm_tokenizer **out, const char *name, struct vcm_error *err)
{
    *out = NULL;
    size_t index = 0;
    while (names[index] && strcmp(names[index], name) != 0)
        index++;
    if (!names[index])
        return unknown_name(name, err);
    struct vcm_tokenizer *tokenizer = calloc(1, sizeof(*tokenizer));
    if (!tokenizer)
        return vcm_error_memory(err);
    tokenizer->name = names[index];
    tokenizer->exact = index < 2;
    tokenizer->pieces = vcm_pieces_choose();
    tokenizer->pattern = index == 0 ? SCAN_O200K : SCAN_CL100K;
    if (index == 0)
        vcm_bpe_init(&tokenizer->bpe, &vcm_vocabulary_o200k_base, 0);
    else if (index == 1)
        vcm_bpe_init(&tokenizer->bpe, &vcm_vocabulary_cl100k_base, 1);
    *out = tokenizer;
    return VCM_OK;
}

void vcm_tokenizer_close(struct vcm_tokenizer *tokenizer)
{
    free(tokenizer);
}

const char *vcm_tokenizer_name(const struct vcm_tokenizer *tokenizer)
{
    return tokenizer->name;
}

size_t vcm_tokenizer_count(const struct vcm_tokenizer *tokenizer, struct vcm_slice text)
{
    return vcm_tokenizer_count_limited(tokenizer, text, SIZE_MAX);
}

size_t vcm_tokenizer_count_limited(const struct vcm_tokenizer *tokenizer, struct vcm_slice text,
                                   size_t limit)
{
    struct vcm_tokenizer_counter counter;
    vcm_tokenizer_counter_init(&counter, tokenizer);
    for (size_t at = 0; at < text.len;) {
        size_t len = text.len - at < LIMIT_STRIDE_BYTES ? text.len - at : LIMIT_STRIDE_BYTES;
        vcm_tokenizer_counter_feed(&counter, vcm_slice_of(text.data + at, len));
        at += len;
        size_t floor = vcm_tokenizer_counter_floor(&counter);
        if (floor > limit)
            return floor;
    }
    return vcm_tokenizer_counter_finish(&counter);
}

/* Where a prefix may end, from the coarsest to the finest. */
enum fit_unit {
    FIT_LINE,
    FIT_STRIDE,
    FIT_CHARACTER,
};

static size_t character_end(struct vcm_slice text, size_t at)
{
    const char *from = text.data + at;
    size_t len = text.len - at;
    if (len > 1 && from[0] == '\r' && from[1] == '\n')
        return at + 2;
    return at + utf8_step((const unsigned char *)from, len).len;
}

static size_t unit_end(struct vcm_slice text, size_t at, enum fit_unit unit)
{
    if (unit == FIT_LINE) {
        const char *newline = memchr(text.data + at, '\n', text.len - at);
        return newline ? (size_t)(newline - text.data) + 1 : text.len;
    }
    size_t end = character_end(text, at);
    while (unit == FIT_STRIDE && end < text.len && end - at < FIT_STRIDE_BYTES)
        end = character_end(text, end);
    return end;
}

struct fit {
    struct vcm_tokenizer_counter counter; /* of the first `end` bytes, which fit */
    size_t end;
    size_t tokens;
};

/* Moves `fit` to the longest prefix that fits and ends with a unit. */
static void fit_units(struct fit *fit, struct vcm_slice text, size_t limit, enum fit_unit unit)
{
    struct vcm_tokenizer_counter counter = fit->counter;
    size_t at = fit->end;
    while (at < text.len && vcm_tokenizer_counter_floor(&counter) <= limit) {
        size_t end = unit_end(text, at, unit);
        vcm_tokenizer_counter_feed(&counter, vcm_slice_of(text.data + at, end - at));
        at = end;
        size_t tokens = vcm_tokenizer_counter_finish(&counter);
        if (tokens <= limit) {
            fit->counter = counter;
            fit->end = at;
            fit->tokens = tokens;
        }
    }
}

size_t vcm_tokenizer_fit(const struct vcm_tokenizer *tokenizer, struct vcm_slice text, size_t limit,
                         size_t *tokens)
{
    *tokens = vcm_tokenizer_count_limited(tokenizer, text, limit);
    if (*tokens <= limit)
        return text.len;
    struct fit fit = {.end = 0, .tokens = 0};
    vcm_tokenizer_counter_init(&fit.counter, tokenizer);
    fit_units(&fit, text, limit, FIT_LINE);
    if (fit.end == 0) {
        fit_units(&fit, text, limit, FIT_STRIDE);
        fit_units(&fit, text, limit, FIT_CHARACTER);
    }
    assert(fit.tokens <= limit);
    *tokens = fit.tokens;
    return fit.end;
}
