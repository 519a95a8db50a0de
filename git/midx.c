#include "git/midx.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/wire.h"

#include "base/banned.h"

#define SIGNATURE    "MIDX"
#define HEADER_BYTES 12
#define CHUNK_BYTES  12 /* of an entry in the table of chunks */
#define FAN_OUT      256
#define ID_BYTES     20
#define PACK_HEADER  12
#define IS_LARGE     UINT32_C(0x80000000)
#define AT_ONCE      4096 /* objects */

#define CHUNK_NAMES   UINT32_C(0x504e414d) /* "PNAM" */
#define CHUNK_FAN_OUT UINT32_C(0x4f494446) /* "OIDF" */
#define CHUNK_OFFSETS UINT32_C(0x4f4f4646) /* "OOFF" */
#define CHUNK_LARGE   UINT32_C(0x4c4f4646) /* "LOFF" */

struct chunk {
    uint64_t at, bytes;
};

struct midx {
    int fd;
    uint64_t bytes;
    uint32_t pack_count, count; /* of objects */
    uint64_t *pack_bytes;       /* UINT64_MAX for a pack that is not there */
    struct chunk names, fan_out, offsets, large;
};

static bool read_at(const struct midx *midx, void *out, size_t len, uint64_t at)
{
    return at <= midx->bytes && len <= midx->bytes - at &&
           vcm_io_read_at(midx->fd, out, len, at) == len;
}

static struct chunk *chunk_of(struct midx *midx, uint32_t id)
{
    switch (id) {
    case CHUNK_NAMES:
        return &midx->names;
    case CHUNK_FAN_OUT:
        return &midx->fan_out;
    case CHUNK_OFFSETS:
        return &midx->offsets;
    case CHUNK_LARGE:
        return &midx->large;
    default:
        return NULL;
    }
}

/* A chunk ends where the next one begins; the last entry of the table only marks the end. */
static const char *find_chunks(struct midx *midx, unsigned count)
{
    unsigned char entry[2 * CHUNK_BYTES] = {0};

    for (unsigned i = 0; i < count; i++) {
        if (!read_at(midx, entry, sizeof entry, HEADER_BYTES + (uint64_t)i * CHUNK_BYTES))
            return "it is cut short";
        uint64_t begin = vcm_wire_load_be64(entry + 4),
                 end = vcm_wire_load_be64(entry + CHUNK_BYTES + 4);
        if (begin > end || end > midx->bytes - ID_BYTES)
            return "its chunks lead outside";
        struct chunk *chunk = chunk_of(midx, vcm_wire_load_be32(entry));
        if (chunk)
            *chunk = (struct chunk){begin, end - begin};
    }
    return NULL;
}

static const char *read_head(struct midx *midx)
{
    unsigned char head[HEADER_BYTES] = {0}, last[4] = {0};
    uint64_t fan_out = FAN_OUT * sizeof last;

    if (midx->bytes < HEADER_BYTES + ID_BYTES || !read_at(midx, head, sizeof head, 0))
        return "it is cut short";
    if (memcmp(head, SIGNATURE, 4) != 0 || head[4] != 1 || head[5] != 1)
        return "its version is not known";
    midx->pack_count = vcm_wire_load_be32(head + 8);
    if (midx->pack_count > VCM_LIMIT_PACKS)
        return "it names too many packs";
    const char *fault = find_chunks(midx, head[6]);
    if (fault)
        return fault;
    if (midx->fan_out.bytes != fan_out ||
        !read_at(midx, last, sizeof last, midx->fan_out.at + fan_out - sizeof last))
        return "it has no fan-out";
    midx->count = vcm_wire_load_be32(last);
    return midx->offsets.bytes == (uint64_t)midx->count * 8 ? NULL : "its tables do not fit";
}

