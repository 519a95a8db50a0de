/*
 * midx.h - whether a multi-pack-index can be given to libgit2: version 1.5 follows its offsets into
 * packs without checking where the packs end. Private to this folder.
 *
 * Checks the offsets and the tables that lead to them; libgit2 checks the rest.
 */
#ifndef VCM_GIT_MIDX_H
#define VCM_GIT_MIDX_H

/* NULL when the index in the file `fd` fits the packs in `directory`, else what is wrong with it. A
 * missing pack cannot be read, so entries that lead to it are no fault. */
const char *vcm_git_midx_fault(int fd, int directory);

#endif
