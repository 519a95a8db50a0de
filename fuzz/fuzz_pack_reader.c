/*
 * fuzz_pack_reader.c - whatever a pack says, reading its objects ends, stays within its memory, and
 * gives as many bytes as it tells.
 *
 * The input is that of pack_input.h.
 */
#include <stdint.h>

#include "base/limits.h"
#include "fuzz/check.h"
#include "fuzz/pack_input.h"
#include "git/pack_reader.h"

#include "base/banned.h"

#define BLOB_BYTES (1 * VCM_MIB)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);

    if (size < 1 || size > VCM_MIB || data[0] > PACK_INPUT_OBJECTS ||
        size < 1 + (size_t)2 * data[0])
        return 0;
    struct pack_input files = pack_input_of(data[0], data + 1, size - 1);
    struct vcm_git_pack_reader *reader =
        vcm_git_pack_reader_open_files(files.index_fd, files.pack_fd);
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
