/*
 * fuzz_git_index.c - git's index: no entry that leads elsewhere, all in order, each found again.
 *
 * Input: an index; its checksum is replaced by the zeros that git writes instead of one.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "git/index.h"

#include "base/banned.h"

#define CHECKSUM_BYTES 20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(struct vcm_slice path)
{
    assert(path.len > 0 && path.data[0] != '/');
    assert(!memchr(path.data, '\0', path.len));
    assert(!memmem(path.data, path.len, "../", 3) || path.data[0] != '.');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char zeros[CHECKSUM_BYTES];
    struct vcm_git_index index;
    struct vcm_error err = {0};

    vcm_git_index_init(&index);
    if (size >= CHECKSUM_BYTES) {
        vcm_buf_append(&index.bytes, data, size - CHECKSUM_BYTES);
        vcm_buf_append(&index.bytes, zeros, sizeof zeros);
    }
    if (vcm_git_index_parse(&index, &err) == VCM_OK)
        for (size_t i = 0; i < index.count; i++) {
            const struct vcm_git_index_entry *entry = &index.entries[i];
            check_path(entry->path);
            size_t found = vcm_git_index_find(&index, entry->path);
            assert(found <= i && vcm_slice_equal(index.entries[found].path, entry->path));
            assert(entry->stage < 4);
        }
    else
        assert(err.code != VCM_OK);
    vcm_git_index_release(&index);
    return 0;
}
