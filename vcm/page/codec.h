/*
 * codec.h - compressed frames and the dictionaries that make them small: what base/zstd.h does,
 * with the level and the bounds of pages.
 *
 * Knows bytes, not pages: the callers decide which frames are compressed, with which dictionary,
 * and when one is trained again. A compressed frame does not prove that it is whole: the code that
 * stores it keeps its length, and its checksum or the hash of the frame.
 * A codec keeps contexts for reuse, since making one costs more than compressing a page. A
 * dictionary is digested once, when it is opened, and never changes. Any number of threads may use
 * both at a time; they are closed after the last use.
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

/* The size of a dictionary that saves more than it costs for content of this size; 0 for none. */
size_t vcm_codec_dictionary_size(uint64_t content_bytes);

/* Appends a dictionary of at most `bytes_max` bytes, trained with the samples that are concatenated
 * in `samples`; `sizes` has the length of each. Samples should come from all parts of the content,
 * about a hundred times the dictionary's size; what exceeds VCM_LIMIT_DICTIONARY_SAMPLES is
 * ignored. The same samples give the same dictionary. VCM_UNSUPPORTED when they are too few or too
 * similar. */
int vcm_codec_train(struct vcm_buf *out, struct vcm_slice samples, const size_t *sizes,
                    unsigned sizes_len, size_t bytes_max, struct vcm_error *err);

/* A dictionary for reading is cheaper to open; vcm_codec_compress() refuses it. */
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
