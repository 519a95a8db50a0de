#include "git/pack_index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/wire.h"
#include "git/midx.h"

#include "base/banned.h"

#define SIGNATURE      "\377tOc"
#define MIDX           "multi-pack-index"
#define FAN_OUT        256
#define ID_BYTES       20
#define WORD_BYTES     4
#define TRAILER_BYTES  (2 * ID_BYTES) /* checksums of the pack and of the index */
#define PACK_HEADER    12
#define PACK_BYTES_MIN (PACK_HEADER + ID_BYTES)
#define IS_LARGE       0x80000000u
#define CHUNK_BYTES    (16 * VCM_KIB)
#define REMEMBERED     64
#define SETTLED_S      2 /* an older file gets another time when it changes again */

struct index {
    int fd;
    uint64_t bytes;
    uint64_t pack_bytes;
    bool has_header; /* version 2 */
    uint32_t count;
    uint64_t large_count;
};

static bool read_at(const struct index *index, void *out, size_t len, uint64_t at)
{
    return vcm_io_read_at(index->fd, out, len, at) == len;
}

static const char *check_fan_out(struct index *index)
{
    unsigned char table[FAN_OUT * WORD_BYTES] = {0};
    uint32_t before = 0;

    if (!read_at(index, table, sizeof table, index->has_header ? 2 * WORD_BYTES : 0))
        return "it is cut short";
    for (size_t i = 0; i < FAN_OUT; i++) {
        uint32_t count = vcm_wire_load_be32(table + i * WORD_BYTES);
        if (count < before)
            return "its fan-out goes back";
        before = count;
    }
    index->count = before;
    return NULL;
}

static const char *check_size(struct index *index)
{
    uint64_t count = index->count;
    uint64_t least = FAN_OUT * WORD_BYTES + TRAILER_BYTES;

    if (!index->has_header)
        return index->bytes == least + count * (ID_BYTES + WORD_BYTES)
                   ? NULL
                   : "its size is not that of its table";
    least += 2 * WORD_BYTES + count * (ID_BYTES + 2 * WORD_BYTES);
    uint64_t most = least + (count > 0 ? (count - 1) * 2 * WORD_BYTES : 0);
    if (index->bytes < least || index->bytes > most || (index->bytes - least) % 8 != 0)
        return "its size is not that of its tables";
    index->large_count = (index->bytes - least) / 8;
    return NULL;
}

/* An object has at least one byte, and the pack's checksum follows the last one. */
static bool is_in_pack(const struct index *index, uint64_t offset)
{
    return offset >= PACK_HEADER && offset < index->pack_bytes - ID_BYTES;
}

static const char *check_word(const struct index *index, uint32_t word)
{
    if (index->has_header && (word & IS_LARGE)) {
        if ((word & ~IS_LARGE) >= index->large_count)
            return "it leads outside its table of large offsets";
    } else if (!is_in_pack(index, word)) {
        return "it leads outside its pack";
    }
    return NULL;
}

static const char *check_large(const struct index *index, uint64_t at)
{
    unsigned char entry[2 * WORD_BYTES] = {0};

    for (uint64_t i = 0; i < index->large_count; i++, at += sizeof entry) {
        if (!read_at(index, entry, sizeof entry, at))
            return "it is cut short";
        uint64_t offset = vcm_wire_load_be64(entry);
        if (!is_in_pack(index, offset))
            return "it leads outside its pack";
    }
    return NULL;
}

/* Reads blocks, and does not map the file: an index can have hundreds of megabytes. */
static const char *check_offsets(const struct index *index)
{
    unsigned char chunk[CHUNK_BYTES] = {0};
    uint64_t stride = index->has_header ? WORD_BYTES : ID_BYTES + WORD_BYTES;
    uint64_t at = FAN_OUT * WORD_BYTES;
    uint64_t at_once = sizeof chunk / stride;
    const char *fault = NULL;

    if (index->has_header)
        at += 2 * WORD_BYTES + (uint64_t)index->count * (ID_BYTES + WORD_BYTES);
    for (uint64_t left = index->count; left > 0;) {
        uint64_t now = left < at_once ? left : at_once;
        if (!read_at(index, chunk, (size_t)(now * stride), at))
            return "it is cut short";
        for (uint64_t i = 0; i < now && !fault; i++)
            fault = check_word(index, vcm_wire_load_be32(chunk + i * stride));
        if (fault)
            return fault;
        at += now * stride;
        left -= now;
    }
    return check_large(index, at);
}

const char *vcm_git_pack_index_fault(int fd, uint64_t pack_bytes)
{
    struct index index = {.fd = fd, .pack_bytes = pack_bytes};
    unsigned char header[2 * WORD_BYTES] = {0};
    struct stat status;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return "it is no regular file";
    if (pack_bytes < PACK_BYTES_MIN)
        return "its pack is cut short";
    index.bytes = (uint64_t)status.st_size;
    if (!read_at(&index, header, sizeof header, 0))
        return "it is cut short";
    index.has_header = memcmp(header, SIGNATURE, WORD_BYTES) == 0;
    if (index.has_header && vcm_wire_load_be32(header + WORD_BYTES) != 2)
        return "its version is not known";
    const char *fault = check_fan_out(&index);
    if (!fault)
        fault = check_size(&index);
    return fault ? fault : check_offsets(&index);
}

