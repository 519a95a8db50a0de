#include "git/index.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/path.h"
#include "git/layout.h"
#include "git/tree_name.h"
#include "git/tree_object.h"

#include "base/banned.h"

#define HEADER_BYTES     12
#define STAT_BYTES       40
#define FIXED_BYTES      (STAT_BYTES + VCM_GIT_ID_BYTES + 2)
#define EXTENSION_BYTES  8
#define PADDING          8 /* entries of versions 2 and 3 are a multiple of this long */
#define FLAG_VALID       0x8000u
#define FLAG_EXTENDED    0x4000u
#define FLAG_STAGE       0x3000u
#define FLAG_STAGE_SHIFT 12
#define FLAG_SKIP        0x4000u /* of the second word */
#define FLAG_INTENT      0x2000u
#define MODE_DIRECTORY   0040000u
#define MODE_FILE        0100644u
#define MODE_PROGRAM     0100755u
#define MODE_LINK        0120000u
#define MODE_SUBMODULE   0160000u

struct parser {
    struct vcm_git_index *index;
    const unsigned char *at, *end;
    unsigned version;
    struct vcm_buf path; /* of the entry before, for version 4 */
};

void vcm_git_index_init(struct vcm_git_index *index)
{
    memset(index, 0, sizeof *index);
    vcm_buf_init(&index->bytes, VCM_LIMIT_GIT_INDEX_BYTES);
    vcm_arena_init(&index->arena, 4 * VCM_LIMIT_GIT_INDEX_BYTES);
}

void vcm_git_index_release(struct vcm_git_index *index)
{
    free(index->entries);
    vcm_buf_release(&index->bytes);
    vcm_arena_release(&index->arena);
    memset(index, 0, sizeof *index);
}

static int refuse(struct vcm_error *err, const char *why)
{
    return vcm_error_set(err, VCM_IO_ERROR,
                         "the index is damaged: %s; 'git read-tree HEAD' makes "
                         "it anew",
                         why);
}

static int refuse_split(struct vcm_error *err)
{
    return vcm_error_set(err, VCM_UNSUPPORTED,
                         "the index is split, which cannot be read; run 'git update-index "
                         "--no-split-index'");
}

