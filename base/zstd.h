/*
 * zstd.h - compressed bytes, with a dictionary or without. The owner of zstd.
 *
 * Knows bytes alone: levels, bounds and what a dictionary is trained from are the callers' policy
 * (vcm/page/codec.h for pages, kb/database.h for texts). `what` names the thing in messages.
 * A vcm_zstd keeps contexts for reuse, since making one costs more than a page. A dictionary is
 * digested once, when it is opened, and never changes. Any number of threads may use both at a
 * time; closing them is for the last.
 */
#ifndef VCM_BASE_ZSTD_H
#define VCM_BASE_ZSTD_H

#include <stdbool.h>

#include "base/buf.h"

struct vcm_zstd;
struct vcm_zstd_dictionary;

int vcm_zstd_open(struct vcm_zstd **out, struct vcm_error *err);
void vcm_zstd_close(struct vcm_zstd *zstd);

/* Appends a dictionary of at most `bytes_max` bytes, made from samples that lie one behind the
 * other in `samples`; `sizes` has the length of each. The same samples give the same dictionary.
 * VCM_UNSUPPORTED when they are too few or too much of one kind to make one. */
int vcm_zstd_train(struct vcm_buf *out, struct vcm_slice samples, const size_t *sizes,
                   unsigned sizes_len, size_t bytes_max, struct vcm_error *err);

/* Digests a dictionary that vcm_zstd_train() made; the bytes are copied. With level 0 it is for
 * reading alone, which is cheaper. VCM_STORE_CORRUPT when the bytes are anything else. */
int vcm_zstd_dictionary_open(struct vcm_zstd_dictionary **out, struct vcm_slice bytes, int level,
                             struct vcm_error *err);
void vcm_zstd_dictionary_close(struct vcm_zstd_dictionary *dictionary);

/* Appends the compressed bytes, which may be a few more than there were. `dictionary` may be NULL;
 * one that is given brings its own level. The same input gives the same bytes with one version of
 * zstd, and not with another. */
int vcm_zstd_compress(struct vcm_buf *out, struct vcm_zstd *zstd, struct vcm_slice bytes, int level,
                      const struct vcm_zstd_dictionary *dictionary, const char *what,
                      struct vcm_error *err);

/* Writes exactly `len` bytes to `bytes`. VCM_STORE_CORRUPT when `packed` does not give so many, or
 * was made with another dictionary; the memory then holds anything. Never takes more memory than
 * one context, whatever `packed` says. */
int vcm_zstd_decompress(void *bytes, size_t len, struct vcm_zstd *zstd, struct vcm_slice packed,
                        const struct vcm_zstd_dictionary *dictionary, const char *what,
                        struct vcm_error *err);

/* The same for bytes that are kept with nothing beside them: the packed form says how many there
 * are and has a checksum over them. Unpacking appends them; `out`'s maximum is the bound.
 * VCM_STORE_CORRUPT for anything that vcm_zstd_pack() did not make. */
int vcm_zstd_pack(struct vcm_buf *out, struct vcm_zstd *zstd, struct vcm_slice bytes, int level,
                  const char *what, struct vcm_error *err);
int vcm_zstd_unpack(struct vcm_buf *out, struct vcm_zstd *zstd, struct vcm_slice packed,
                    const char *what, struct vcm_error *err);

/* Whether the bytes begin as packed ones do. */
bool vcm_zstd_is_packed(struct vcm_slice bytes);

#endif
