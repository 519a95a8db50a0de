#include "git/pack_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "git/base_cache.h"
#include "git/delta.h"
#include "git/pack_entry.h"
#include "git/pack_file.h"

#include "base/banned.h"

#define PACKS_MAX    8u
#define WINDOW_BYTES (4 * VCM_KIB)  /* smallest read */
#define KEEP_BYTES   (1 * VCM_MIB)  /* a longer window is freed after use */
#define DELTAS_BYTES (16 * VCM_MIB) /* of one chain */
/* Bytes of all results along one chain: a short pack can claim any amount. */
#define CHAIN_BYTES (1 * VCM_GIB)

/* A delta of the chain to the object. */
struct step {
    uint64_t offset; /* of the object that the delta gives */
    size_t at, len;  /* in reader->deltas */
};

struct vcm_git_pack_reader {
    struct vcm_git_pack_file packs[PACKS_MAX];
    unsigned pack_count;
    struct libdeflate_decompressor *inflater;
    struct vcm_git_base_cache *bases;
    unsigned char *window; /* the bytes of a pack that were read last */
    size_t window_capacity;
    size_t window_len;
    unsigned window_pack;
    uint64_t window_at;
    struct vcm_buf deltas; /* of the current chain */
    unsigned step_count;
    struct step steps[VCM_GIT_PACK_CHAIN_MAX];
};

/* Bytes of the pack from `offset` on: `len` of them, or as many as there are. */
static struct vcm_slice look(struct vcm_git_pack_reader *reader, unsigned pack, uint64_t offset,
                             size_t len)
{
    if (reader->window_pack != pack || offset < reader->window_at ||
        offset - reader->window_at + len > reader->window_len) {
        size_t want = len > WINDOW_BYTES ? len : WINDOW_BYTES;
        if (want > reader->window_capacity) {
            free(reader->window);
            reader->window = malloc(want);
            reader->window_capacity = reader->window ? want : 0;
        }
        if (want > reader->window_capacity)
            want = 0;
        reader->window_pack = pack;
        reader->window_at = offset;
        reader->window_len =
            vcm_git_pack_file_read(&reader->packs[pack], reader->window, want, offset);
    }
    if (!reader->window)
        return vcm_slice_of(NULL, 0);
    size_t skipped = (size_t)(offset - reader->window_at);
    return vcm_slice_of(reader->window + skipped, reader->window_len - skipped);
}

static bool parse_entry(struct vcm_git_pack_entry *out, struct vcm_git_pack_reader *reader,
                        unsigned pack, uint64_t offset)
{
    struct vcm_slice bytes = look(reader, pack, offset, VCM_GIT_PACK_ENTRY_BYTES);

    return vcm_git_pack_entry_parse(out, &reader->packs[pack], vcm_git_pack_file_find, bytes,
                                    offset) &&
           out->size <= VCM_LIMIT_FILE_BYTES &&
           (out->type == VCM_GIT_PACK_BLOB || out->type == VCM_GIT_PACK_OFFSET_DELTA ||
            out->type == VCM_GIT_PACK_ID_DELTA);
}

/* Writes entry->size bytes to `out`. The length of the stream is not recorded: most streams have at
 * most half the size of their content, and none that zlib writes is longer than `most`. */
static bool inflate_entry(char *out, struct vcm_git_pack_reader *reader, unsigned pack,
                          const struct vcm_git_pack_entry *entry)
{
    size_t size = (size_t)entry->size;
    size_t most = size + size / 32 + 64;
    size_t tries[] = {size / 2 < most ? size / 2 : most, most};

    for (unsigned i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        struct vcm_slice bytes = look(reader, pack, entry->data_at, tries[i]);
        if (bytes.len > 0 && libdeflate_zlib_decompress(reader->inflater, bytes.data, bytes.len,
                                                        out, size, NULL) == LIBDEFLATE_SUCCESS)
            return true;
        if (bytes.len >= most)
            return false;
    }
    return false;
}

static bool add_step(struct vcm_git_pack_reader *reader, unsigned pack, uint64_t offset,
                     const struct vcm_git_pack_entry *entry)
{
    if (reader->step_count == VCM_GIT_PACK_CHAIN_MAX)
        return false;
    struct step *step = &reader->steps[reader->step_count++];
    *step = (struct step){offset, reader->deltas.len, (size_t)entry->size};
    char *to = vcm_buf_reserve(&reader->deltas, step->len);
    if (!to || !inflate_entry(to, reader, pack, entry))
        return false;
    vcm_buf_advance(&reader->deltas, step->len);
    return true;
}

/* Follows the deltas until an object that is stored whole (then `entry` describes it) or one in the
 * cache (then it is in `base`). */
