/*
 * pack_reader.h - reads blobs from packs, about as fast as they inflate. pack_reader.c is the owner
 * of libdeflate.
 *
 * It returns a blob or nothing: any object with a problem (not in these packs, of another type, too
 * long, a delta that does not fit) is left to libgit2, which reports what is wrong. The caller
 * checks the bytes against the id. Knows the largest packs of the repository's own object
 * directory, as they were when it was opened. Memory: the bytes that are read, and a share of
 * VCM_LIMIT_BASE_CACHE_BYTES. A reader belongs to one thread at a time.
 */
#ifndef VCM_GIT_PACK_READER_H
#define VCM_GIT_PACK_READER_H

#include "base/buf.h"
#include "git/repo.h"

struct vcm_git_pack_reader;

/* A reader of the packs in the directory "pack" under `objects`; NULL when there are none or
 * without memory. */
struct vcm_git_pack_reader *vcm_git_pack_reader_open(const char *objects);

/* The same for one pack. Always takes over the descriptors. */
struct vcm_git_pack_reader *vcm_git_pack_reader_open_files(int index_fd, int pack_fd);

void vcm_git_pack_reader_close(struct vcm_git_pack_reader *reader);

/* Appends the blob to `out` if it is not longer than `size_max`, and sets its size. False when
 * libgit2 has to read it; `out` is then unchanged. */
bool vcm_git_pack_reader_read(struct vcm_buf *out, uint64_t *size,
                              struct vcm_git_pack_reader *reader, const struct vcm_git_id *id,
                              uint64_t size_max);

#endif