static uint32_t get_u32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static unsigned get_u16(const unsigned char *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

static bool is_known_mode(unsigned mode)
{
    return mode == MODE_FILE || mode == MODE_PROGRAM || mode == MODE_LINK ||
           mode == MODE_SUBMODULE || mode == MODE_DIRECTORY;
}

/* No part of it may lead elsewhere. Only a sparse directory ends with a slash. */
static bool is_safe_path(struct vcm_slice path, bool is_directory)
{
    if (is_directory != (path.len > 0 && path.data[path.len - 1] == '/') ||
        path.len > VCM_LIMIT_TREE_PATH_BYTES)
        return false;
    if (is_directory)
        path.len--;
    for (;;) {
        const char *slash = memchr(path.data, '/', path.len);
        size_t len = slash ? (size_t)(slash - path.data) : path.len;
        if (!vcm_git_tree_name_is_safe(vcm_slice_of(path.data, len)))
            return false;
        if (!slash)
            return true;
        path = vcm_slice_of(slash + 1, path.len - len - 1);
    }
}

static int compare_paths(struct vcm_slice a, struct vcm_slice b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common > 0 ? memcmp(a.data, b.data, common) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* How much of the path before is dropped: a number as in the offsets of packs, where the bit that
 * goes on also adds one. */
static bool get_strip(size_t *out, struct parser *p)
{
    unsigned char byte;

    *out = 0;
    do {
        if (p->at == p->end || *out > VCM_LIMIT_TREE_PATH_BYTES)
            return false;
        byte = *p->at++;
        *out = (*out << 7) + (byte & 127u) + ((byte & 128u) != 0 ? 1 : 0);
    } while (byte & 128u);
    return true;
}

static int get_compressed_path(struct vcm_slice *out, struct parser *p, struct vcm_error *err)
{
    size_t strip;

    if (!get_strip(&strip, p) || strip > p->path.len)
        return refuse(err, "a path drops more than there is of the one before");
    const unsigned char *nul = memchr(p->at, '\0', (size_t)(p->end - p->at));
    if (!nul)
        return refuse(err, "a path has no end");
    vcm_buf_truncate(&p->path, p->path.len - strip);
    vcm_buf_append(&p->path, p->at, (size_t)(nul - p->at));
    p->at = nul + 1;
    int rc = vcm_buf_check(&p->path, "a path of the index", err);
    if (rc != VCM_OK)
        return rc;
    const char *copy = vcm_arena_copy(&p->index->arena, vcm_buf_slice(&p->path));
    if (!copy)
        return vcm_error_memory(err);
    *out = vcm_slice_of(copy, p->path.len);
    return VCM_OK;
}

static int get_plain_path(struct vcm_slice *out, struct parser *p, const unsigned char *start,
                          struct vcm_error *err)
{
    const unsigned char *nul = memchr(p->at, '\0', (size_t)(p->end - p->at));

    if (!nul)
        return refuse(err, "a path has no end");
    *out = vcm_slice_of((const char *)p->at, (size_t)(nul - p->at));
    size_t len = ((size_t)(nul - start) / PADDING + 1) * PADDING;
    if (len > (size_t)(p->end - start))
        return refuse(err, "an entry is cut short");
    p->at = start + len;
    return VCM_OK;
}

static void get_stat(struct vcm_git_index_entry *entry, const unsigned char *at)
{
    entry->ctime_s = get_u32(at);
    entry->ctime_ns = get_u32(at + 4);
    entry->mtime_s = get_u32(at + 8);
    entry->mtime_ns = get_u32(at + 12);
    entry->inode = get_u32(at + 20);
    entry->mode = get_u32(at + 24);
    entry->uid = get_u32(at + 28);
    entry->gid = get_u32(at + 32);
    entry->size = get_u32(at + 36);
    memcpy(entry->id.bytes, at + STAT_BYTES, VCM_GIT_ID_BYTES);
}

static int get_entry(struct vcm_git_index_entry *entry, struct parser *p, struct vcm_error *err)
{
    const unsigned char *start = p->at;
    unsigned more = 0;

    memset(entry, 0, sizeof *entry);
    if (p->end - p->at < FIXED_BYTES + 2)
        return refuse(err, "an entry is cut short");
    get_stat(entry, start);
    unsigned flags = get_u16(start + FIXED_BYTES - 2);
    p->at += FIXED_BYTES;
    if (flags & FLAG_EXTENDED) {
        if (p->version < 3)
            return refuse(err, "an entry has flags that its version does not have");
        more = get_u16(p->at);
        p->at += 2;
    }
    entry->stage = (flags & FLAG_STAGE) >> FLAG_STAGE_SHIFT;
    entry->assume_valid = flags & FLAG_VALID;
    entry->skip_worktree = more & FLAG_SKIP;
    entry->intent_to_add = more & FLAG_INTENT;
    int rc = p->version == 4 ? get_compressed_path(&entry->path, p, err)
                             : get_plain_path(&entry->path, p, start, err);
    if (rc != VCM_OK)
        return rc;
    /* It replaces one of the file that the split index is based on. */
    if (entry->path.len == 0)
        return refuse_split(err);
    if (!is_known_mode(entry->mode))
        return refuse(err, "an entry has a mode that git does not write");
    if (!is_safe_path(entry->path, entry->mode == MODE_DIRECTORY))
        return refuse(err, "a path leads out of the working tree, or into the git directory");
    return VCM_OK;
}

static int check_order(const struct vcm_git_index *index, const struct vcm_git_index_entry *entry,
                       struct vcm_error *err)
{
    if (index->count == 0)
        return VCM_OK;
    const struct vcm_git_index_entry *last = &index->entries[index->count - 1];
    int order = compare_paths(last->path, entry->path);
    if (order < 0 || (order == 0 && last->stage > 0 && last->stage < entry->stage))
        return VCM_OK;
    return refuse(err, "its paths are not in order");
}

static int get_entries(struct parser *p, size_t count, struct vcm_error *err)
{
    struct vcm_git_index *index = p->index;
    struct vcm_git_index_entry entry;

    if (count > (size_t)(p->end - p->at) / FIXED_BYTES)
        return refuse(err, "it is shorter than its number of entries says");
    int rc = vcm_array_reserve(&index->entries, &index->capacity, count + 1, VCM_LIMIT_LIST_ENTRIES,
                               err);
    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        rc = get_entry(&entry, p, err);
        if (rc == VCM_OK)
            rc = check_order(index, &entry, err);
        if (rc == VCM_OK)
            index->entries[index->count++] = entry;
    }
    return rc;
}

/* An extension whose name begins with a capital letter may be skipped. */
static int skip_extensions(struct parser *p, struct vcm_error *err)
{
    while (p->end - p->at >= EXTENSION_BYTES) {
        const char *name = (const char *)p->at;
        uint32_t size = get_u32(p->at + 4);
        p->at += EXTENSION_BYTES;
        if (size > (size_t)(p->end - p->at))
            return refuse(err, "an extension is cut short");
        if (memcmp(name, "link", 4) == 0)
            return refuse_split(err);
        if ((name[0] < 'A' || name[0] > 'Z') && memcmp(name, "sdir", 4) != 0)
            return vcm_error_set(err, VCM_UNSUPPORTED,
                                 "the index has an extension that is not known, of %u bytes; an "
                                 "older git, or 'git read-tree HEAD', writes one without it",
                                 (unsigned)size);
        p->at += size;
    }
    return p->at == p->end ? VCM_OK : refuse(err, "something follows its last extension");
}

/* git writes zeros instead when index.skipHash is set. */
static bool has_checksum(struct vcm_slice bytes, const unsigned char *trailer)
{
    static const unsigned char none[VCM_HASH_SHA1_BYTES];
    unsigned char digest[VCM_HASH_SHA1_BYTES];

    if (memcmp(trailer, none, sizeof none) == 0)
        return true;
    vcm_hash_sha1_of(digest, vcm_slice_of("", 0), bytes);
    return memcmp(trailer, digest, sizeof digest) == 0;
}

int vcm_git_index_parse(struct vcm_git_index *index, struct vcm_error *err)
{
    struct parser p = {.index = index};
    const unsigned char *bytes = (const unsigned char *)vcm_buf_text(&index->bytes);

    if (index->bytes.len < HEADER_BYTES + VCM_HASH_SHA1_BYTES || memcmp(bytes, "DIRC", 4) != 0)
        return refuse(err, "it has no header");
    p.at = bytes + HEADER_BYTES;
    p.end = bytes + index->bytes.len - VCM_HASH_SHA1_BYTES;
    p.version = get_u32(bytes + 4);
    if (p.version < 2 || p.version > 4)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "the index has version %u, which is not known; run 'git update-index "
                             "--index-version 4'",
                             p.version);
    if (!has_checksum(vcm_slice_of((const char *)bytes, (size_t)(p.end - bytes)), p.end))
        return refuse(err, "its checksum does not match");
    vcm_buf_init(&p.path, VCM_LIMIT_TREE_PATH_BYTES);
    int rc = get_entries(&p, get_u32(bytes + 8), err);
    if (rc == VCM_OK)
        rc = skip_extensions(&p, err);
    vcm_buf_release(&p.path);
    return rc;
}

