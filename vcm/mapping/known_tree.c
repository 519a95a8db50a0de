#include "vcm/mapping/known_tree.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

#include "base/banned.h"

/* A directory: the first `len` bytes of a path below it, without the slash. */
struct vcm_known_directory {
    const char *path;
    size_t len;
    uint32_t above; /* number of its parent plus one, 0 for none */
    uint32_t first, end;
    bool open;         /* the last path is below it, so `end` is not set */
    bool is_scattered; /* paths of other directories are between its own */
};

void vcm_known_tree_init(struct vcm_known_tree *tree)
{
    memset(tree, 0, sizeof *tree);
}

void vcm_known_tree_release(struct vcm_known_tree *tree)
{
    free(tree->directories);
    free(tree->slots);
    memset(tree, 0, sizeof *tree);
}

/* The directory's slot, or the free slot where it is to be inserted. */
static uint32_t *find(const struct vcm_known_tree *tree, struct vcm_slice path)
{
    assert(tree->count < tree->slot_count); /* some slot is free, or this would not end */
    uint32_t mask = tree->slot_count - 1;
    uint32_t at = (uint32_t)vcm_hash_checksum(path, 0) & mask;

    for (; tree->slots[at] != 0; at = (at + 1) & mask) {
        const struct vcm_known_directory *directory = &tree->directories[tree->slots[at] - 1];
        if (vcm_slice_equal(vcm_slice_of(directory->path, directory->len), path))
            break;
    }
    return &tree->slots[at];
}

static int grow(struct vcm_known_tree *tree, struct vcm_error *err)
{
    if (tree->count < tree->capacity)
        return VCM_OK;
    size_t capacity = tree->capacity; /* a power of two, as the number of slots */
    int rc = vcm_array_reserve(&tree->directories, &capacity, (size_t)tree->count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    uint32_t *slots = calloc(2 * capacity, sizeof *slots);
    if (!slots)
        return vcm_error_memory(err);
    free(tree->slots);
    tree->slots = slots;
    tree->slot_count = 2 * (uint32_t)capacity;
    assert((tree->slot_count & (tree->slot_count - 1)) == 0);
    tree->capacity = capacity;
    for (uint32_t i = 0; i < tree->count; i++)
        *find(tree, vcm_slice_of(tree->directories[i].path, tree->directories[i].len)) = i + 1;
    return VCM_OK;
}

/* The length of the longest common prefix that ends with a slash. */
static size_t common_length(struct vcm_slice a, struct vcm_slice b)
{
    size_t common = 0;

    for (size_t i = 0; i < a.len && i < b.len && a.data[i] == b.data[i]; i++)
        if (a.data[i] == '/')
            common = i + 1;
    return common;
}

/* Makes a directory of the path that is being added the innermost one. */
static int enter(struct vcm_known_tree *tree, struct vcm_slice path, struct vcm_error *err)
{
    int rc = grow(tree, err);
    if (rc != VCM_OK)
        return rc;
    uint32_t *slot = find(tree, path);
    if (*slot == 0) {
        tree->directories[tree->count] = (struct vcm_known_directory){
            .path = path.data, .len = path.len, .first = tree->paths, .above = tree->innermost};
        *slot = ++tree->count;
    } else {
        tree->directories[*slot - 1].is_scattered = true;
    }
    tree->directories[*slot - 1].open = true;
    tree->innermost = *slot;
    return VCM_OK;
}

int vcm_known_tree_add(struct vcm_known_tree *tree, struct vcm_slice path, struct vcm_error *err)
{
    size_t common = common_length(tree->last, path);
    int rc = VCM_OK;

    while (tree->innermost != 0 && tree->directories[tree->innermost - 1].len >= common) {
        struct vcm_known_directory *left = &tree->directories[tree->innermost - 1];
        left->open = false;
        left->end = tree->paths;
        tree->innermost = left->above;
    }
    for (size_t i = common; rc == VCM_OK && i < path.len; i++)
        if (path.data[i] == '/')
            rc = enter(tree, vcm_slice_of(path.data, i), err);
    tree->last = path;
    tree->paths++;
    return rc;
}

bool vcm_known_tree_find(struct vcm_known_range *out, const struct vcm_known_tree *tree,
                         struct vcm_slice directory)
{
    uint32_t number = tree->slot_count > 0 ? *find(tree, directory) : 0;

    *out = (struct vcm_known_range){0, 0};
    if (number == 0)
        return true;
    const struct vcm_known_directory *found = &tree->directories[number - 1];
    *out = (struct vcm_known_range){found->first, found->open ? tree->paths : found->end};
    assert(out->first < out->end && out->end <= tree->paths);
    return !found->is_scattered;
}
