/*
 * fuzz_wire.c - whatever wire.c reads without complaint, writing it gives the same bytes.
 *
 * The first half of the input says what to read, one operation a byte; the rest is what is read.
 */
#include "base/limits.h"
#include "base/wire.h"
#include "fuzz/check.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads one value and writes it again. */
static void step(struct vcm_wire_reader *r, struct vcm_buf *again, uint8_t operation)
{
    uint64_t number = 0;
    struct vcm_slice bytes = vcm_slice_of("", 0);

    switch (operation % 6) {
    case 0:
        number = vcm_wire_get_u8(r);
        vcm_wire_put_u8(again, (uint8_t)number);
        break;
    case 1:
        number = vcm_wire_get_u32(r);
        vcm_wire_put_u32(again, (uint32_t)number);
        break;
    case 2:
        number = vcm_wire_get_u64(r);
        vcm_wire_put_u64(again, number);
        break;
    case 3:
        number = vcm_wire_get_count(r);
        vcm_wire_put_count(again, number);
        break;
    case 4:
        bytes = vcm_wire_get_bytes(r);
        vcm_wire_put_bytes(again, bytes);
        break;
    default:
        bytes = vcm_wire_get_raw(r, operation / 6);
        vcm_buf_append_slice(again, bytes);
        break;
    }
    if (r->bad)
        FUZZ_CHECK(number == 0 && bytes.len == 0 && r->rest.len == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t operations = size / 2;
    struct vcm_slice input = vcm_slice_of(data + operations, size - operations);
    struct vcm_buf again = VCM_BUF_INIT(2 * size + VCM_KIB);
    struct vcm_wire_reader r;

    vcm_wire_reader_init(&r, input);
    for (size_t i = 0; i < operations && !r.bad; i++) {
        step(&r, &again, data[i]);
        if (r.bad)
            break;
        FUZZ_CHECK(again.len == input.len - r.rest.len);
        FUZZ_CHECK(again.len == 0 || memcmp(again.data, input.data, again.len) == 0);
    }
    FUZZ_CHECK(vcm_wire_reader_done(&r) == (!r.bad && again.len == input.len));
    vcm_buf_release(&again);
    return 0;
}
