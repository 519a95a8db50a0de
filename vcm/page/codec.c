#include "vcm/page/codec.h"

#include <assert.h>

#include "base/limits.h"
#include "base/zstd.h"

#include "base/banned.h"

/* The types of codec.h are those of base/zstd.h under other names. */
static struct vcm_zstd *zstd_of(struct vcm_codec *codec)
{
    return (struct vcm_zstd *)codec;
}

static const struct vcm_zstd_dictionary *
zstd_dictionary_of(const struct vcm_codec_dictionary *dictionary)
{
    return (const struct vcm_zstd_dictionary *)dictionary;
}

int vcm_codec_open(struct vcm_codec **out, struct vcm_error *err)
{
    struct vcm_zstd *made;
    int rc = vcm_zstd_open(&made, err);

    *out = (struct vcm_codec *)made;
    return rc;
}

void vcm_codec_close(struct vcm_codec *codec)
{
    vcm_zstd_close(zstd_of(codec));
}

/* A dictionary saves about a twentieth of the content's bytes, and has to cost a fraction of that.
 */
size_t vcm_codec_dictionary_size(uint64_t content_bytes)
{
    uint64_t size = content_bytes / 64;

    if (size > VCM_LIMIT_DICTIONARY_BYTES)
        size = VCM_LIMIT_DICTIONARY_BYTES;
    return size < VCM_LIMIT_DICTIONARY_BYTES_MIN ? 0 : (size_t)size;
}

/* The number of samples that are within the bytes and within the limit. */
static unsigned count_samples(struct vcm_slice samples, const size_t *sizes, unsigned sizes_len)
{
    size_t left =
        samples.len < VCM_LIMIT_DICTIONARY_SAMPLES ? samples.len : VCM_LIMIT_DICTIONARY_SAMPLES;
    unsigned count = 0;

    while (count < sizes_len && sizes[count] <= left)
        left -= sizes[count++];
    return count;
}

int vcm_codec_train(struct vcm_buf *out, struct vcm_slice samples, const size_t *sizes,
                    unsigned sizes_len, size_t bytes_max, struct vcm_error *err)
{
    if (bytes_max < VCM_LIMIT_DICTIONARY_BYTES_MIN)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "a dictionary has at least %zu bytes",
                             VCM_LIMIT_DICTIONARY_BYTES_MIN);
    if (bytes_max > VCM_LIMIT_DICTIONARY_BYTES)
        bytes_max = VCM_LIMIT_DICTIONARY_BYTES;
    return vcm_zstd_train(out, samples, sizes, count_samples(samples, sizes, sizes_len), bytes_max,
                          err);
}

int vcm_codec_dictionary_open(struct vcm_codec_dictionary **out, struct vcm_slice bytes,
                              enum vcm_codec_use use, struct vcm_error *err)
{
    struct vcm_zstd_dictionary *made = NULL;
    int rc;

    if (bytes.len > VCM_LIMIT_DICTIONARY_BYTES)
        rc = vcm_error_set(err, VCM_STORE_CORRUPT, "a dictionary of %zu bytes is too large",
                           bytes.len);
    else
        rc = vcm_zstd_dictionary_open(&made, bytes, use == VCM_CODEC_WRITE ? VCM_CODEC_LEVEL : 0,
                                      err);
    *out = (struct vcm_codec_dictionary *)made;
    return rc;
}

void vcm_codec_dictionary_close(struct vcm_codec_dictionary *dictionary)
{
    vcm_zstd_dictionary_close((struct vcm_zstd_dictionary *)dictionary);
}

int vcm_codec_compress(struct vcm_buf *out, struct vcm_codec *codec, struct vcm_slice frame,
                       const struct vcm_codec_dictionary *dictionary, struct vcm_error *err)
{
    if (frame.len > VCM_LIMIT_FRAME_BYTES)
        return vcm_error_set(err, VCM_UNSUPPORTED, "a page of %zu bytes is too large to compress",
                             frame.len);
    return vcm_zstd_compress(out, zstd_of(codec), frame, VCM_CODEC_LEVEL,
                             zstd_dictionary_of(dictionary), "a page", err);
}

int vcm_codec_decompress(void *frame, size_t frame_bytes, struct vcm_codec *codec,
                         struct vcm_slice packed, const struct vcm_codec_dictionary *dictionary,
                         struct vcm_error *err)
{
    assert(frame_bytes <= VCM_LIMIT_FRAME_BYTES);
    return vcm_zstd_decompress(frame, frame_bytes, zstd_of(codec), packed,
                               zstd_dictionary_of(dictionary), "a compressed page", err);
}
