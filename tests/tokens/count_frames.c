/*
 * count_frames.c - counts texts for compare.mjs, and checks that every way to count agrees.
 *
 *     count_frames <encoding> <seed>
 *
 * stdin: for each text its length as 32 bits, then its bytes. stdout: its count as 32 bits. Each
 * text is counted at once, and again in pieces cut at random; the floor must never fall nor pass
 * the count, and a limit must be kept.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tokens/tokenizer.h"

#include "base/banned.h"

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static _Noreturn void fail(const char *what, size_t frame, size_t expected, size_t got)
{
    fprintf(stderr, "count_frames: frame %zu: %s: %zu expected, %zu found\n", frame, what, expected,
            got);
    exit(1);
}

static void check_pieces(const struct vcm_tokenizer *tokenizer, struct vcm_slice text,
                         size_t expected, size_t frame, uint64_t *seed)
{
    struct vcm_tokenizer_counter counter;
    size_t piece_max = (size_t)1 << next_random(seed) % 12;
    size_t floor = 0;
    size_t tail = next_random(seed) % 4;
    vcm_tokenizer_counter_init(&counter, tokenizer);
    tail = tail < text.len ? tail : text.len;
    for (size_t at = 0; at < text.len - tail;) {
        size_t len = 1 + next_random(seed) % piece_max;
        len = len < text.len - tail - at ? len : text.len - tail - at;
        vcm_tokenizer_counter_feed(&counter, vcm_slice_of(text.data + at, len));
        at += len;
        size_t now = vcm_tokenizer_counter_floor(&counter);
        if (now < floor || now > expected)
            fail("the floor", frame, expected, now);
        floor = now;
    }
    struct vcm_slice rest = vcm_slice_of(text.data + text.len - tail, tail);
    size_t total = vcm_tokenizer_counter_total(&counter, rest);
    if (total != expected)
        fail("the count in pieces", frame, expected, total);
    vcm_tokenizer_counter_feed(&counter, rest);
    total = vcm_tokenizer_counter_finish(&counter);
    if (total != expected)
        fail("the count after all pieces", frame, expected, total);
}

static void check_limit(const struct vcm_tokenizer *tokenizer, struct vcm_slice text,
                        size_t expected, size_t frame, uint64_t *seed)
{
    size_t limit = next_random(seed) % (expected + 2);
    size_t limited = vcm_tokenizer_count_limited(tokenizer, text, limit);
    if (expected <= limit ? limited != expected : limited <= limit)
        fail("the limited count", frame, expected, limited);
    size_t tokens;
    size_t len = vcm_tokenizer_fit(tokenizer, text, limit, &tokens);
    size_t again = vcm_tokenizer_count(tokenizer, vcm_slice_of(text.data, len));
    if (again != tokens || tokens > limit)
        fail("the prefix that fits", frame, again, tokens);
    if (expected <= limit && len != text.len)
        fail("the prefix that fits all", frame, text.len, len);
}

int main(int argc, char **argv)
{
    struct vcm_error err = {0};
    struct vcm_tokenizer *tokenizer = NULL;
    uint64_t seed = argc == 3 ? strtoull(argv[2], NULL, 10) * 2 + 1 : 0;
    if (argc != 3 || vcm_tokenizer_open(&tokenizer, argv[1], &err) != VCM_OK) {
        fprintf(stderr, "count_frames: usage: count_frames <encoding> <seed> (%s)\n", err.message);
        return 2;
    }
    uint32_t len;
    for (size_t frame = 0; fread(&len, sizeof len, 1, stdin) == 1; frame++) {
        char *text =
            malloc(len ? len : 1); /* exact, so that a sanitizer sees what is read behind */
        if (!text || fread(text, 1, len, stdin) != len)
            return 2;
        struct vcm_slice slice = vcm_slice_of(text, len);
        uint32_t count = (uint32_t)vcm_tokenizer_count(tokenizer, slice);
        check_pieces(tokenizer, slice, count, frame, &seed);
        if (len < 20000)
            check_limit(tokenizer, slice, count, frame, &seed);
        fwrite(&count, sizeof count, 1, stdout);
        free(text);
    }
    vcm_tokenizer_close(tokenizer);
    return ferror(stdout) || fflush(stdout) != 0;
}
