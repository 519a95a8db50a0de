/*
 * midx.h - whether the index over several packs of a directory can be given to libgit2, which
 * version 1.5 follows into packs without asking where they end. Private to this folder.
 *
 * Looks at the offsets and at what leads to them; libgit2 checks the rest by itself.
 */
#ifndef VCM_GIT_MIDX_H
#define VCM_GIT_MIDX_H

/* NULL when the index in the file `fd` fits the packs in `directory`, else what is wrong with it.
 * A pack that is not there cannot be read, and whatever the index says of it is no fault. */
const char *vcm_git_midx_fault(int fd, int directory);

#endif