/* The size of "pack-x.pack" for the name "pack-x.idx"; UINT64_MAX when there is none. */
static uint64_t size_of_pack(int directory, const char *index_name)
{
    struct vcm_buf name = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    size_t len = strlen(index_name);
    struct stat status;

    bool is_index = len > 4 && strcmp(index_name + len - 4, ".idx") == 0;
    vcm_buf_append(&name, index_name, is_index ? len - 4 : len);
    vcm_buf_append_string(&name, ".pack");
    bool found = fstatat(directory, vcm_buf_text(&name), &status, 0) == 0;
    vcm_buf_release(&name);
    return found ? (uint64_t)status.st_size : UINT64_MAX;
}

static const char *find_packs(struct midx *midx, int directory)
{
    const uint64_t longest = (uint64_t)midx->pack_count * VCM_LIMIT_PATH_BYTES;
    const char *fault = NULL;

    if (midx->names.bytes > longest)
        return "its names of packs are too long";
    char *names = calloc(midx->names.bytes + 1, 1), *name = names;
    midx->pack_bytes = calloc((size_t)midx->pack_count + 1, sizeof *midx->pack_bytes);
    if (!names || !midx->pack_bytes)
        fault = "there is no memory to read it";
    else if (!read_at(midx, names, (size_t)midx->names.bytes, midx->names.at))
        fault = "it is cut short";
    for (uint32_t i = 0; !fault && i < midx->pack_count; i++) {
        if (name >= names + midx->names.bytes)
            fault = "it does not name its packs";
        else
            midx->pack_bytes[i] = size_of_pack(directory, name);
        name += fault ? 0 : strlen(name) + 1;
    }
    free(names);
    return fault;
}

static bool is_in_pack(const struct midx *midx, uint32_t pack, uint64_t offset)
{
    uint64_t bytes = midx->pack_bytes[pack];

    return offset >= PACK_HEADER && bytes > ID_BYTES && offset < bytes - ID_BYTES;
}

static const char *check_entry(const struct midx *midx, const unsigned char *entry)
{
    uint32_t pack = vcm_wire_load_be32(entry), word = vcm_wire_load_be32(entry + 4);
    unsigned char large[8] = {0};
    uint64_t offset = word;

    if (pack >= midx->pack_count)
        return "it leads to a pack that it does not name";
    if ((word & IS_LARGE) && midx->large.bytes > 0) {
        uint64_t place = word & ~IS_LARGE;
        if (place >= midx->large.bytes / sizeof large ||
            !read_at(midx, large, sizeof large, midx->large.at + place * sizeof large))
            return "it leads outside its table of large offsets";
        offset = vcm_wire_load_be64(large);
    }
    return is_in_pack(midx, pack, offset) ? NULL : "it leads outside a pack";
}

/* Reads blocks, and does not map the file: it can have hundreds of megabytes. */
static const char *check_offsets(const struct midx *midx)
{
    static const size_t entry_bytes = 8;
    unsigned char *entries = malloc(AT_ONCE * entry_bytes);
    const char *fault = entries ? NULL : "there is no memory to read it";

    for (uint32_t i = 0; !fault && i < midx->count;) {
        uint32_t now = midx->count - i < AT_ONCE ? midx->count - i : AT_ONCE;
        if (!read_at(midx, entries, now * entry_bytes, midx->offsets.at + i * entry_bytes))
            fault = "it is cut short";
        for (uint32_t k = 0; !fault && k < now; k++)
            fault = check_entry(midx, entries + k * entry_bytes);
        i += now;
    }
    free(entries);
    return fault;
}

const char *vcm_git_midx_fault(int fd, int directory)
{
    struct midx midx = {.fd = fd};
    struct stat status;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return "it is no regular file";
    midx.bytes = (uint64_t)status.st_size;
    const char *fault = read_head(&midx);
    if (!fault)
        fault = find_packs(&midx, directory);
    if (!fault)
        fault = check_offsets(&midx);
    free(midx.pack_bytes);
    return fault;
}
