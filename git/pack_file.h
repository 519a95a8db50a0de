/*
 * pack_file.h - a pack and its index on disk: finds an object and reads its bytes.
 *
 * Reads with pread() and maps nothing: a pack that shrinks while it is mapped kills the process,
 * and mapped pages count as memory. The files are not trusted: every offset is checked against the
 * size of the file before it is used.
 * Both versions of indexes are read.
 */
#ifndef VCM_GIT_PACK_FILE_H
#define VCM_GIT_PACK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VCM_GIT_PACK_FAN_OUT 256

struct vcm_git_pack_file {
    int index_fd;
    int pack_fd;
    uint64_t index_bytes;
    uint64_t ids_at; /* the first id in the index, */
    uint32_t stride; /* and from one to the next */
    uint64_t end;    /* of the objects; the pack's checksum is behind them */
    uint32_t fan_out[VCM_GIT_PACK_FAN_OUT];
};

/* Takes over both descriptors, also when it fails; then there is nothing to close. */
bool vcm_git_pack_file_open(struct vcm_git_pack_file *file, int index_fd, int pack_fd);
void vcm_git_pack_file_close(struct vcm_git_pack_file *file);

/* Where the object of this id (20 bytes) begins; false when the pack does not have it. */
bool vcm_git_pack_file_find(uint64_t *offset, const struct vcm_git_pack_file *file,
                            const unsigned char *id);

/* The same by the steps of libgit2's search: in an index whose ids are not sorted, or twice there,
 * both find the same offset. Slower than the function above. */
bool vcm_git_pack_file_find_plain(uint64_t *offset, const struct vcm_git_pack_file *file,
                                  const unsigned char *id);

/* Reads up to `len` bytes of objects at `offset`; returns how many it got, 0 on failure. */
size_t vcm_git_pack_file_read(const struct vcm_git_pack_file *file, void *out, size_t len,
                              uint64_t offset);

#endif
