/*
 * The layout, of LMDB 0.9 on 64 bits: a page begins with its number (8 bytes), 2 unused, flags (2),
 * and where its free room begins and ends (2, 2); then the offsets of its nodes (2 each). A node
 * has three half words that are the number of a page below, or the length of a value and flags,
 * then the key's length (2), the key, the value. A value on pages of its own is the number of the
 * first; a table is the description of a tree. The first two pages are headers.
 */
#include "base/kv_pages.h"

#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/kv_handle.h"

#include "base/banned.h"

#define HEADERS        2u
#define PAGE_HEADER    16u
#define NODE_HEADER    8u
#define PAGE_BRANCH    0x01u
#define PAGE_LEAF      0x02u
#define NODE_BIG       0x01u /* the value is on pages of its own */
#define NODE_TABLE     0x02u /* the value describes a tree */
#define TREE_BYTES     48u
#define TREE_ROOT      40u /* where in the description the number of its first page is */
#define META_MAGIC     0xBEEFC0DEu
#define META_VERSION   1u
#define META_FREE      24u /* where in a header, behind the page's, the tree of free pages is */
#define META_MAIN      (META_FREE + TREE_BYTES)
#define META_LAST      (META_MAIN + TREE_BYTES)
#define META_TXN       (META_LAST + 8u)
#define META_BYTES     (META_TXN + 8u)
#define NO_PAGE        UINT64_MAX
#define DEPTH_MAX      32u
#define ATTEMPTS_MAX   1000u
#define FINDINGS_MAX   100u
#define PAGE_BYTES_MAX 65536u

/* The state of a page of the file. */
enum mark { MARK_USED = 1, MARK_FREE = 2 };

enum tree { TREE_OF_FREE, TREE_OF_TABLES, TREE_TABLE };

struct walk {
    const struct vcm_kv *kv;
    const struct vcm_kv_pages_options *options;
    int fd;
    size_t page_bytes;
    uint64_t page_count; /* pages of the file that are in use or free */
    unsigned char *marks;
    unsigned findings;
    struct vcm_error *err;
    unsigned char *levels; /* a page for each level of the tree of tables, then of another tree */
};

