/*
 * fuzz_pack_entry.c - however the deltas of a pack name their bases, the walk over their headers
 * ends, and what it calls sound ends at an object that is stored whole.
 *
 * The input is that of pack_input.h.
 */
#include <stdint.h>

#include "fuzz/check.h"
#include "fuzz/pack_input.h"
#include "git/pack_entry.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Follows the deltas again, without a check for circles: a sound chain has an end. */
static bool has_end(const struct vcm_git_pack_file *file, uint64_t offset)
{
    unsigned char bytes[VCM_GIT_PACK_ENTRY_BYTES] = {0};
    struct vcm_git_pack_entry entry;

    for (unsigned steps = 0; steps < VCM_GIT_PACK_CHAIN_MAX; steps++) {
        size_t len = vcm_git_pack_file_read(file, bytes, sizeof bytes, offset);
        if (!vcm_git_pack_entry_parse(&entry, file, vcm_git_pack_file_find,
                                      vcm_slice_of(bytes, len), offset))
            return false;
        if (entry.type <= VCM_GIT_PACK_TAG)
            return true;
        offset = entry.base_at;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_git_pack_file file;

    if (size < 1 || size > VCM_MIB || data[0] > PACK_INPUT_OBJECTS ||
        size < 1 + (size_t)2 * data[0])
        return 0;
    struct pack_input files = pack_input_of(data[0], data + 1, size - 1);
    FUZZ_CHECK(vcm_git_pack_file_open(&file, files.index_fd, files.pack_fd));
    for (unsigned i = 0; i < data[0]; i++) {
        const unsigned char id[VCM_GIT_ID_BYTES] = {(unsigned char)i};
        uint64_t offset = 0, same = 0;
        bool found = vcm_git_pack_file_find(&offset, &file, id);
        /* The ids are sorted here, so both searches agree. */
        FUZZ_CHECK(found == vcm_git_pack_file_find_plain(&same, &file, id) && offset == same);
        FUZZ_CHECK(!found || !!vcm_git_pack_entry_fault(&file, offset) != has_end(&file, offset));
    }
    vcm_git_pack_file_close(&file);
    return 0;
}
