#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tokens/block.h"

#include "base/banned.h"

#define TEXT_BYTES 96
#define ROUNDS     60000

static uint64_t seed = 20261116;

static unsigned random_below(unsigned limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed % limit);
}

/* Few characters, so that every order of classes comes up; sometimes a wide one or a control. */
static void make_text(unsigned char *text)
{
    static const char *const alphabets[] = {
        "aB1 \n", "aA '/(\n",  " \t\r\n",          "abs'tdmlvre ",
        "12a",    "/\n!/\r(x", "aZ 9\t\n\r./'\"_", "    a\n",
    };
    const char *alphabet = alphabets[random_below(8)];
    size_t letters = strlen(alphabet);
    size_t at = 0;
    while (at + 2 <= TEXT_BYTES) {
        unsigned choice = random_below(400);
        if (choice == 0) {
            text[at++] = 0xc3;
            text[at++] = 0xa9;
        } else if (choice == 1) {
            text[at++] = (unsigned char)random_below(0x80);
        } else {
            text[at++] = (unsigned char)alphabet[random_below((unsigned)letters)];
        }
    }
    while (at < TEXT_BYTES)
        text[at++] = 'x';
}

static void check_text(enum scan_pattern pattern, const unsigned char *text)
{
    const unsigned char *end = text + TEXT_BYTES;
    const unsigned char *piece = text;
    while (end - piece >= BLOCK_BYTES) {
        uint64_t starts = block_starts(pattern, piece);
        assert_true(starts & 1);
        const unsigned char *expected = piece;
        for (uint64_t left = starts & ~UINT64_C(1); left; left &= left - 1) {
            const unsigned char *found = piece + __builtin_ctzll(left);
            expected = scan_next(pattern, expected, end, true);
            if (found != expected)
                fail_msg("seed %llu: a piece ends at %td, not %td: '%.*s'",
                         (unsigned long long)seed, expected - text, found - text, TEXT_BYTES,
                         (const char *)text);
        }
        piece = expected == piece ? scan_next(pattern, piece, end, true) : expected;
    }
}

static void blocks_split_text_as_the_scanner_does(void **state)
{
    (void)state;
    unsigned char text[TEXT_BYTES];
    for (int round = 0; round < ROUNDS; round++) {
        make_text(text);
        check_text(SCAN_O200K, text);
        check_text(SCAN_CL100K, text);
    }
}

int main(void)
{
#ifdef __AVX512BW__
    if (!__builtin_cpu_supports("avx512bw"))
        return 0;
#elif defined __AVX2__
    if (!__builtin_cpu_supports("avx2"))
        return 0;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_split_text_as_the_scanner_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
