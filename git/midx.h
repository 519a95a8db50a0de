/*
 * midx.h - whether a multi-pack-index can be given to libgit2: version 1.5 follows its offsets into
 * packs without checking where the packs end. Private to this folder.
 *
 * Checks the offsets and the tables that lead to them; libgit2 checks the rest.
 */
#ifndef VCM_GIT_MIDX_H
#define VCM_GIT_MIDX_H

#include <stdbool.h>
#include <stdint.h>

struct vcm_git_midx_chunk {
    uint64_t at, bytes;
};

struct vcm_git_midx_pack {
    const char *name; /* of its index */
    uint64_t bytes;   /* UINT64_MAX for a pack that is not there */
};

struct vcm_git_midx {
    int fd;
    uint64_t bytes;
    uint32_t pack_count, count; /* of objects */
    struct vcm_git_midx_chunk names, fan_out, ids, offsets, large;
    char *text; /* of the names */
    struct vcm_git_midx_pack *packs;
};

/* NULL when the index in the file `fd` fits the packs in `directory`, else what is wrong with it. A
 * missing pack cannot be read, so entries that lead to it are no fault. */
const char *vcm_git_midx_fault(int fd, int directory);

/* Takes over the descriptor, also when it fails; then there is nothing to close. */
bool vcm_git_midx_open(struct vcm_git_midx *midx, int fd);
void vcm_git_midx_close(struct vcm_git_midx *midx);

/* Where the object of this id is, found by the same steps as libgit2's, so that a table that is not
 * sorted leads both to the same place. The name, "pack-x.idx", is valid until the index is
 * closed. */
bool vcm_git_midx_find(const char **index_name, uint64_t *offset, const struct vcm_git_midx *midx,
                       const unsigned char *id);

#endif
