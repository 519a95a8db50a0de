/*
 * mapping_paths.h - the paths of a page table that is being built, until they are written. Private
 * to mapping.c.
 *
 * The index of paths is ordered by their hashes, so the paths of one batch of pages are spread over
 * all of it, and every batch would rewrite most of the index. Therefore paths are kept in memory
 * until the table is complete, or until they take VCM_MAPPING_PATHS_BYTES, and are then written in
 * the order of their keys. Readers look up paths only in tables that are in force, so they miss
 * none.
 */
#ifndef VCM_VCM_MAPPING_MAPPING_PATHS_H
#define VCM_VCM_MAPPING_MAPPING_PATHS_H

#include "base/buf.h"
#include "base/limits.h"
#include "vcm/store/page_store.h"

/* When the paths take more memory, they are written before the table is complete. */
#define VCM_MAPPING_PATHS_BYTES (6 * VCM_MIB)

struct vcm_mapping_path;

struct vcm_mapping_paths {
    struct vcm_mapping_path *items;
    size_t count;
    size_t capacity;
    struct vcm_buf bytes;
};

void vcm_mapping_paths_init(struct vcm_mapping_paths *paths);
void vcm_mapping_paths_release(struct vcm_mapping_paths *paths);

/* Keeps the paths of a row, whose records are as in its stored value. */
int vcm_mapping_paths_add(struct vcm_mapping_paths *paths, uint64_t mapping, uint32_t seq,
                          struct vcm_slice records, struct vcm_error *err);

/* The memory that the paths take. */
size_t vcm_mapping_paths_bytes(const struct vcm_mapping_paths *paths);

/* Writes the paths and keeps them, because the transaction may run again. */
int vcm_mapping_paths_write(struct vcm_mapping_paths *paths, struct vcm_kv_txn *txn,
                            struct vcm_error *err);
void vcm_mapping_paths_clear(struct vcm_mapping_paths *paths);

#endif
