/*
 * index.h - git's index: the paths of the working tree that git tracks, with what it knew of each
 * file when it last looked.
 *
 * Read only, by a parser of our own: libgit2 1.5 refuses an index with sparse directories or
 * without a checksum, both of which git writes for large repositories. Versions 2, 3 and 4; a split
 * index is refused. Extensions that may be skipped are skipped.
 */
#ifndef VCM_GIT_INDEX_H
#define VCM_GIT_INDEX_H

#include "base/arena.h"
#include "git/repo.h"

struct vcm_git_index_entry {
    struct vcm_slice path; /* safe to use below the root of the working tree */
    struct vcm_git_id id;
    unsigned mode;  /* 0100644, 0100755, 0120000 or 0160000 */
    unsigned stage; /* 0, or 1 to 3 for the sides of a conflict */
    bool assume_valid, skip_worktree, intent_to_add;
    /* Of the file, cut to 32 bits as git does. */
    uint32_t ctime_s, ctime_ns, mtime_s, mtime_ns, inode, uid, gid, size;
};

struct vcm_git_index {
    struct vcm_git_index_entry *entries; /* by path, then by stage */
    size_t count, capacity;
    uint32_t mtime_s, mtime_ns; /* of the index itself; 0 without one */
    struct vcm_buf bytes;       /* of the file, which paths point into */
    struct vcm_arena arena;     /* of the paths that do not */
};

void vcm_git_index_init(struct vcm_git_index *index);
void vcm_git_index_release(struct vcm_git_index *index);

/* Reads the index of this working tree; a missing one is empty. A directory that a sparse checkout
 * keeps as one entry is replaced by its files, each with `skip_worktree`. IO_ERROR: it is damaged;
 * UNSUPPORTED: a split one, or one of a version or with an extension that is not known. */
int vcm_git_index_read(struct vcm_git_index *index, struct vcm_git_repo *repo,
                       struct vcm_error *err);

/* The same for bytes, which index->bytes holds already; sparse directories stay as they are, with
 * mode 040000. */
int vcm_git_index_parse(struct vcm_git_index *index, struct vcm_error *err);

/* The first entry at or behind `path` in the order of the index; index->count when there is none.
 */
size_t vcm_git_index_find(const struct vcm_git_index *index, struct vcm_slice path);

#endif
