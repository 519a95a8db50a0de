/*
 * objects.h - the contents that LFS pointers stand for, as far as they are stored locally.
 *
 * They are under the repository's common git directory, or where lfs.storage says, so that working
 * trees share them, and beside the objects of alternates, as git-lfs has it. Read only: runs no
 * filter and no program, fetches nothing.
 * A handle may be used by several threads.
 */
#ifndef VCM_LFS_OBJECTS_H
#define VCM_LFS_OBJECTS_H

#include "git/repo.h"
#include "lfs/pointer.h"

struct vcm_lfs_objects;

/* The repository may be closed before the handle. */
int vcm_lfs_objects_open(struct vcm_lfs_objects **out, struct vcm_git_repo *repo,
                         struct vcm_error *err);
void vcm_lfs_objects_close(struct vcm_lfs_objects *objects);

/* Whether there is a file for the content; it may be damaged. */
int vcm_lfs_objects_has(bool *exists, const struct vcm_lfs_objects *objects,
                        const struct vcm_lfs_pointer *pointer, struct vcm_error *err);

/* Appends the content. NOT_FOUND when there is none, STORE_CORRUPT when it does not match the
 * pointer, UNSUPPORTED when it does not fit the buffer. */
int vcm_lfs_objects_read(struct vcm_buf *out, const struct vcm_lfs_objects *objects,
                         const struct vcm_lfs_pointer *pointer, struct vcm_error *err);

#endif