static bool follow_chain(struct vcm_git_pack_entry *entry, struct vcm_slice *base, uint64_t *offset,
                         struct vcm_git_pack_reader *reader, unsigned pack)
{
    vcm_buf_clear(&reader->deltas);
    reader->step_count = 0;
    for (;;) {
        *base = vcm_git_base_cache_get(reader->bases, pack, *offset);
        if (base->data)
            return true;
        if (!parse_entry(entry, reader, pack, *offset))
            return false;
        if (entry->type == VCM_GIT_PACK_BLOB)
            return true;
        if (!add_step(reader, pack, *offset, entry))
            return false;
        *offset = entry->base_at;
    }
}

static struct vcm_slice delta_of(const struct vcm_git_pack_reader *reader, const struct step *step)
{
    return vcm_slice_of(reader->deltas.data + step->at, step->len);
}

/* Applies the deltas of the chain. The last result goes to `out`, which has room for it; the others
 * are cached. */
static bool apply_chain(char *out, struct vcm_git_pack_reader *reader, unsigned pack,
                        struct vcm_slice base, char *own, uint64_t offset)
{
    uint64_t left = CHAIN_BYTES;
    bool sound = true;

    for (unsigned i = reader->step_count; sound && i-- > 0;) {
        const struct step *step = &reader->steps[i];
        struct vcm_git_delta delta;
        char *made = NULL;
        sound = vcm_git_delta_parse(&delta, delta_of(reader, step)) &&
                delta.result_bytes <= VCM_LIMIT_FILE_BYTES && delta.result_bytes <= left;
        if (sound) {
            left -= delta.result_bytes;
            made = i > 0 ? malloc((size_t)delta.result_bytes + 1) : NULL;
            sound = (i == 0 || made) && vcm_git_delta_apply(i > 0 ? made : out, &delta, base);
        }
        if (sound && own)
            vcm_git_base_cache_put(reader->bases, pack, offset, own, base.len);
        else
            free(own);
        own = made;
        offset = step->offset;
        base = vcm_slice_of(made, sound ? (size_t)delta.result_bytes : 0);
    }
    free(own);
    return sound;
}

/* The size of the last object of the chain. */
static bool size_of_object(uint64_t *size, const struct vcm_git_pack_reader *reader,
                           const struct vcm_git_pack_entry *entry, struct vcm_slice base)
{
    struct vcm_git_delta delta;

    if (reader->step_count == 0)
        *size = base.data ? base.len : entry->size;
    else if (vcm_git_delta_parse(&delta, delta_of(reader, &reader->steps[0])))
        *size = delta.result_bytes;
    else
        return false;
    return *size <= VCM_LIMIT_FILE_BYTES;
}

static bool make_object(char *out, struct vcm_git_pack_reader *reader, unsigned pack,
                        const struct vcm_git_pack_entry *entry, struct vcm_slice base,
                        uint64_t offset)
{
    char *own = NULL;

    if (reader->step_count == 0 && base.data) {
        memcpy(out, base.data, base.len);
        return true;
    }
    if (reader->step_count == 0)
        return inflate_entry(out, reader, pack, entry);
    if (!base.data) {
        own = malloc((size_t)entry->size + 1);
        if (!own || !inflate_entry(own, reader, pack, entry)) {
            free(own);
            return false;
        }
        base = vcm_slice_of(own, (size_t)entry->size);
    }
    return apply_chain(out, reader, pack, base, own, offset);
}

static bool read_at(struct vcm_buf *out, uint64_t *size, struct vcm_git_pack_reader *reader,
                    unsigned pack, uint64_t offset, uint64_t size_max)
{
    struct vcm_slice base = {NULL, 0};
    struct vcm_git_pack_entry entry = {0};

    if (!follow_chain(&entry, &base, &offset, reader, pack) ||
        !size_of_object(size, reader, &entry, base))
        return false;
    if (*size > size_max)
        return true;
    char *to = vcm_buf_reserve(out, (size_t)*size);
    if (!to || !make_object(to, reader, pack, &entry, base, offset))
        return false;
    vcm_buf_advance(out, (size_t)*size);
    return true;
}

bool vcm_git_pack_reader_read(struct vcm_buf *out, uint64_t *size,
                              struct vcm_git_pack_reader *reader, const struct vcm_git_id *id,
                              uint64_t size_max)
{
    uint64_t offset = 0;
    bool done = false;

    *size = 0;
    for (unsigned i = 0; !done && i < reader->pack_count; i++)
        if (vcm_git_pack_file_find(&offset, &reader->packs[i], id->bytes))
            done = read_at(out, size, reader, i, offset, size_max);
    if (reader->window_capacity > KEEP_BYTES) {
        free(reader->window);
        reader->window = NULL;
        reader->window_capacity = reader->window_len = 0;
    }
    if (reader->deltas.capacity > KEEP_BYTES)
        vcm_buf_release(&reader->deltas);
    return done;
}

