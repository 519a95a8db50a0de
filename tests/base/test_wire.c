#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/wire.h"

#include "base/banned.h"

static void values_come_back_as_they_were_put(void **state)
{
    (void)state;
    static const uint64_t counts[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX};
    struct vcm_buf buf = VCM_BUF_INIT(1024);
    struct vcm_wire_reader r;

    vcm_wire_put_u8(&buf, 200);
    vcm_wire_put_u32(&buf, 0xfedcba98u);
    vcm_wire_put_u64(&buf, UINT64_C(0xfedcba9876543210));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        vcm_wire_put_count(&buf, counts[i]);
    vcm_wire_put_bytes(&buf, vcm_slice_of("a\0b", 3));
    vcm_wire_put_string(&buf, NULL);
    vcm_buf_append(&buf, "raw", 3);

    vcm_wire_reader_init(&r, vcm_buf_slice(&buf));
    assert_int_equal(vcm_wire_get_u8(&r), 200);
    assert_int_equal(vcm_wire_get_u32(&r), 0xfedcba98u);
    assert_true(vcm_wire_get_u64(&r) == UINT64_C(0xfedcba9876543210));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        assert_true(vcm_wire_get_count(&r) == counts[i]);
    assert_true(vcm_slice_equal(vcm_wire_get_bytes(&r), vcm_slice_of("a\0b", 3)));
    assert_int_equal(vcm_wire_get_bytes(&r).len, 0);
    assert_false(vcm_wire_reader_done(&r));
    assert_true(vcm_slice_equal(vcm_wire_get_raw(&r, 3), vcm_slice_of("raw", 3)));
    assert_true(vcm_wire_reader_done(&r));
    vcm_buf_release(&buf);
}

static void integers_are_little_endian_and_counts_leb128(void **state)
{
    (void)state;
    struct vcm_buf buf = VCM_BUF_INIT(64);

    vcm_wire_put_u32(&buf, 0x01020304);
    vcm_wire_put_count(&buf, 300);
    assert_int_equal(buf.len, 6);
    assert_memory_equal(buf.data, "\x04\x03\x02\x01\xac\x02", 6);
    vcm_buf_clear(&buf);
    vcm_wire_put_count(&buf, UINT64_MAX);
    assert_int_equal(buf.len, 10);
    vcm_buf_release(&buf);
}

static void check_bad_count(const char *bytes, size_t len)
{
    struct vcm_wire_reader r;
    vcm_wire_reader_init(&r, vcm_slice_of(bytes, len));
    assert_true(vcm_wire_get_count(&r) == 0);
    assert_true(r.bad);
}

static void a_malformed_count_is_bad(void **state)
{
    (void)state;
    check_bad_count("", 0);
    check_bad_count("\x80", 1);
    check_bad_count("\x80\x00", 2);
    check_bad_count("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
    check_bad_count("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 11);
}

static void a_bad_reader_gives_zeros_from_then_on(void **state)
{
    (void)state;
    struct vcm_wire_reader r;

    vcm_wire_reader_init(&r, vcm_slice_of("\x01\x02\x03", 3));
    assert_int_equal(vcm_wire_get_u32(&r), 0);
    assert_true(r.bad);
    assert_int_equal(vcm_wire_get_u8(&r), 0);
    assert_true(vcm_wire_get_u64(&r) == 0);
    assert_int_equal(vcm_wire_get_bytes(&r).len, 0);
    assert_int_equal(vcm_wire_get_raw(&r, 0).len, 0);
    assert_false(vcm_wire_reader_done(&r));
}

static void a_length_beyond_the_end_is_bad(void **state)
{
    (void)state;
    static const char huge[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                               "abc";
    struct vcm_wire_reader r;

    vcm_wire_reader_init(&r, vcm_slice_of("\x04"
                                          "abc",
                                          4));
    assert_int_equal(vcm_wire_get_bytes(&r).len, 0);
    assert_true(r.bad);
    vcm_wire_reader_init(&r, vcm_slice_of(huge, sizeof huge - 1));
    assert_int_equal(vcm_wire_get_bytes(&r).len, 0);
    assert_true(r.bad);
}

static void big_endian_integers_sort_as_bytes(void **state)
{
    (void)state;
    unsigned char small[8], large[8];

    vcm_wire_store_be32(small, 0x01020304);
    assert_memory_equal(small, "\x01\x02\x03\x04", 4);
    assert_int_equal(vcm_wire_load_be32(small), 0x01020304);
    vcm_wire_store_be64(small, 255);
    vcm_wire_store_be64(large, 256);
    assert_true(memcmp(small, large, 8) < 0);
    vcm_wire_store_be64(large, UINT64_C(0xf1f2f3f4f5f6f7f8));
    assert_true(vcm_wire_load_be64(large) == UINT64_C(0xf1f2f3f4f5f6f7f8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back_as_they_were_put),
        cmocka_unit_test(integers_are_little_endian_and_counts_leb128),
        cmocka_unit_test(a_malformed_count_is_bad),
        cmocka_unit_test(a_bad_reader_gives_zeros_from_then_on),
        cmocka_unit_test(a_length_beyond_the_end_is_bad),
        cmocka_unit_test(big_endian_integers_sort_as_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
