/*
 * pack_reader.h - blobs from packs, at the speed of their inflation. pack_reader.c is the owner of
 * libdeflate.
 *
 * An answer is either right or absent: whatever is odd about an object (not in these packs, of
 * another type, too long, a delta that does not fit) leaves it to libgit2, which tells what is
 * wrong with it. Who asks checks the bytes against the id. Knows the largest packs of the
 * repository's own object directory, as they were when it was opened. Memory: what is read, and a
 * part of VCM_LIMIT_BASE_CACHE_BYTES. A reader belongs to one thread at a time.
 */
#ifndef VCM_GIT_PACK_READER_H
#define VCM_GIT_PACK_READER_H

#include "base/buf.h"
#include "git/repo.h"

struct vcm_git_pack_reader;

/* Reader of the packs in the directory "pack" under `objects`; NULL when there is nothing to read
 * or no memory. */
struct vcm_git_pack_reader *vcm_git_pack_reader_open(const char *objects);

/* The same for one pack. Takes over the descriptors in any case. */
struct vcm_git_pack_reader *vcm_git_pack_reader_open_files(int index_fd, int pack_fd);

void vcm_git_pack_reader_close(struct vcm_git_pack_reader *reader);

/* Appends the blob to `out` if it is not longer than `size_max`, and tells its size. False when the
 * answer has to be had elsewhere; `out` is then as long as it was. */
bool vcm_git_pack_reader_read(struct vcm_buf *out, uint64_t *size,
                              struct vcm_git_pack_reader *reader, const struct vcm_git_id *id,
                              uint64_t size_max);

#endif
