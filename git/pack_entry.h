/*
 * pack_entry.h - the header of an object in a pack, and the walk from a delta to the object that is
 * stored whole. Private to this folder.
 *
 * libgit2 1.5 follows deltas as far as they lead: two that are each other's base keep it busy for
 * ever. The walk here reads headers alone, has a bound, and notices a circle.
 */
#ifndef VCM_GIT_PACK_ENTRY_H
#define VCM_GIT_PACK_ENTRY_H

#include "base/slice.h"
#include "git/pack_file.h"

#define VCM_GIT_PACK_ENTRY_BYTES 32u   /* longer than any header */
#define VCM_GIT_PACK_CHAIN_MAX   4096u /* deltas in a row; git's own limit is 4095 */

enum vcm_git_pack_entry_type {
    VCM_GIT_PACK_COMMIT = 1,
    VCM_GIT_PACK_TREE = 2,
    VCM_GIT_PACK_BLOB = 3,
    VCM_GIT_PACK_TAG = 4,
    VCM_GIT_PACK_OFFSET_DELTA = 6,
    VCM_GIT_PACK_ID_DELTA = 7,
};

struct vcm_git_pack_entry {
    unsigned type;
    uint64_t size;    /* inflated */
    uint64_t data_at; /* where the zlib stream begins */
    uint64_t base_at; /* of a delta */
};

typedef bool (*vcm_git_pack_find_fn)(uint64_t *offset, const struct vcm_git_pack_file *file,
                                     const unsigned char *id);

/* `bytes` are those of the pack from `offset` on, VCM_GIT_PACK_ENTRY_BYTES or as many as there are.
 * False for a header that is none, and for a base that `find` does not find. */
bool vcm_git_pack_entry_parse(struct vcm_git_pack_entry *out, const struct vcm_git_pack_file *file,
                              vcm_git_pack_find_fn find, struct vcm_slice bytes, uint64_t offset);

/* What is wrong with the deltas that lead from the object at `offset` to one that is stored whole:
 * NULL, or a few words. Only an object whose deltas have no fault may be given to libgit2. */
const char *vcm_git_pack_entry_fault(const struct vcm_git_pack_file *file, uint64_t offset);

#endif
