#include "git/pack_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/wire.h"

#include "base/banned.h"

#define ID_BYTES      20
#define WORD_BYTES    4
#define HEADER_BYTES  8  /* of an index of version 2 */
#define PACK_HEADER   12 /* signature, version, number of objects */
#define TRAILER_BYTES (2 * ID_BYTES)
#define IS_LARGE      0x80000000u
#define FAN_OUT_BYTES (VCM_GIT_PACK_FAN_OUT * WORD_BYTES)
#define IDS_AT        (HEADER_BYTES + FAN_OUT_BYTES)
#define STRIDE_MAX    (ID_BYTES + WORD_BYTES)
/* Ids are evenly distributed, so one is found by reading this many around its expected position. */
#define IDS_AT_ONCE 64u

static bool read_all(int fd, void *out, size_t len, uint64_t at)
{
    return vcm_io_read_at(fd, out, len, at) == len;
}

static bool size_of(uint64_t *bytes, int fd)
{
    struct stat status;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < 0)
        return false;
    *bytes = (uint64_t)status.st_size;
    return true;
}

static uint32_t object_count(const struct vcm_git_pack_file *file)
{
    return file->fan_out[VCM_GIT_PACK_FAN_OUT - 1];
}

static bool open_index(struct vcm_git_pack_file *file)
{
    unsigned char head[IDS_AT] = {0};
    const unsigned char *table = head;

    if (!size_of(&file->index_bytes, file->index_fd) ||
        !read_all(file->index_fd, head, sizeof head, 0))
        return false;
    /* In version 1, which has no header, the offset stands before each id. */
    file->ids_at = FAN_OUT_BYTES + WORD_BYTES;
    file->stride = STRIDE_MAX;
    if (memcmp(head, "\377tOc\0\0\0\2", HEADER_BYTES) == 0) {
        table += HEADER_BYTES;
        file->ids_at = IDS_AT;
        file->stride = ID_BYTES;
    }
    for (size_t i = 0; i < VCM_GIT_PACK_FAN_OUT; i++) {
        file->fan_out[i] = vcm_wire_load_be32(table + i * WORD_BYTES);
        if (i > 0 && file->fan_out[i] < file->fan_out[i - 1])
            return false;
    }
    uint64_t each = file->stride == STRIDE_MAX ? STRIDE_MAX : ID_BYTES + 2 * WORD_BYTES;
    uint64_t least = (uint64_t)(table - head) + FAN_OUT_BYTES + TRAILER_BYTES +
                     (uint64_t)object_count(file) * each;
    return file->index_bytes >= least;
}

static bool open_pack(struct vcm_git_pack_file *file)
{
    unsigned char head[PACK_HEADER] = {0};
    uint64_t bytes = 0;

    if (!size_of(&bytes, file->pack_fd) || bytes < PACK_HEADER + ID_BYTES ||
        !read_all(file->pack_fd, head, sizeof head, 0))
        return false;
    file->end = bytes - ID_BYTES;
    return (memcmp(head, "PACK\0\0\0\2", 2 * WORD_BYTES) == 0 ||
            memcmp(head, "PACK\0\0\0\3", 2 * WORD_BYTES) == 0) &&
           vcm_wire_load_be32(head + 2 * WORD_BYTES) == object_count(file);
}

bool vcm_git_pack_file_open(struct vcm_git_pack_file *file, int index_fd, int pack_fd)
{
    memset(file, 0, sizeof *file);
    file->index_fd = index_fd;
    file->pack_fd = pack_fd;
    if (index_fd >= 0 && pack_fd >= 0 && open_index(file) && open_pack(file))
        return true;
    vcm_git_pack_file_close(file);
    return false;
}

void vcm_git_pack_file_close(struct vcm_git_pack_file *file)
{
    if (file->index_fd >= 0)
        close(file->index_fd);
    if (file->pack_fd >= 0)
        close(file->pack_fd);
    file->index_fd = file->pack_fd = -1;
}