struct expansion {
    struct vcm_git_index *index; /* that is filled */
    struct vcm_git_repo *repo;
    struct vcm_buf path;
    unsigned depth;
};

static int add_sparse_leaf(struct expansion *x, const struct vcm_git_tree_item *item,
                           struct vcm_error *err)
{
    struct vcm_git_index *index = x->index;

    int rc = vcm_array_reserve(&index->entries, &index->capacity, index->count + 1,
                               VCM_LIMIT_TREE_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    const char *path = vcm_arena_copy(&index->arena, vcm_buf_slice(&x->path));
    if (!path)
        return vcm_error_memory(err);
    index->entries[index->count++] =
        (struct vcm_git_index_entry){.path = vcm_slice_of(path, x->path.len),
                                     .id = item->id,
                                     .mode = item->mode,
                                     .skip_worktree = true};
    return VCM_OK;
}

/* x->path ends with a slash. The tree's own order is that of the index. */
static int expand_tree(struct expansion *x, const struct vcm_git_id *id, struct vcm_error *err)
{
    struct vcm_git_tree_object *tree = NULL;
    size_t len = x->path.len;

    if (x->depth == VCM_LIMIT_TREE_DEPTH)
        return vcm_error_set(err, VCM_UNSUPPORTED, "directories are nested deeper than %d",
                             VCM_LIMIT_TREE_DEPTH);
    int rc = vcm_git_tree_object_open(&tree, x->repo, id, vcm_buf_text(&x->path), err);
    if (rc != VCM_OK)
        return rc;
    x->depth++;
    for (size_t i = 0; rc == VCM_OK && i < tree->count; i++) {
        const struct vcm_git_tree_item *item = &tree->items[i];
        if (item->refusal != VCM_GIT_ACCEPTED)
            continue;
        vcm_buf_append(&x->path, item->name, item->name_len);
        if (!vcm_git_tree_object_is_directory(item)) {
            rc = vcm_buf_check(&x->path, "a path of the tree", err);
            if (rc == VCM_OK)
                rc = add_sparse_leaf(x, item, err);
        } else {
            vcm_buf_append_byte(&x->path, '/');
            rc = vcm_buf_check(&x->path, "a path of the tree", err);
            if (rc == VCM_OK)
                rc = expand_tree(x, &item->id, err);
        }
        vcm_buf_truncate(&x->path, len);
    }
    x->depth--;
    vcm_git_tree_object_close(tree);
    return rc;
}

/* Replaces every sparse directory by its files. */
static int expand(struct vcm_git_index *index, struct vcm_git_repo *repo, struct vcm_error *err)
{
    struct vcm_git_index_entry *old = index->entries;
    size_t count = index->count;
    struct expansion x = {.index = index, .repo = repo};
    int rc = VCM_OK;

    vcm_buf_init(&x.path, VCM_LIMIT_TREE_PATH_BYTES);
    index->entries = NULL;
    index->count = index->capacity = 0;
    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        if (old[i].mode == MODE_DIRECTORY) {
            vcm_buf_clear(&x.path);
            vcm_buf_append_slice(&x.path, old[i].path);
            rc = expand_tree(&x, &old[i].id, err);
            continue;
        }
        rc = vcm_array_reserve(&index->entries, &index->capacity, index->count + 1,
                               VCM_LIMIT_TREE_ENTRIES, err);
        if (rc == VCM_OK)
            index->entries[index->count++] = old[i];
    }
    vcm_buf_release(&x.path);
    free(old);
    return rc;
}

