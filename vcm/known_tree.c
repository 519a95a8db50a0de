#include "vcm/known_tree.h"

#include <stdlib.h>

#include "base/hash.h"

#include "base/banned.h"

/* A directory: the first `len` bytes of a path below it, without the slash. */
struct vcm_known_directory {
    const char *path; /* NULL for a free slot */
    size_t len;
    struct vcm_known_range range;
    bool torn; /* other paths are among its own */
};

void vcm_known_tree_init(struct vcm_known_tree *tree)
{
    memset(tree, 0, sizeof *tree);
}

void vcm_known_tree_release(struct vcm_known_tree *tree)
{
    free(tree->slots);
    memset(tree, 0, sizeof *tree);
}

/* The directory's slot, or the free one that it would have. */
static struct vcm_known_directory *find(const struct vcm_known_tree *tree,
                                        struct vcm_slice directory)
{
    uint32_t mask = tree->capacity - 1;
    uint32_t at = (uint32_t)vcm_hash_checksum(directory, 0) & mask;

    while (tree->slots[at].path &&
           !vcm_slice_equal(vcm_slice_of(tree->slots[at].path, tree->slots[at].len), directory))
        at = (at + 1) & mask;
    return &tree->slots[at];
}

static int grow(struct vcm_known_tree *tree, struct vcm_error *err)
{
    struct vcm_known_tree larger = *tree;

    if (2 * tree->count < tree->capacity)
        return VCM_OK;
    larger.capacity = tree->capacity ? 2 * tree->capacity : 256;
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return vcm_error_memory(err);
    for (uint32_t i = 0; i < tree->capacity; i++) {
        const struct vcm_known_directory *directory = &tree->slots[i];
        if (directory->path)
            *find(&larger, vcm_slice_of(directory->path, directory->len)) = *directory;
    }
    free(tree->slots);
    *tree = larger;
    return VCM_OK;
}

/* How much two paths have in common, up to the last slash. */
static size_t common_length(struct vcm_slice a, struct vcm_slice b)
{
    size_t common = 0;

    for (size_t i = 0; i < a.len && i < b.len && a.data[i] == b.data[i]; i++)
        if (a.data[i] == '/')
            common = i + 1;
    return common;
}

int vcm_known_tree_add(struct vcm_known_tree *tree, struct vcm_slice path, struct vcm_error *err)
{
    size_t common = common_length(tree->last, path);
    uint32_t number = tree->paths;
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < path.len; i++) {
        if (path.data[i] != '/')
            continue;
        rc = grow(tree, err);
        if (rc != VCM_OK)
            break;
        struct vcm_known_directory *directory = find(tree, vcm_slice_of(path.data, i));
        if (!directory->path) {
            *directory = (struct vcm_known_directory){
                .path = path.data, .len = i, .range = {number, number + 1}};
            tree->count++;
            continue;
        }
        if (i >= common)
            directory->torn = true;
        directory->range.end = number + 1;
    }
    tree->last = path;
    tree->paths++;
    return rc;
}

bool vcm_known_tree_find(struct vcm_known_range *out, const struct vcm_known_tree *tree,
                         struct vcm_slice directory)
{
    *out = (struct vcm_known_range){0, 0};
    if (tree->capacity == 0)
        return true;
    const struct vcm_known_directory *found = find(tree, directory);
    if (!found->path)
        return true;
    *out = found->range;
    return !found->torn;
}
