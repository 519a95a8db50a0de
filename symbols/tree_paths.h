/*
 * tree_paths.h - paths of an index: which file has one, which directories there are, and paths that
 * are written relative to a directory. Private to imports.c and its parts.
 */
#ifndef VCM_SYMBOLS_TREE_PATHS_H
#define VCM_SYMBOLS_TREE_PATHS_H

#include "symbols/index.h"

#define VCM_TREE_PATHS_NONE UINT32_MAX

/* The number of the file with this path, or VCM_TREE_PATHS_NONE. */
uint32_t vcm_tree_paths_find(const struct vcm_index *index, struct vcm_slice path);

/* Whether a file of the index is below the directory. */
bool vcm_tree_paths_has_directory(const struct vcm_index *index, struct vcm_slice directory);

/* "a" of "a/b.c", "" of "b.c". */
struct vcm_slice vcm_tree_paths_directory(struct vcm_slice path);

/* Sets `out` to `path` as seen from `directory`, without "." and "..". False when it leaves the
 * tree, or is too long. */
bool vcm_tree_paths_join(struct vcm_buf *out, struct vcm_slice directory, struct vcm_slice path);

#endif
