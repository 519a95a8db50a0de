/*
 * pack_input.h - the input of the fuzzers of packs: the first byte is the number of objects, then
 * come their offsets in the pack, two bytes each, then the pack behind its header. The id of the
 * n-th object is n and nineteen zeros.
 */
#ifndef VCM_FUZZ_PACK_INPUT_H
#define VCM_FUZZ_PACK_INPUT_H

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "fuzz/check.h"
#include "git/repo.h"

#define PACK_INPUT_OBJECTS 64u

struct pack_input {
    int index_fd, pack_fd;
};

static inline void add_word(struct vcm_buf *out, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        vcm_buf_append_byte(out, (char)(word >> (24 - 8 * i)));
}

static inline void make_index(struct vcm_buf *out, const uint8_t *offsets, unsigned count)
{
    const char zeros[2 * VCM_GIT_ID_BYTES] = {0};

    vcm_buf_append(out, "\377tOc\0\0\0\2", 8);
    for (unsigned i = 0; i < 256; i++)
        add_word(out, i < count ? i + 1 : count);
    for (unsigned i = 0; i < count; i++) {
        vcm_buf_append_byte(out, (char)i);
        vcm_buf_append(out, zeros, VCM_GIT_ID_BYTES - 1);
    }
    for (unsigned i = 0; i < count; i++)
        add_word(out, 0);
    for (unsigned i = 0; i < count; i++)
        add_word(out, (uint32_t)offsets[2 * i] << 8 | offsets[2 * i + 1]);
    vcm_buf_append(out, zeros, sizeof zeros);
}

static inline int file_of(struct vcm_buf *bytes)
{
    int fd = memfd_create("pack", MFD_CLOEXEC);

    FUZZ_CHECK(fd >= 0 && bytes->fault == VCM_BUF_FINE);
    FUZZ_CHECK(write(fd, bytes->data, bytes->len) == (ssize_t)bytes->len);
    vcm_buf_release(bytes);
    return fd;
}

/* `data` is the input behind its first byte. */
static inline struct pack_input pack_input_of(unsigned count, const uint8_t *data, size_t size)
{
    struct vcm_buf index = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf pack = VCM_BUF_INIT(2 * VCM_MIB);
    const char zeros[VCM_GIT_ID_BYTES] = {0};

    make_index(&index, data, count);
    vcm_buf_append(&pack, "PACK\0\0\0\2", 8);
    add_word(&pack, count);
    vcm_buf_append(&pack, data + (size_t)2 * count, size - (size_t)2 * count);
    vcm_buf_append(&pack, zeros, sizeof zeros);
    return (struct pack_input){file_of(&index), file_of(&pack)};
}

#endif
