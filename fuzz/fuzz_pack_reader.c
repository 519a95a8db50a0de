/*
 * fuzz_pack_reader.c - whatever a pack says, reading its objects ends, stays within its memory, and
 * gives as many bytes as it tells.
 *
 * The first byte of the input is the number of objects, then come their offsets in the pack, two
 * bytes each, then the pack behind its header. The id of the n-th object is n and nineteen zeros.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/limits.h"
#include "fuzz/check.h"
#include "git/pack_reader.h"

#include "base/banned.h"

#define OBJECTS_MAX 64u
#define BLOB_BYTES  (1 * VCM_MIB)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_word(struct vcm_buf *out, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        vcm_buf_append_byte(out, (char)(word >> (24 - 8 * i)));
}

static void make_index(struct vcm_buf *out, const uint8_t *offsets, unsigned count)
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

static int file_of(struct vcm_buf *bytes)
{
    int fd = memfd_create("pack", MFD_CLOEXEC);

    FUZZ_CHECK(fd >= 0 && bytes->fault == VCM_BUF_FINE);
    FUZZ_CHECK(write(fd, bytes->data, bytes->len) == (ssize_t)bytes->len);
    vcm_buf_release(bytes);
    return fd;
}

static struct vcm_git_pack_reader *open_input(unsigned count, const uint8_t *data, size_t size)
{
    struct vcm_buf index = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf pack = VCM_BUF_INIT(2 * VCM_MIB);
    const char zeros[VCM_GIT_ID_BYTES] = {0};

    make_index(&index, data, count);
    vcm_buf_append(&pack, "PACK\0\0\0\2", 8);
    add_word(&pack, count);
    vcm_buf_append(&pack, data + (size_t)2 * count, size - (size_t)2 * count);
    vcm_buf_append(&pack, zeros, sizeof zeros);
    return vcm_git_pack_reader_open_files(file_of(&index), file_of(&pack));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);

    if (size < 1 || size > VCM_MIB || data[0] > OBJECTS_MAX || size < 1 + (size_t)2 * data[0])
        return 0;
    struct vcm_git_pack_reader *reader = open_input(data[0], data + 1, size - 1);
    FUZZ_CHECK(reader);
    /* Twice, the second time with what the cache kept. */
    for (unsigned i = 0; i < 2u * data[0]; i++) {
        const struct vcm_git_id id = {{(unsigned char)(i % data[0])}};
        uint64_t told = 0;
        vcm_buf_clear(&out);
        bool read = vcm_git_pack_reader_read(&out, &told, reader, &id, BLOB_BYTES);
        FUZZ_CHECK(out.len == (read && told <= BLOB_BYTES ? told : 0));
    }
    vcm_git_pack_reader_close(reader);
    vcm_buf_release(&out);
    return 0;
}
