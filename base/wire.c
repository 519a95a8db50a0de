#include "base/wire.h"

#include "base/banned.h"

#define COUNT_BYTES_MAX 10

void vcm_wire_put_u8(struct vcm_buf *out, uint8_t value)
{
    vcm_buf_append_byte(out, (char)value);
}

void vcm_wire_put_u32(struct vcm_buf *out, uint32_t value)
{
    unsigned char bytes[4];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    vcm_buf_append(out, bytes, sizeof bytes);
}

void vcm_wire_put_u64(struct vcm_buf *out, uint64_t value)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    vcm_buf_append(out, bytes, sizeof bytes);
}

void vcm_wire_put_count(struct vcm_buf *out, uint64_t value)
{
    unsigned char bytes[COUNT_BYTES_MAX];
    size_t len = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[len++] = (unsigned char)(value | 0x80);
    bytes[len++] = (unsigned char)value;
    vcm_buf_append(out, bytes, len);
}

void vcm_wire_put_bytes(struct vcm_buf *out, struct vcm_slice bytes)
{
    vcm_wire_put_count(out, bytes.len);
    vcm_buf_append_slice(out, bytes);
}

void vcm_wire_put_string(struct vcm_buf *out, const char *text)
{
    vcm_wire_put_bytes(out, vcm_slice_of_string(text));
}

void vcm_wire_reader_init(struct vcm_wire_reader *r, struct vcm_slice bytes)
{
    r->rest = bytes;
    r->bad = false;
}

/* The rest is dropped at the first fault, so that every later read fails too. */
static void fail(struct vcm_wire_reader *r)
{
    r->bad = true;
    r->rest = vcm_slice_of("", 0);
}

/* The next `len` bytes, or NULL after setting `bad`. */
static const unsigned char *take(struct vcm_wire_reader *r, size_t len)
{
    if (r->bad || len > r->rest.len) {
        fail(r);
        return NULL;
    }
    const char *data = r->rest.data;
    if (len > 0)
        r->rest = vcm_slice_of(data + len, r->rest.len - len);
    return (const unsigned char *)data;
}

uint8_t vcm_wire_get_u8(struct vcm_wire_reader *r)
{
    const unsigned char *in = take(r, 1);
    return in ? in[0] : 0;
}

uint32_t vcm_wire_get_u32(struct vcm_wire_reader *r)
{
    const unsigned char *in = take(r, 4);
    uint32_t value = 0;

    for (unsigned i = 0; in && i < 4; i++)
        value |= (uint32_t)in[i] << (8 * i);
    return value;
}

uint64_t vcm_wire_get_u64(struct vcm_wire_reader *r)
{
    const unsigned char *in = take(r, 8);
    uint64_t value = 0;

    for (unsigned i = 0; in && i < 8; i++)
        value |= (uint64_t)in[i] << (8 * i);
    return value;
}

uint64_t vcm_wire_get_count(struct vcm_wire_reader *r)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < COUNT_BYTES_MAX; i++) {
        const unsigned char *in = take(r, 1);
        if (!in)
            return 0;
        /* The tenth byte can only have bit 63. */
        if (i == COUNT_BYTES_MAX - 1 && in[0] > 1)
            break;
        value |= (uint64_t)(in[0] & 0x7f) << (7 * i);
        if (in[0] & 0x80)
            continue;
        /* Every number has exactly one encoding: a last byte of zero is superfluous and refused. */
        if (in[0] == 0 && i > 0)
            break;
        return value;
    }
    fail(r);
    return 0;
}

struct vcm_slice vcm_wire_get_raw(struct vcm_wire_reader *r, size_t len)
{
    const unsigned char *in = take(r, len);
    return in ? vcm_slice_of(in, len) : vcm_slice_of("", 0);
}

struct vcm_slice vcm_wire_get_bytes(struct vcm_wire_reader *r)
{
    uint64_t len = vcm_wire_get_count(r);
    if (r->bad || len > r->rest.len) {
        fail(r);
        return r->rest;
    }
    return vcm_wire_get_raw(r, (size_t)len);
}

bool vcm_wire_reader_done(const struct vcm_wire_reader *r)
{
    return !r->bad && r->rest.len == 0;
}

void vcm_wire_store_be32(unsigned char out[4], uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        out[i] = (unsigned char)(value >> (24 - 8 * i));
}

void vcm_wire_store_be64(unsigned char out[8], uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        out[i] = (unsigned char)(value >> (56 - 8 * i));
}
