/*
 * fuzz_pack_index.c - an index that pack_index.c lets pass leads nowhere outside itself or its
 * pack, by a second and simpler reading of its tables.
 *
 * The first four bytes of the input are the size of the pack; the rest is the index.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/check.h"
#include "git/pack_index.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t number(const uint8_t *bytes, unsigned width)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < width; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* What a reader that trusts the index does for every object of it. */
static void read_all(const uint8_t *index, size_t size, uint64_t pack_bytes)
{
    bool second = memcmp(index, "\377tOc", 4) == 0;
    const uint8_t *fan_out = index + (second ? 8 : 0);
    uint64_t count = number(fan_out + 1020, 4);
    const uint8_t *ids = fan_out + 1024;
    const uint8_t *offsets = second ? ids + count * 24 : ids;
    const uint8_t *large = offsets + count * 4;

    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *at = offsets + i * (second ? 4 : 24);
        FUZZ_CHECK(at + 4 <= index + size - 40);
        uint64_t offset = number(at, 4);
        if (second && offset >= 0x80000000u) {
            at = large + 8 * (offset - 0x80000000u);
            FUZZ_CHECK(at + 8 <= index + size - 40);
            offset = number(at, 8);
        }
        FUZZ_CHECK(offset < pack_bytes - 20);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;

    if (size < 4)
        return 0;
    if (fd < 0)
        fd = memfd_create("index", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
    uint64_t pack_bytes = number(data, 4);
    FUZZ_CHECK(pwrite(fd, data + 4, size - 4, 0) == (ssize_t)(size - 4));
    if (!vcm_git_pack_index_fault(fd, pack_bytes))
        read_all(data + 4, size - 4, pack_bytes);
    return 0;
}