static bool has_directory(const struct vcm_git_index *index)
{
    for (size_t i = 0; i < index->count; i++)
        if (index->entries[i].mode == MODE_DIRECTORY)
            return true;
    return false;
}

/* The time is taken before the content: an index that is replaced in between is then older than
 * what was read, and more files count as possibly changed. */
static int load(struct vcm_git_index *index, const char *path, struct vcm_error *err)
{
    struct vcm_error failed = {0};
    struct stat status;

    if (lstat(path, &status) != 0)
        return errno == ENOENT
                   ? VCM_OK
                   : vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot look at '%s'", path);
    int rc = vcm_path_read_file(&index->bytes, path, VCM_LIMIT_GIT_INDEX_BYTES, &failed);
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc == VCM_OK) {
        index->mtime_s = (uint32_t)status.st_mtim.tv_sec;
        index->mtime_ns = (uint32_t)status.st_mtim.tv_nsec;
        rc = vcm_git_index_parse(index, &failed);
    }
    if (rc != VCM_OK && err) {
        *err = failed;
        return vcm_error_wrap(err, rc, "%s", path);
    }
    return rc;
}

int vcm_git_index_read(struct vcm_git_index *index, struct vcm_git_repo *repo,
                       struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    int rc = vcm_git_layout_directory(&path, repo, err);
    if (rc == VCM_OK) {
        vcm_buf_append_string(&path, "/index");
        rc = vcm_buf_check(&path, "the path of the index", err);
    }
    if (rc == VCM_OK)
        rc = load(index, vcm_buf_text(&path), err);
    if (rc == VCM_OK && has_directory(index))
        rc = expand(index, repo, err);
    vcm_buf_release(&path);
    return rc;
}

size_t vcm_git_index_find(const struct vcm_git_index *index, struct vcm_slice path)
{
    size_t low = 0, high = index->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_paths(index->entries[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
