/*
 * blob_reader.h - the bytes of a file of a commit, from the repository's objects or, where the blob
 * is a Git LFS pointer, from its LFS objects.
 *
 * A reader is used by one thread: libgit2's handles are not shared.
 */
#ifndef VCM_SOURCES_BLOB_READER_H
#define VCM_SOURCES_BLOB_READER_H

#include "git/repo.h"
#include "vcm/page/source.h"

struct vcm_blob_reader;

/* `root` is the path of the repository. */
int vcm_blob_reader_open(struct vcm_blob_reader **out, const char *root, struct vcm_error *err);

/* Opens a handle of its own for the repository of `repo`, and for its snapshot. */
int vcm_blob_reader_open_again(struct vcm_blob_reader **out, const struct vcm_git_repo *repo,
                               struct vcm_error *err);
void vcm_blob_reader_close(struct vcm_blob_reader *reader);

/* The reader's own handle of the repository, for the same thread. */
struct vcm_git_repo *vcm_blob_reader_repo(const struct vcm_blob_reader *reader);

/* Fills in the content of an item: its bytes, or why there are none. Content larger than `size_max`
 * is reported as too large. */
int vcm_blob_reader_read(struct vcm_source_content *content, struct vcm_blob_reader *reader,
                         const struct vcm_source_item *item, size_t size_max,
                         struct vcm_error *err);

#endif
