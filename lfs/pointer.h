/*
 * pointer.h - the small text that a repository has in place of a file whose content is in LFS.
 *
 * Read as git-lfs itself reads it, which takes more than its specification says: the lines version,
 * oid and size in this order, extensions anywhere before size; line ends LF or CRLF, empty lines,
 * white space around all of it, and the version URLs of its first releases.
 */
#ifndef VCM_LFS_POINTER_H
#define VCM_LFS_POINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"

#define VCM_LFS_POINTER_BYTES_MAX ((size_t)1023)

struct vcm_lfs_pointer {
    unsigned char oid[VCM_HASH_SHA256_BYTES];
    uint64_t size;
    unsigned extensions; /* programs that changed the content before it was stored */
};

/* False when the text is no pointer. */
bool vcm_lfs_pointer_parse(struct vcm_lfs_pointer *out, struct vcm_slice text);

/* Appends the pointer, without extensions. */
void vcm_lfs_pointer_put(struct vcm_buf *out, const struct vcm_lfs_pointer *pointer);

#endif
