/*
 * zstd.h - compression, with a dictionary or without. The owner of zstd.
 *
 * Knows bytes alone: callers choose levels, bounds and the samples of a dictionary
 * (vcm/page/codec.h for pages, kb/database.h for texts). `what` names the thing in messages.
 * A vcm_zstd keeps contexts for reuse, because creating one costs more than compressing a page. A
 * dictionary is digested once, when it is opened, and never changes. Any number of threads may use
 * both at a time; they are closed when no thread uses them.
 */
#ifndef VCM_BASE_ZSTD_H
#define VCM_BASE_ZSTD_H

#include <stdbool.h>

#include "base/buf.h"

struct vcm_zstd;
struct vcm_zstd_dictionary;

int vcm_zstd_open(struct vcm_zstd **out, struct vcm_error *err);
void vcm_zstd_close(struct vcm_zstd *zstd);

/* Appends a dictionary of at most `bytes_max` bytes, trained from samples that are concatenated in
 * `samples`; `sizes` has the length of each. The same samples give the same dictionary.
 * VCM_UNSUPPORTED when they are too few or too similar. */
int vcm_zstd_train(struct vcm_buf *out, struct vcm_slice samples, const size_t *sizes,
                   unsigned sizes_len, size_t bytes_max, struct vcm_error *err);

/* Digests a dictionary that vcm_zstd_train() made; the bytes are copied. With level 0 it is for
 * decompression alone, which is cheaper. VCM_STORE_CORRUPT when the bytes are anything else. */
int vcm_zstd_dictionary_open(struct vcm_zstd_dictionary **out, struct vcm_slice bytes, int level,
                             struct vcm_error *err);
void vcm_zstd_dictionary_close(struct vcm_zstd_dictionary *dictionary);

/* Appends the compressed bytes, which may be a few more than there were. `dictionary` may be NULL;
 * a dictionary has its own level. The same input gives the same bytes with the same version of zstd
 * only. */
int vcm_zstd_compress(struct vcm_buf *out, struct vcm_zstd *zstd, struct vcm_slice bytes, int level,
                      const struct vcm_zstd_dictionary *dictionary, const char *what,
                      struct vcm_error *err);

/* Writes exactly `len` bytes to `bytes`. VCM_STORE_CORRUPT when `packed` has another length, or was
 * made with another dictionary; the memory is then undefined. Allocates at most one context,
 * whatever `packed` claims. */
int vcm_zstd_decompress(void *bytes, size_t len, struct vcm_zstd *zstd, struct vcm_slice packed,
                        const struct vcm_zstd_dictionary *dictionary, const char *what,
                        struct vcm_error *err);

/* The same for bytes that are stored alone: the packed form records their length and a checksum.
 * Unpacking appends them; `out`'s maximum is the bound. VCM_STORE_CORRUPT for anything that
 * vcm_zstd_pack() did not write. */
int vcm_zstd_pack(struct vcm_buf *out, struct vcm_zstd *zstd, struct vcm_slice bytes, int level,
                  const char *what, struct vcm_error *err);
int vcm_zstd_unpack(struct vcm_buf *out, struct vcm_zstd *zstd, struct vcm_slice packed,
                    const char *what, struct vcm_error *err);

/* Whether the bytes begin like packed ones. */
bool vcm_zstd_is_packed(struct vcm_slice bytes);

#endif
