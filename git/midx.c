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
#define CHUNK_IDS     UINT32_C(0x4f49444c) /* "OIDL" */
#define CHUNK_OFFSETS UINT32_C(0x4f4f4646) /* "OOFF" */
#define CHUNK_LARGE   UINT32_C(0x4c4f4646) /* "LOFF" */

static bool read_at(const struct vcm_git_midx *midx, void *out, size_t len, uint64_t at)
{
    return at <= midx->bytes && len <= midx->bytes - at &&
           vcm_io_read_at(midx->fd, out, len, at) == len;
}

static struct vcm_git_midx_chunk *chunk_of(struct vcm_git_midx *midx, uint32_t id)
{
    switch (id) {
    case CHUNK_NAMES:
        return &midx->names;
    case CHUNK_FAN_OUT:
        return &midx->fan_out;
    case CHUNK_IDS:
        return &midx->ids;
    case CHUNK_OFFSETS:
        return &midx->offsets;
    case CHUNK_LARGE:
        return &midx->large;
    default:
        return NULL;
    }
}

/* A chunk ends where the next one begins; the last entry of the table only marks the end. */
static const char *find_chunks(struct vcm_git_midx *midx, unsigned count)
{
    unsigned char entry[2 * CHUNK_BYTES] = {0};

    for (unsigned i = 0; i < count; i++) {
        if (!read_at(midx, entry, sizeof entry, HEADER_BYTES + (uint64_t)i * CHUNK_BYTES))
            return "it is cut short";
        uint64_t begin = vcm_wire_load_be64(entry + 4),
                 end = vcm_wire_load_be64(entry + CHUNK_BYTES + 4);
        if (begin > end || end > midx->bytes - ID_BYTES)
            return "its chunks lead outside";
        struct vcm_git_midx_chunk *chunk = chunk_of(midx, vcm_wire_load_be32(entry));
        if (chunk)
            *chunk = (struct vcm_git_midx_chunk){begin, end - begin};
    }
    return NULL;
}

static const char *read_head(struct vcm_git_midx *midx)
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
    return midx->offsets.bytes == (uint64_t)midx->count * 8 &&
                   midx->ids.bytes == (uint64_t)midx->count * ID_BYTES
               ? NULL
               : "its tables do not fit";
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

/* Reads the names, and finds where each begins. */
static const char *read_names(struct vcm_git_midx *midx)
{
    const uint64_t longest = (uint64_t)midx->pack_count * VCM_LIMIT_PATH_BYTES;

    if (midx->names.bytes > longest)
        return "its names of packs are too long";
    midx->text = calloc(midx->names.bytes + 1, 1);
    midx->packs = calloc((size_t)midx->pack_count + 1, sizeof *midx->packs);
    if (!midx->text || !midx->packs)
        return "there is no memory to read it";
    if (!read_at(midx, midx->text, (size_t)midx->names.bytes, midx->names.at))
        return "it is cut short";
    const char *name = midx->text;
    for (uint32_t i = 0; i < midx->pack_count; i++) {
        if (name >= midx->text + midx->names.bytes)
            return "it does not name its packs";
        if (strchr(name, '/'))
            return "it names packs elsewhere";
        midx->packs[i].name = name;
        name += strlen(name) + 1;
    }
    return NULL;
}

static bool is_in_pack(const struct vcm_git_midx *midx, uint32_t pack, uint64_t offset)
{
    uint64_t bytes = midx->packs[pack].bytes;

    return offset >= PACK_HEADER && bytes > ID_BYTES && offset < bytes - ID_BYTES;
}

/* The pack and the offset in it that an entry of the table tells. */
static const char *read_entry(uint32_t *pack, uint64_t *offset, const struct vcm_git_midx *midx,
                              const unsigned char *entry)
{
    uint32_t word = vcm_wire_load_be32(entry + 4);
    unsigned char large[8] = {0};

    *pack = vcm_wire_load_be32(entry);
    *offset = word;
    if (*pack >= midx->pack_count)
        return "it leads to a pack that it does not name";
    if ((word & IS_LARGE) && midx->large.bytes > 0) {
        uint64_t place = word & ~IS_LARGE;
        if (place >= midx->large.bytes / sizeof large ||
            !read_at(midx, large, sizeof large, midx->large.at + place * sizeof large))
            return "it leads outside its table of large offsets";
        *offset = vcm_wire_load_be64(large);
    }
    return NULL;
}

static const char *check_entry(const struct vcm_git_midx *midx, const unsigned char *entry)
{
    uint64_t offset = 0;
    uint32_t pack = 0;

    const char *fault = read_entry(&pack, &offset, midx, entry);
    if (fault)
        return fault;
    return is_in_pack(midx, pack, offset) ? NULL : "it leads outside a pack";
}

/* Reads blocks, and does not map the file: it can have hundreds of megabytes. */
static const char *check_offsets(const struct vcm_git_midx *midx)
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

static const char *read_tables(struct vcm_git_midx *midx, int fd)
{
    struct stat status;

    *midx = (struct vcm_git_midx){.fd = fd};
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return "it is no regular file";
    midx->bytes = (uint64_t)status.st_size;
    const char *fault = read_head(midx);
    return fault ? fault : read_names(midx);
}

static void free_tables(struct vcm_git_midx *midx)
{
    free(midx->text);
    free(midx->packs);
}

const char *vcm_git_midx_fault(int fd, int directory)
{
    struct vcm_git_midx midx;

    const char *fault = read_tables(&midx, fd);
    for (uint32_t i = 0; !fault && i < midx.pack_count; i++)
        midx.packs[i].bytes = size_of_pack(directory, midx.packs[i].name);
    if (!fault)
        fault = check_offsets(&midx);
    free_tables(&midx);
    return fault;
}

bool vcm_git_midx_open(struct vcm_git_midx *midx, int fd)
{
    if (!read_tables(midx, fd))
        return true;
    vcm_git_midx_close(midx);
    return false;
}

void vcm_git_midx_close(struct vcm_git_midx *midx)
{
    if (midx->fd >= 0)
        close(midx->fd);
    free_tables(midx);
    *midx = (struct vcm_git_midx){.fd = -1};
}

bool vcm_git_midx_find(const char **index_name, uint64_t *offset, const struct vcm_git_midx *midx,
                       const unsigned char *id)
{
    unsigned char bounds[8] = {0}, found[ID_BYTES] = {0}, entry[8] = {0};
    uint64_t table = midx->fan_out.at + (id[0] > 0 ? 4 * (uint64_t)(id[0] - 1) : 0);
    uint32_t pack = 0;

    if (!read_at(midx, bounds, id[0] > 0 ? sizeof bounds : 4, table))
        return false;
    uint64_t low = id[0] > 0 ? vcm_wire_load_be32(bounds) : 0;
    uint64_t high = vcm_wire_load_be32(bounds + (id[0] > 0 ? 4 : 0));
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (!read_at(midx, found, sizeof found, midx->ids.at + middle * ID_BYTES))
            return false;
        int order = memcmp(found, id, ID_BYTES);
        if (order == 0) {
            low = middle;
            break;
        }
        if (order > 0)
            high = middle;
        else
            low = middle + 1;
    }
    if (low >= midx->count || !read_at(midx, found, sizeof found, midx->ids.at + low * ID_BYTES) ||
        memcmp(found, id, ID_BYTES) != 0 ||
        !read_at(midx, entry, sizeof entry, midx->offsets.at + low * sizeof entry) ||
        read_entry(&pack, offset, midx, entry))
        return false;
    *index_name = midx->packs[pack].name;
    return true;
}
