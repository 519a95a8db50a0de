/*
 * fuzz_lfs_pointer.c - a pointer that is accepted, written again, says the same.
 *
 * The first byte is left out, so that no file of the corpus is itself taken for a pointer.
 */
#include "fuzz/check.h"
#include "lfs/pointer.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_buf again = VCM_BUF_INIT(2 * VCM_LFS_POINTER_BYTES_MAX);
    struct vcm_lfs_pointer pointer, same;

    if (size == 0)
        return 0;
    data++;
    size--;
    if (vcm_lfs_pointer_parse(&pointer, vcm_slice_of(data, size))) {
        FUZZ_CHECK(size <= VCM_LFS_POINTER_BYTES_MAX);
        vcm_lfs_pointer_put(&again, &pointer);
        FUZZ_CHECK(vcm_lfs_pointer_parse(&same, vcm_buf_slice(&again)));
        FUZZ_CHECK(same.size == pointer.size && same.extensions == 0);
        FUZZ_CHECK(memcmp(same.oid, pointer.oid, sizeof same.oid) == 0);
    }
    vcm_buf_release(&again);
    return 0;
}
