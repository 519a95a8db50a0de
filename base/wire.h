/*
 * wire.h - the small binary encoding of stored values: little-endian integers, LEB128 counts,
 * length-prefixed bytes. The layouts made of it are in docs/FORMAT.md.
 *
 * Writing goes to a vcm_buf and shares its fault handling. Reading trusts nothing: a reader that
 * reaches the end or a malformed number sets `bad` and returns zeros and empty slices from then on;
 * the caller checks once at the end.
 */
#ifndef VCM_BASE_WIRE_H
#define VCM_BASE_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

void vcm_wire_put_u8(struct vcm_buf *out, uint8_t value);
void vcm_wire_put_u32(struct vcm_buf *out, uint32_t value);
void vcm_wire_put_u64(struct vcm_buf *out, uint64_t value);
void vcm_wire_put_count(struct vcm_buf *out, uint64_t value); /* 1 to 10 bytes */
void vcm_wire_put_bytes(struct vcm_buf *out, struct vcm_slice bytes);
void vcm_wire_put_string(struct vcm_buf *out, const char *text); /* NULL as "" */

struct vcm_wire_reader {
    struct vcm_slice rest;
    bool bad;
};

void vcm_wire_reader_init(struct vcm_wire_reader *r, struct vcm_slice bytes);
uint8_t vcm_wire_get_u8(struct vcm_wire_reader *r);
uint32_t vcm_wire_get_u32(struct vcm_wire_reader *r);
uint64_t vcm_wire_get_u64(struct vcm_wire_reader *r);
uint64_t vcm_wire_get_count(struct vcm_wire_reader *r);
struct vcm_slice vcm_wire_get_bytes(struct vcm_wire_reader *r); /* points into the input */
struct vcm_slice vcm_wire_get_raw(struct vcm_wire_reader *r, size_t len); /* without a prefix */

/* True when nothing was malformed and nothing is left. */
bool vcm_wire_reader_done(const struct vcm_wire_reader *r);

/* Big-endian integers, for keys that must sort by number. */
void vcm_wire_store_be32(unsigned char out[4], uint32_t value);
void vcm_wire_store_be64(unsigned char out[8], uint64_t value);

static inline uint32_t vcm_wire_load_be32(const unsigned char in[4])
{
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

static inline uint64_t vcm_wire_load_be64(const unsigned char in[8])
{
    return (uint64_t)vcm_wire_load_be32(in) << 32 | vcm_wire_load_be32(in + 4);
}

#endif
