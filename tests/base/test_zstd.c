#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/zstd.h"
#include "tests/support/random.h"

#include "base/banned.h"

/* Lengths around zero, a block of zstd and more than one. */
static const size_t lengths[] = {0, 1, 17, 4096, 128 * 1024, 128 * 1024 + 1, 700000};
#define LENGTHS (sizeof lengths / sizeof lengths[0])

static int set_up(void **state)
{
    struct vcm_zstd *zstd;

    assert_int_equal(vcm_zstd_open(&zstd, NULL), VCM_OK);
    *state = zstd;
    return 0;
}

static int tear_down(void **state)
{
    vcm_zstd_close(*state);
    return 0;
}

static void fill(struct vcm_buf *out, size_t len, uint64_t *seed)
{
    vcm_buf_clear(out);
    while (out->len < len)
        vcm_buf_append_byte(out, "the quick brown fox "[test_random_below(seed, 20)]);
}

static void packed_bytes_come_back(void **state)
{
    uint64_t seed = 7;

    for (size_t i = 0; i < LENGTHS; i++) {
        struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);
        struct vcm_buf packed = VCM_BUF_INIT(2 * VCM_MIB);
        struct vcm_buf again = VCM_BUF_INIT(VCM_MIB);
        fill(&text, lengths[i], &seed);
        vcm_buf_append_string(&again, "before ");
        assert_int_equal(vcm_zstd_pack(&packed, *state, vcm_buf_slice(&text), 3, "a text", NULL),
                         VCM_OK);
        assert_true(vcm_zstd_is_packed(vcm_buf_slice(&packed)));
        assert_false(vcm_zstd_is_packed(vcm_buf_slice(&text)));
        if (lengths[i] >= 4096)
            assert_true(packed.len < text.len * 2 / 3);
        assert_int_equal(vcm_zstd_unpack(&again, *state, vcm_buf_slice(&packed), "a text", NULL),
                         VCM_OK);
        assert_int_equal(again.len, 7 + text.len);
        assert_memory_equal(again.data, "before ", 7);
        if (text.len > 0)
            assert_memory_equal(again.data + 7, text.data, text.len);
        vcm_buf_release(&again);
        vcm_buf_release(&packed);
        vcm_buf_release(&text);
    }
}

static void no_flipped_bit_goes_unseen(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf packed = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf again = VCM_BUF_INIT(VCM_MIB);
    uint64_t seed = 11;
    unsigned refused = 0;

    fill(&text, 5000, &seed);
    assert_int_equal(vcm_zstd_pack(&packed, *state, vcm_buf_slice(&text), 3, "a text", NULL),
                     VCM_OK);
    for (size_t bit = 0; bit < 8 * packed.len; bit++) {
        struct vcm_error err = {0};
        vcm_buf_clear(&again);
        packed.data[bit / 8] = (char)(packed.data[bit / 8] ^ (1 << bit % 8));
        int rc = vcm_zstd_unpack(&again, *state, vcm_buf_slice(&packed), "a text", &err);
        packed.data[bit / 8] = (char)(packed.data[bit / 8] ^ (1 << bit % 8));
        /* A few bits mean nothing; what comes out is then the same. */
        if (rc == VCM_OK)
            assert_true(vcm_slice_equal(vcm_buf_slice(&again), vcm_buf_slice(&text)));
        else
            refused++;
    }
    assert_true(refused > 8 * packed.len * 95 / 100);
    for (size_t len = 0; len < packed.len; len++) {
        vcm_buf_clear(&again);
        assert_int_equal(
            vcm_zstd_unpack(&again, *state, vcm_slice_of(packed.data, len), "a text", NULL),
            VCM_STORE_CORRUPT);
    }
    vcm_buf_release(&again);
    vcm_buf_release(&packed);
    vcm_buf_release(&text);
}

static void a_length_that_cannot_be_true_takes_no_memory(void **state)
{
    /* A frame that claims 2^40 bytes in one block of nothing. */
    static const char claims[] = "\x28\xb5\x2f\xfd\xe0\0\0\0\0\0\x01\0\0\x01\0\0";
    struct vcm_buf out = VCM_BUF_INIT(SIZE_MAX / 2);
    struct vcm_error err = {0};

    assert_int_equal(
        vcm_zstd_unpack(&out, *state, vcm_slice_of(claims, sizeof claims - 1), "a text", &err),
        VCM_STORE_CORRUPT);
    assert_non_null(strstr(err.message, "a text is damaged"));
    assert_int_equal(out.len, 0);
    assert_null(out.data);
    vcm_buf_release(&out);
}

static void a_maximum_bounds_what_is_unpacked(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf packed = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf small = VCM_BUF_INIT(1000);

    for (unsigned i = 0; i < 100000; i++)
        vcm_buf_append_byte(&text, 0);
    assert_int_equal(vcm_zstd_pack(&packed, *state, vcm_buf_slice(&text), 3, "a text", NULL),
                     VCM_OK);
    assert_int_not_equal(vcm_zstd_unpack(&small, *state, vcm_buf_slice(&packed), "a text", NULL),
                         VCM_OK);
    vcm_buf_release(&small);
    vcm_buf_release(&packed);
    vcm_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_bytes_come_back),
        cmocka_unit_test(no_flipped_bit_goes_unseen),
        cmocka_unit_test(a_length_that_cannot_be_true_takes_no_memory),
        cmocka_unit_test(a_maximum_bounds_what_is_unpacked),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
