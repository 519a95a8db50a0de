/*
 * known_tree.h - which of the paths of a walk lie below which directory.
 *
 * Paths are added in the order of a walk, depth first, so those below a directory are consecutive.
 * A directory whose paths are not is not found. The caller owns the bytes of the paths, which
 * outlive the tree.
 */
#ifndef VCM_VCM_MAPPING_KNOWN_TREE_H
#define VCM_VCM_MAPPING_KNOWN_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct vcm_known_range {
    uint32_t first;
    uint32_t end;
};

struct vcm_known_directory;

struct vcm_known_tree {
    struct vcm_known_directory *directories;
    uint32_t count;
    size_t capacity;
    uint32_t *slots; /* number of a directory plus one, 0 for none; open addressing */
    uint32_t slot_count;
    uint32_t innermost;    /* directory of the last path plus one, 0 for none */
    struct vcm_slice last; /* path */
    uint32_t paths;
};

void vcm_known_tree_init(struct vcm_known_tree *tree);
void vcm_known_tree_release(struct vcm_known_tree *tree);

/* The n-th call adds the path with number n, from 0. The same path may be added several times. */
int vcm_known_tree_add(struct vcm_known_tree *tree, struct vcm_slice path, struct vcm_error *err);

/* The numbers of the paths below a directory, an empty range when there are none. False when they
 * are not consecutive. */
bool vcm_known_tree_find(struct vcm_known_range *out, const struct vcm_known_tree *tree,
                         struct vcm_slice directory);

#endif