static bool offset_of(uint64_t *offset, const struct vcm_git_pack_file *file, uint32_t number)
{
    uint64_t count = object_count(file);
    uint64_t at = IDS_AT + count * (ID_BYTES + WORD_BYTES) + (uint64_t)number * WORD_BYTES;
    unsigned char entry[2 * WORD_BYTES] = {0};
    bool is_old = file->stride == STRIDE_MAX;

    if (is_old)
        at = file->ids_at - WORD_BYTES + (uint64_t)number * STRIDE_MAX;
    if (!read_all(file->index_fd, entry, WORD_BYTES, at))
        return false;
    uint64_t found = vcm_wire_load_be32(entry);
    if (!is_old && found & IS_LARGE) {
        at = IDS_AT + count * (ID_BYTES + 2 * WORD_BYTES) + (found & ~IS_LARGE) * sizeof entry;
        if (at + sizeof entry > file->index_bytes - TRAILER_BYTES ||
            !read_all(file->index_fd, entry, sizeof entry, at))
            return false;
        found = vcm_wire_load_be64(entry);
    }
    *offset = found;
    return found >= PACK_HEADER && found < file->end;
}

/* Where to read next: around the expected position at first, later in the middle of the rest. */
static uint32_t choose(uint32_t low, uint32_t high, const unsigned char *id, bool first)
{
    uint32_t span = high - low;
    uint32_t middle = low + span / 2;

    if (first)
        middle = low + (uint32_t)((uint64_t)span * vcm_wire_load_be32(id + 1) >> 32);
    uint32_t from = middle > low + IDS_AT_ONCE / 2 ? middle - IDS_AT_ONCE / 2 : low;
    return high - from > IDS_AT_ONCE ? from : high - IDS_AT_ONCE;
}

/* How many of the ids, which are sorted, are below this one. */
static uint32_t count_below(const unsigned char *ids, uint32_t count, uint32_t stride,
                            const unsigned char *id)
{
    uint32_t first = 0;

    while (count > 0) {
        uint32_t half = count / 2;
        bool below = memcmp(ids + (size_t)(first + half) * stride, id, ID_BYTES) < 0;
        first = below ? first + half + 1 : first;
        count = below ? count - half - 1 : half;
    }
    return first;
}

bool vcm_git_pack_file_find(uint64_t *offset, const struct vcm_git_pack_file *file,
                            const unsigned char *id)
{
    unsigned char ids[IDS_AT_ONCE * STRIDE_MAX] = {0};
    uint32_t low = id[0] > 0 ? file->fan_out[id[0] - 1] : 0;
    uint32_t high = file->fan_out[id[0]];

    for (bool first = true; low < high; first = false) {
        uint32_t now = high - low < IDS_AT_ONCE ? high - low : IDS_AT_ONCE;
        uint32_t from = now == high - low ? low : choose(low, high, id, first);
        /* Up to the end of the last id: in version 1 an offset precedes each. */
        if (!read_all(file->index_fd, ids, (size_t)(now - 1) * file->stride + ID_BYTES,
                      file->ids_at + (uint64_t)from * file->stride))
            return false;
        uint32_t i = count_below(ids, now, file->stride, id);
        if (i < now && memcmp(id, ids + (size_t)i * file->stride, ID_BYTES) == 0)
            return offset_of(offset, file, from + i);
        if (i > 0 && i < now)
            return false;
        if (i == 0)
            high = from;
        else
            low = from + now;
    }
    return false;
}

bool vcm_git_pack_file_find_plain(uint64_t *offset, const struct vcm_git_pack_file *file,
                                  const unsigned char *id)
{
    unsigned char found[ID_BYTES] = {0};
    uint32_t low = id[0] > 0 ? file->fan_out[id[0] - 1] : 0;
    uint32_t high = file->fan_out[id[0]];
    int order = 1;

    while (low < high && order != 0) {
        uint32_t middle = low + (high - low) / 2;
        if (!read_all(file->index_fd, found, sizeof found,
                      file->ids_at + (uint64_t)middle * file->stride))
            return false;
        order = memcmp(found, id, ID_BYTES);
        if (order > 0)
            high = middle;
        else
            low = order < 0 ? middle + 1 : middle;
    }
    /* libgit2 also looks at the place where the id would be. */
    if (order != 0)
        order = low < object_count(file) && read_all(file->index_fd, found, sizeof found,
                                                     file->ids_at + (uint64_t)low * file->stride)
                    ? memcmp(found, id, ID_BYTES)
                    : 1;
    return order == 0 && offset_of(offset, file, low);
}

size_t vcm_git_pack_file_read(const struct vcm_git_pack_file *file, void *out, size_t len,
                              uint64_t offset)
{
    if (offset < PACK_HEADER || offset >= file->end)
        return 0;
    if (len > file->end - offset)
        len = (size_t)(file->end - offset);
    return vcm_io_read_at(file->pack_fd, out, len, offset);
}