static uint16_t get_u16(const unsigned char *bytes)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint64_t get_u64(const unsigned char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static int tell(struct walk *walk, const char *what, uint64_t page, uint64_t count)
{
    const struct vcm_kv_pages_finding finding = {what, page, count};

    if (++walk->findings > FINDINGS_MAX)
        return VCM_OK;
    return walk->options->found(walk->options->context, &finding, walk->err);
}

/* Marks `count` consecutive pages. *first: they were not marked before and may be read. */
static int mark(bool *first, struct walk *walk, uint64_t page, uint64_t count, enum mark as)
{
    int rc = VCM_OK;

    *first = false;
    if (page < HEADERS || page >= walk->page_count || count > walk->page_count - page)
        return tell(walk, "a page beyond the end of the file is referred to", page, count);
    *first = true;
    for (uint64_t i = page; rc == VCM_OK && i < page + count; i++) {
        unsigned char before = walk->marks[i];
        walk->marks[i] |= (unsigned char)as;
        if (before == 0)
            continue;
        *first = false;
        rc = tell(walk,
                  before != as      ? "a page is free and in use"
                  : as == MARK_USED ? "a page is used twice"
                                    : "a page is free twice",
                  i, 1);
    }
    return rc;
}

/* *enough: the file is long enough. */
static int read_at(bool *enough, struct walk *walk, void *out, size_t len, uint64_t offset)
{
    *enough = vcm_io_read_at(walk->fd, out, len, offset) == len;
    return *enough || errno == 0
               ? VCM_OK
               : vcm_error_sys(walk->err, VCM_IO_ERROR, errno, "cannot read the store in '%s'",
                               walk->kv->options.directory);
}

/* Reads a page of a tree. *usable: it has the form of one. */
static int read_page(bool *usable, struct walk *walk, unsigned char *out, uint64_t page)
{
    const struct vcm_kv_pages_options *options = walk->options;

    *usable = false;
    int rc = options->alive ? options->alive(options->context, walk->err) : VCM_OK;
    if (rc != VCM_OK)
        return rc;
    bool enough = false;
    rc = read_at(&enough, walk, out, walk->page_bytes, page * walk->page_bytes);
    if (rc != VCM_OK || !enough)
        return rc == VCM_OK ? tell(walk, "the file is too short", page, 1) : rc;
    unsigned kind = get_u16(out + 10) & (PAGE_BRANCH | PAGE_LEAF);
    size_t lower = get_u16(out + 12);
    *usable = get_u64(out) == page && (kind == PAGE_BRANCH || kind == PAGE_LEAF) &&
              lower >= PAGE_HEADER && lower <= walk->page_bytes && lower % 2 == 0;
    return *usable ? VCM_OK : tell(walk, "a page of a tree is not one", page, 1);
}

static int walk_tree(struct walk *walk, const unsigned char *description, enum tree tree);

/* The list of free pages: their count, then their numbers. */
static int mark_free(struct walk *walk, const unsigned char *list, size_t len, uint64_t page)
{
    bool first;
    int rc = VCM_OK;

    uint64_t count = len >= 8 ? get_u64(list) : 0;
    if (len < 8 || count > len / 8 - 1)
        return tell(walk, "a list of free pages is not one", page, 1);
    for (uint64_t i = 1; rc == VCM_OK && i <= count; i++)
        rc = mark(&first, walk, get_u64(list + 8 * i), 1, MARK_FREE);
    return rc;
}

static int mark_free_in_file(struct walk *walk, uint64_t page, size_t len)
{
    unsigned char *list = malloc(len);
    bool enough = false;

    if (!list)
        return vcm_error_memory(walk->err);
    int rc = read_at(&enough, walk, list, len, page * walk->page_bytes + PAGE_HEADER);
    if (rc == VCM_OK)
        rc = enough ? mark_free(walk, list, len, page)
                    : tell(walk, "the file is too short", page, 1);
    free(list);
    return rc;
}

static int walk_value(struct walk *walk, const unsigned char *node, size_t room, uint64_t page,
                      enum tree tree)
{
    const size_t len = get_u16(node) | (size_t)get_u16(node + 2) << 16;
    const unsigned flags = get_u16(node + 4);
    const size_t key_len = get_u16(node + 6);
    const size_t inline_len = flags & NODE_BIG ? 8 : len;
    const unsigned char *value = node + NODE_HEADER + key_len;
    bool first;

    if (key_len > room - NODE_HEADER || inline_len > room - NODE_HEADER - key_len ||
        (flags & NODE_TABLE && (len != TREE_BYTES || tree != TREE_OF_TABLES)))
        return tell(walk, "a page of a tree is not one", page, 1);
    if (flags & NODE_TABLE)
        return walk_tree(walk, value, TREE_TABLE);
    if (!(flags & NODE_BIG))
        return tree == TREE_OF_FREE ? mark_free(walk, value, len, page) : VCM_OK;
    uint64_t at = get_u64(value);
    int rc = mark(&first, walk, at, (PAGE_HEADER - 1 + len) / walk->page_bytes + 1, MARK_USED);
    return rc == VCM_OK && first && tree == TREE_OF_FREE ? mark_free_in_file(walk, at, len) : rc;
}

static int walk_page(struct walk *walk, uint64_t page, unsigned depth, enum tree tree)
{
    const unsigned level = depth + (tree == TREE_OF_TABLES ? 0 : DEPTH_MAX);
    unsigned char *bytes = walk->levels + level * walk->page_bytes;
    bool usable;

    int rc = mark(&usable, walk, page, 1, MARK_USED);
    if (rc == VCM_OK && usable)
        rc = read_page(&usable, walk, bytes, page);
    if (rc != VCM_OK || !usable)
        return rc;
    const bool is_leaf = get_u16(bytes + 10) & PAGE_LEAF;
    const size_t nodes_at = get_u16(bytes + 12);
    for (size_t at = PAGE_HEADER; rc == VCM_OK && at < nodes_at; at += 2) {
        const size_t node_at = get_u16(bytes + at);
        const unsigned char *node = bytes + node_at;
        if (node_at < nodes_at || node_at + NODE_HEADER > walk->page_bytes ||
            (!is_leaf && depth + 1 == DEPTH_MAX))
            return tell(walk, "a page of a tree is not one", page, 1);
        uint64_t below =
            get_u16(node) | (uint64_t)get_u16(node + 2) << 16 | (uint64_t)get_u16(node + 4) << 32;
        rc = is_leaf ? walk_value(walk, node, walk->page_bytes - node_at, page, tree)
                     : walk_page(walk, below, depth + 1, tree);
    }
    return rc;
}

static int walk_tree(struct walk *walk, const unsigned char *description, enum tree tree)
{
    const uint64_t root = get_u64(description + TREE_ROOT);

    return root == NO_PAGE ? VCM_OK : walk_page(walk, root, 0, tree);
}

/* Pages that are neither free nor in use are lost space, reported once. LMDB cannot compact such a
 * file. */
static int tell_lost(struct walk *walk)
{
    uint64_t first = 0, count = 0;

    for (uint64_t i = HEADERS; i < walk->page_count; i++) {
        if (walk->marks[i] != 0)
            continue;
        first = count == 0 ? i : first;
        count++;
    }
    return count > 0 ? tell(walk, "a page is neither free nor in use", first, count) : VCM_OK;
}

static int check_trees(struct walk *walk, const unsigned char *meta)
{
    const uint64_t last = get_u64(meta + META_LAST);
    struct stat file = {0};

    if (fstat(walk->fd, &file) != 0)
        return vcm_error_sys(walk->err, VCM_IO_ERROR, errno, "cannot read the store in '%s'",
                             walk->kv->options.directory);
    if (last >= (uint64_t)file.st_size / walk->page_bytes)
        return tell(walk, "the file is too short", last, 1);
    walk->page_count = last + 1;
    walk->marks = calloc(walk->page_count + 1, 1);
    walk->levels = malloc(2 * DEPTH_MAX * walk->page_bytes);
    int rc = walk->marks && walk->levels ? VCM_OK : vcm_error_memory(walk->err);
    if (rc == VCM_OK)
        rc = walk_tree(walk, meta + META_FREE, TREE_OF_FREE);
    if (rc == VCM_OK)
        rc = walk_tree(walk, meta + META_MAIN, TREE_OF_TABLES);
    if (rc == VCM_OK && walk->findings == 0)
        rc = tell_lost(walk);
    free(walk->marks);
    free(walk->levels);
    return rc;
}

/* The header that belongs to the transaction's snapshot; false when later commits have overwritten
 * it. */
static bool find_meta(unsigned char meta[META_BYTES], const struct walk *walk, uint64_t id)
{
    for (unsigned i = 0; i < HEADERS; i++)
        if (vcm_io_read_at(walk->fd, meta, META_BYTES, i * walk->page_bytes + PAGE_HEADER) ==
                META_BYTES &&
            get_u64(meta + META_TXN) == id)
            return true;
    return false;
}

static bool is_known(const unsigned char meta[META_BYTES], size_t page_bytes)
{
    uint32_t magic, version;

    memcpy(&magic, meta, sizeof magic);
    memcpy(&version, meta + sizeof magic, sizeof version);
    return magic == META_MAGIC && version == META_VERSION && page_bytes >= 512 &&
           page_bytes <= PAGE_BYTES_MAX;
}

int vcm_kv_pages_check(struct vcm_kv *kv, const struct vcm_kv_pages_options *options,
                       struct vcm_error *err)
{
    struct walk walk = {.kv = kv, .options = options, .err = err};
    unsigned char meta[META_BYTES];
    struct vcm_kv_txn *txn = NULL;
    bool found = false;
    int rc = VCM_OK;

    /* The pages of an open transaction do not change; its header does. */
    for (unsigned i = 0; rc == VCM_OK && !found && i < ATTEMPTS_MAX; i++) {
        MDB_stat stat;
        vcm_kv_handle_read_end(txn);
        txn = NULL;
        rc = vcm_kv_handle_read_begin(&txn, kv, err);
        if (rc != VCM_OK)
            break;
        MDB_env *env = txn->door->env->mdb;
        int code = mdb_env_get_fd(env, &walk.fd);
        if (code == 0)
            code = mdb_env_stat(env, &stat);
        if (code != 0) {
            rc = vcm_kv_env_fail(&kv->options, code, err);
            break;
        }
        walk.page_bytes = stat.ms_psize;
        found = find_meta(meta, &walk, mdb_txn_id(txn->mdb));
    }
    if (rc == VCM_OK && found && is_known(meta, walk.page_bytes))
        rc = check_trees(&walk, meta);
    vcm_kv_handle_read_end(txn);
    return rc;
}
