/*
 * blob.h - the bytes of blobs: read from packs by our own reader, otherwise by libgit2.
 */
#ifndef VCM_GIT_BLOB_H
#define VCM_GIT_BLOB_H

#include <stdint.h>

#include "base/buf.h"
#include "git/repo.h"

/* The size from the object's header, without reading it. NOT_FOUND when the object is missing,
 * UNSUPPORTED when it is no blob. */
int vcm_git_blob_size(uint64_t *size, struct vcm_git_repo *repo, const struct vcm_git_id *id,
                      struct vcm_error *err);

/* Sets the size, and appends the blob's bytes when that is at most `size_max`. */
int vcm_git_blob_read_upto(struct vcm_buf *out, uint64_t *size, struct vcm_git_repo *repo,
                           const struct vcm_git_id *id, uint64_t size_max, struct vcm_error *err);

/* The same for callers that verify the bytes by another hash: this function does not check them
 * against the id, and its errors may be imprecise. When it fails, or the other hash does not match,
 * the caller uses the function above. */
int vcm_git_blob_read_unverified(struct vcm_buf *out, uint64_t *size, struct vcm_git_repo *repo,
                                 const struct vcm_git_id *id, uint64_t size_max,
                                 struct vcm_error *err);

/* Appends the blob's bytes. NOT_FOUND when the object is missing, UNSUPPORTED when it is no blob,
 * IO_ERROR when it is damaged, or the buffer's fault when it does not fit. */
int vcm_git_blob_read(struct vcm_buf *out, struct vcm_git_repo *repo, const struct vcm_git_id *id,
                      struct vcm_error *err);

#endif
