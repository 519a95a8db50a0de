/*
 * pack_file.h - a pack and its index on disk: where an object is, and bytes from there.
 *
 * Reads with pread() and maps nothing: a pack that shrinks under a mapping ends the process, and
 * mapped pages count as memory. Nothing that the files say is believed: every place is held against
 * the size of the file before anything is read there.
 * Packs that are not of the usual kind (an index of version 1, say) are refused; libgit2 reads
 * them.
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
    uint64_t end; /* of the objects; the pack's checksum is behind them */
    uint32_t fan_out[VCM_GIT_PACK_FAN_OUT];
};

/* Takes over both descriptors, also when it refuses them, which leaves nothing to be closed. */
bool vcm_git_pack_file_open(struct vcm_git_pack_file *file, int index_fd, int pack_fd);
void vcm_git_pack_file_close(struct vcm_git_pack_file *file);

/* Where the object of this id (20 bytes) begins; false when it is not there. */
bool vcm_git_pack_file_find(uint64_t *offset, const struct vcm_git_pack_file *file,
                            const unsigned char *id);

/* Reads up to `len` bytes of objects at `offset`; how many it got, 0 for none. */
size_t vcm_git_pack_file_read(const struct vcm_git_pack_file *file, void *out, size_t len,
                              uint64_t offset);

#endif
