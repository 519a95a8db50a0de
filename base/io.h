/*
 * io.h - whole transfers between memory and a descriptor.
 *
 * read(2) and write(2) may transfer a part, and a signal may interrupt them; these repeat the call
 * until everything is transferred. They return the errno and set no error, because the caller knows
 * what the bytes are.
 * For descriptors that block.
 */
#ifndef VCM_BASE_IO_H
#define VCM_BASE_IO_H

#include <stdint.h>

#include "base/buf.h"

/* 0, or the errno of the write that failed; some bytes may have been written before it. */
int vcm_io_write_all(int fd, struct vcm_slice bytes);

/* The same at an offset of a file; the descriptor's own offset does not change. */
int vcm_io_write_at(int fd, struct vcm_slice bytes, uint64_t offset);

/* Reads `len` bytes at an offset of a file, or those up to its end, and returns how many. When
 * these are fewer, errno is that of the read that failed, or 0 at the end of the file. */
size_t vcm_io_read_at(int fd, void *data, size_t len, uint64_t offset);

#endif
