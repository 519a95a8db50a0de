/*
 * codec.h - compressed frames and the dictionaries that make them small: what base/zstd.h does,
 * with the level and the bounds of pages.
 *
 * Knows bytes, not pages: which frames are compressed, with which dictionary, and when it is
 * trained anew is for the callers to say. A compressed frame does not say that it is whole: whoever
 * stored it keeps its length, and its checksum or the hash of what comes out.
 * A codec keeps contexts for reuse, since making one costs more than a page. A dictionary is
 * digested once, when it is opened, and never changes. Any number of threads may use both at a
 * time; closing them is for the last.
 */
#ifndef VCM_VCM_PAGE_CODEC_H
#define VCM_VCM_PAGE_CODEC_H

#include <stdint.h>

#include "base/buf.h"

/* Levels above this one cost three times as much for a few percent (docs/BENCHMARKS.md). */
#define VCM_CODEC_LEVEL 3

struct vcm_codec;
struct vcm_codec_dictionary;

int vcm_codec_open(struct vcm_codec **out, struct vcm_error *err);
void vcm_codec_close(struct vcm_codec *codec);

/* The size of a dictionary that pays for content of so many bytes; 0 when none would. */
size_t vcm_codec_dictionary_size(uint64_t content_bytes);

/* Appends a dictionary of at most `bytes_max` bytes, made from samples that lie one behind the
 * other in `samples`; `sizes` has the length of each. Of a large content give samples from all of
 * it, about a hundred times the dictionary; what exceeds VCM_LIMIT_DICTIONARY_SAMPLES is not looked
 * at. The same samples give the same dictionary. VCM_UNSUPPORTED when they are too few or too much
 * of one kind to make one. */
int vcm_codec_train(struct vcm_buf *out, struct vcm_slice samples, const size_t *sizes,
                    unsigned sizes_len, size_t bytes_max, struct vcm_error *err);

/* For reading alone a dictionary is cheaper to open, and vcm_codec_compress() refuses it. */
enum vcm_codec_use { VCM_CODEC_READ, VCM_CODEC_WRITE };

/* Digests a dictionary that vcm_codec_train() made; the bytes are copied. VCM_STORE_CORRUPT when
 * they are anything else. */
int vcm_codec_dictionary_open(struct vcm_codec_dictionary **out, struct vcm_slice bytes,
                              enum vcm_codec_use use, struct vcm_error *err);
void vcm_codec_dictionary_close(struct vcm_codec_dictionary *dictionary);

/* Appends the compressed frame, which may be a few bytes longer than `frame`. `dictionary` may be
 * NULL. The same input gives the same bytes with one version of zstd, and not with another. */
int vcm_codec_compress(struct vcm_buf *out, struct vcm_codec *codec, struct vcm_slice frame,
                       const struct vcm_codec_dictionary *dictionary, struct vcm_error *err);

/* Writes the `frame_bytes` bytes of the frame to `frame`. VCM_STORE_CORRUPT when `packed` does not
 * give exactly so many, or was made with another dictionary; the memory then holds anything.
 * Never takes more memory than one context, whatever `packed` says. */
int vcm_codec_decompress(void *frame, size_t frame_bytes, struct vcm_codec *codec,
                         struct vcm_slice packed, const struct vcm_codec_dictionary *dictionary,
                         struct vcm_error *err);

#endif
