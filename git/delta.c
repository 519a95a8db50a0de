#include "git/delta.h"

#include "base/banned.h"

#define IS_COPY       0x80u
#define OFFSET_BITS   4
#define SIZE_BITS     3
#define SIZE_FOR_NONE 0x10000u /* the size of a copy that gives none */
#define SHIFT_MAX     56

static bool parse_size(uint64_t *out, const unsigned char **at, const unsigned char *end)
{
    uint64_t size = 0;

    for (unsigned shift = 0; *at < end && shift <= SHIFT_MAX; shift += 7) {
        unsigned char byte = *(*at)++;
        size |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *out = size;
            return true;
        }
    }
    return false;
}

bool vcm_git_delta_parse(struct vcm_git_delta *out, struct vcm_slice delta)
{
    const unsigned char *at = (const unsigned char *)delta.data;
    const unsigned char *end = at + delta.len;

    if (!parse_size(&out->base_bytes, &at, end) || !parse_size(&out->result_bytes, &at, end))
        return false;
    out->commands = vcm_slice_of(at, (size_t)(end - at));
    return true;
}

/* The bytes of a little-endian number whose bits in `mask` are set. */
static bool parse_number(uint32_t *out, const unsigned char **at, const unsigned char *end,
                         unsigned mask, unsigned bits)
{
    uint32_t number = 0;

    for (unsigned i = 0; i < bits; i++) {
        if (!(mask >> i & 1))
            continue;
        if (*at == end)
            return false;
        number |= (uint32_t) * (*at)++ << 8 * i;
    }
    *out = number;
    return true;
}

bool vcm_git_delta_apply(char *out, const struct vcm_git_delta *delta, struct vcm_slice base)
{
    const unsigned char *at = (const unsigned char *)delta->commands.data;
    const unsigned char *end = at + delta->commands.len;
    uint64_t left = delta->result_bytes;

    if (base.len != delta->base_bytes)
        return false;
    while (at < end) {
        unsigned command = *at++;
        uint32_t offset = 0, size = command;
        const char *from = (const char *)at;
        if (command & IS_COPY) {
            if (!parse_number(&offset, &at, end, command, OFFSET_BITS) ||
                !parse_number(&size, &at, end, command >> OFFSET_BITS, SIZE_BITS))
                return false;
            if (size == 0)
                size = SIZE_FOR_NONE;
            if (offset > base.len || size > base.len - offset)
                return false;
            from = base.data + offset;
        } else {
            if (size == 0 || size > (size_t)(end - at))
                return false;
            at += size;
        }
        if (size > left)
            return false;
        memcpy(out, from, size);
        out += size;
        left -= size;
    }
    return left == 0;
}