/* An index that passed the check. */
struct sound {
    dev_t device;
    ino_t inode;
    uint64_t bytes, pack_bytes;
    struct timespec changed;
};

/* One list for the process, which opens a repository once for each of its threads. */
static pthread_mutex_t sound_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sound sound_ones[REMEMBERED];
static unsigned sound_count; /* number of entries ever added */

static bool is_same(const struct sound *a, const struct sound *b)
{
    return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes &&
           a->pack_bytes == b->pack_bytes && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

static bool is_remembered(const struct sound *index)
{
    bool found = false;

    pthread_mutex_lock(&sound_lock);
    for (unsigned i = 0; !found && i < sound_count && i < REMEMBERED; i++)
        found = is_same(&sound_ones[i], index);
    pthread_mutex_unlock(&sound_lock);
    return found;
}

static void remember(const struct sound *index)
{
    pthread_mutex_lock(&sound_lock);
    sound_ones[sound_count++ % REMEMBERED] = *index;
    pthread_mutex_unlock(&sound_lock);
}

/* The fault of an index in `directory`, over one pack of this size or over several that have this
 * size together. An index that passed before is not read again. */
static const char *fault_unless_remembered(int fd, int directory, bool is_midx, uint64_t pack_bytes)
{
    struct sound index = {.pack_bytes = pack_bytes};
    struct stat status;

    bool known = fstat(fd, &status) == 0;
    if (known) {
        index.device = status.st_dev;
        index.inode = status.st_ino;
        index.bytes = (uint64_t)status.st_size;
        index.changed = status.st_ctim;
    }
    if (known && is_remembered(&index))
        return NULL;
    const char *fault =
        is_midx ? vcm_git_midx_fault(fd, directory) : vcm_git_pack_index_fault(fd, pack_bytes);
    if (!fault && known && time(NULL) - index.changed.tv_sec > SETTLED_S)
        remember(&index);
    return fault;
}

/* The size of the pack that belongs to "x.idx"; false when there is none: then libgit2 does not
 * read the index. */
static bool find_pack(uint64_t *bytes, int directory, const char *index_name)
{
    struct vcm_buf name = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct stat status;

    vcm_buf_append(&name, index_name, strlen(index_name) - 4);
    vcm_buf_append_string(&name, ".pack");
    bool found = fstatat(directory, vcm_buf_text(&name), &status, 0) == 0;
    *bytes = found ? (uint64_t)status.st_size : 0;
    vcm_buf_release(&name);
    return found;
}

static int check_file(int directory, const char *name, bool is_midx, uint64_t pack_bytes,
                      const char *objects, struct vcm_error *err)
{
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return VCM_OK; /* deleted since, or not readable: then libgit2 cannot read it either */
    const char *fault = fault_unless_remembered(fd, directory, is_midx, pack_bytes);
    close(fd);
    if (!fault)
        return VCM_OK;
    return vcm_error_set(err, VCM_IO_ERROR,
                         "the pack index '%s/pack/%s' is damaged (%s); build it again with git %s, "
                         "or fetch the repository again",
                         objects, name, fault, is_midx ? MIDX " write" : "index-pack");
}

/* Adds the size of the pack. */
static int check_entry(uint64_t *all_bytes, int directory, const char *name, const char *objects,
                       struct vcm_error *err)
{
    size_t len = strlen(name);
    uint64_t pack_bytes = 0;

    if (len <= 4 || strcmp(name + len - 4, ".idx") != 0 || !find_pack(&pack_bytes, directory, name))
        return VCM_OK;
    *all_bytes += pack_bytes;
    return check_file(directory, name, false, pack_bytes, objects, err);
}

int vcm_git_pack_index_check(const char *objects, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    unsigned left = VCM_LIMIT_PACKS;
    uint64_t all_bytes = 0;
    struct dirent *entry;
    int rc = VCM_OK;

    vcm_buf_append_format(&path, "%s/pack", objects);
    DIR *directory = opendir(vcm_buf_text(&path));
    vcm_buf_release(&path);
    if (!directory)
        return VCM_OK;
    while (rc == VCM_OK && (entry = readdir(directory)))
        rc = left-- > 0 ? check_entry(&all_bytes, dirfd(directory), entry->d_name, objects, err)
                        : vcm_error_set(err, VCM_UNSUPPORTED, "'%s' holds too many packs", objects);
    if (rc == VCM_OK)
        rc = check_file(dirfd(directory), MIDX, true, all_bytes, objects, err);
    closedir(directory);
    return rc;
}
