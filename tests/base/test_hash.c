#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/hash.h"

#include "base/banned.h"

static void check_digest(struct vcm_slice data, const char *expected)
{
    unsigned char digest[VCM_HASH_SHA256_BYTES];
    char hex[2 * VCM_HASH_SHA256_BYTES + 1];

    vcm_hash_sha256_of(digest, data);
    vcm_hash_to_hex(hex, digest, sizeof digest);
    assert_string_equal(hex, expected);
}

static void sha256_gives_the_published_digests(void **state)
{
    (void)state;
    check_digest(vcm_slice_of(NULL, 0),
                 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_digest(vcm_slice_of_string("abc"),
                 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void pieces_hash_as_the_whole(void **state)
{
    (void)state;
    unsigned char whole[VCM_HASH_SHA256_BYTES], pieces[VCM_HASH_SHA256_BYTES];
    char data[200];
    struct vcm_hash_sha256 hash;

    memset(data, 'x', sizeof data);
    vcm_hash_sha256_of(whole, vcm_slice_of(data, sizeof data));
    for (size_t cut = 0; cut <= sizeof data; cut += 7) {
        vcm_hash_sha256_init(&hash);
        vcm_hash_sha256_update(&hash, data, cut);
        vcm_hash_sha256_update(&hash, NULL, 0);
        vcm_hash_sha256_update(&hash, data + cut, sizeof data - cut);
        vcm_hash_sha256_final(&hash, pieces);
        assert_memory_equal(whole, pieces, sizeof whole);
    }
}

/* XXH3 of nothing with seed 0 is a published constant; stores depend on it. */
static void the_checksum_is_the_published_xxh3(void **state)
{
    (void)state;
    assert_true(vcm_hash_checksum(vcm_slice_of(NULL, 0), 0) == UINT64_C(0x2d06800538d394c2));
    assert_true(vcm_hash_checksum(vcm_slice_of_string("abc"), 0) == UINT64_C(0x78af5f94892f3950));
}

static void the_seed_changes_the_checksum(void **state)
{
    (void)state;
    struct vcm_slice data = vcm_slice_of_string("some bytes");
    assert_true(vcm_hash_checksum(data, 0) != vcm_hash_checksum(data, 1));
}

static void hex_digits_of_either_case_read_back(void **state)
{
    (void)state;
    unsigned char bytes[4];
    char hex[9];

    assert_true(vcm_hash_from_hex(bytes, "00fFa59c", 4));
    assert_memory_equal(bytes, "\x00\xff\xa5\x9c", 4);
    vcm_hash_to_hex(hex, bytes, 4);
    assert_string_equal(hex, "00ffa59c");
}

static void anything_but_hex_digits_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "a", "0g", "g0", " 1", "-1", "0:", "0/", "0@", "0`"};
    unsigned char byte;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(vcm_hash_from_hex(&byte, wrong[i], 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_gives_the_published_digests),
        cmocka_unit_test(pieces_hash_as_the_whole),
        cmocka_unit_test(the_checksum_is_the_published_xxh3),
        cmocka_unit_test(the_seed_changes_the_checksum),
        cmocka_unit_test(hex_digits_of_either_case_read_back),
        cmocka_unit_test(anything_but_hex_digits_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