static struct vcm_git_pack_reader *open_empty(void)
{
    struct vcm_git_pack_reader *reader = calloc(1, sizeof *reader);

    if (!reader)
        return NULL;
    vcm_buf_init(&reader->deltas, DELTAS_BYTES);
    reader->inflater = libdeflate_alloc_decompressor();
    reader->bases = vcm_git_base_cache_open();
    if (reader->inflater && reader->bases)
        return reader;
    vcm_git_pack_reader_close(reader);
    return NULL;
}

void vcm_git_pack_reader_close(struct vcm_git_pack_reader *reader)
{
    if (!reader)
        return;
    for (unsigned i = 0; i < reader->pack_count; i++)
        vcm_git_pack_file_close(&reader->packs[i]);
    libdeflate_free_decompressor(reader->inflater);
    vcm_git_base_cache_close(reader->bases);
    vcm_buf_release(&reader->deltas);
    free(reader->window);
    free(reader);
}

struct vcm_git_pack_reader *vcm_git_pack_reader_open_files(int index_fd, int pack_fd)
{
    struct vcm_git_pack_file file;
    struct vcm_git_pack_reader *reader = NULL;

    if (!vcm_git_pack_file_open(&file, index_fd, pack_fd))
        return NULL;
    reader = open_empty();
    if (!reader) {
        vcm_git_pack_file_close(&file);
        return NULL;
    }
    reader->packs[reader->pack_count++] = file;
    return reader;
}

/* The names of the largest packs, without their extensions. */
struct names {
    unsigned count;
    struct {
        uint64_t bytes;
        struct vcm_buf name;
    } packs[PACKS_MAX];
};

/* Replaces the smallest when all slots are taken. */
static void consider(struct names *names, int directory, const char *name)
{
    size_t len = strlen(name);
    unsigned place = 0;
    struct stat status;

    if (len <= 5 || strcmp(name + len - 5, ".pack") != 0 ||
        fstatat(directory, name, &status, 0) != 0 || status.st_size < 0)
        return;
    if (names->count < PACKS_MAX) {
        place = names->count++;
    } else {
        for (unsigned i = 1; i < PACKS_MAX; i++)
            if (names->packs[i].bytes < names->packs[place].bytes)
                place = i;
        if ((uint64_t)status.st_size <= names->packs[place].bytes)
            return;
    }
    vcm_buf_clear(&names->packs[place].name);
    vcm_buf_append(&names->packs[place].name, name, len - 5);
    names->packs[place].bytes = (uint64_t)status.st_size;
}

static int open_file(int directory, struct vcm_buf *name, const char *end)
{
    size_t len = name->len;

    vcm_buf_append_string(name, end);
    int fd = openat(directory, vcm_buf_text(name), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    vcm_buf_truncate(name, len);
    return fd;
}

static void open_packs(struct vcm_git_pack_reader *reader, DIR *directory)
{
    struct names names = {0};
    unsigned left = VCM_LIMIT_PACKS;
    struct dirent *entry;

    for (unsigned i = 0; i < PACKS_MAX; i++)
        vcm_buf_init(&names.packs[i].name, VCM_LIMIT_PATH_BYTES);
    while (left-- > 0 && (entry = readdir(directory)))
        consider(&names, dirfd(directory), entry->d_name);
    for (unsigned i = 0; i < names.count; i++) {
        struct vcm_buf *name = &names.packs[i].name;
        int index_fd = open_file(dirfd(directory), name, ".idx");
        int pack_fd = open_file(dirfd(directory), name, ".pack");
        if (vcm_git_pack_file_open(&reader->packs[reader->pack_count], index_fd, pack_fd))
            reader->pack_count++;
    }
    for (unsigned i = 0; i < PACKS_MAX; i++)
        vcm_buf_release(&names.packs[i].name);
}

struct vcm_git_pack_reader *vcm_git_pack_reader_open(const char *objects)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_git_pack_reader *reader = NULL;

    vcm_buf_append_format(&path, "%s/pack", objects);
    DIR *directory = opendir(vcm_buf_text(&path));
    vcm_buf_release(&path);
    if (!directory)
        return NULL;
    reader = open_empty();
    if (reader)
        open_packs(reader, directory);
    closedir(directory);
    if (reader && reader->pack_count == 0) {
        vcm_git_pack_reader_close(reader);
        return NULL;
    }
    return reader;
}
