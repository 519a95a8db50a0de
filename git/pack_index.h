/*
 * pack_index.h - whether the index of a pack can be given to libgit2, which trusts it: version 1.5
 * reads outside its memory when a table of an index leads there.
 *
 * Checks the fan-out, the sizes and the offsets, not the checksums: a wrong id or offset within the
 * pack is found by the hash of the object.
 */
#ifndef VCM_GIT_PACK_INDEX_H
#define VCM_GIT_PACK_INDEX_H

#include <stdint.h>

#include "base/error.h"

/* NULL when the index in the file `fd` fits a pack of `pack_bytes`, else what is wrong with it. */
const char *vcm_git_pack_index_fault(int fd, uint64_t pack_bytes);

/* Checks every index in "pack" under the object directory that has a pack, and the multi-pack-index
 * (midx.h). IO_ERROR names the first that is damaged. */
int vcm_git_pack_index_check(const char *objects, struct vcm_error *err);

#endif
