#include "vcm/codec.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/limits.h"

#include "base/banned.h"

/* More threads than this at one time make contexts of their own and throw them away. */
#define KEPT_MAX 8

/* What is not in use. A slot is emptied by whoever takes its context, so no context has two users.
 */
struct vcm_codec {
    _Atomic(ZSTD_CCtx *) writers[KEPT_MAX];
    _Atomic(ZSTD_DCtx *) readers[KEPT_MAX];
};

struct vcm_codec_dictionary {
    ZSTD_DDict *reading;
    ZSTD_CDict *writing; /* NULL when it was opened for reading */
};

int vcm_codec_open(struct vcm_codec **out, struct vcm_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? VCM_OK : vcm_error_memory(err);
}

void vcm_codec_close(struct vcm_codec *codec)
{
    if (!codec)
        return;
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        ZSTD_freeCCtx(atomic_load(&codec->writers[i]));
        ZSTD_freeDCtx(atomic_load(&codec->readers[i]));
    }
    free(codec);
}

static ZSTD_CCtx *take_writer(struct vcm_codec *codec)
{
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        ZSTD_CCtx *kept = atomic_exchange(&codec->writers[i], NULL);
        if (kept)
            return kept;
    }
    return ZSTD_createCCtx();
}

static void give_writer(struct vcm_codec *codec, ZSTD_CCtx *writer)
{
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        ZSTD_CCtx *empty = NULL;
        if (atomic_compare_exchange_strong(&codec->writers[i], &empty, writer))
            return;
    }
    ZSTD_freeCCtx(writer);
}

static ZSTD_DCtx *take_reader(struct vcm_codec *codec)
{
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        ZSTD_DCtx *kept = atomic_exchange(&codec->readers[i], NULL);
        if (kept)
            return kept;
    }
    return ZSTD_createDCtx();
}

static void give_reader(struct vcm_codec *codec, ZSTD_DCtx *reader)
{
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        ZSTD_DCtx *empty = NULL;
        if (atomic_compare_exchange_strong(&codec->readers[i], &empty, reader))
            return;
    }
    ZSTD_freeDCtx(reader);
}

static int fail_write(size_t result, struct vcm_error *err)
{
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        return vcm_error_memory(err);
    return vcm_error_set(err, VCM_INTERNAL, "cannot compress a page: %s",
                         ZSTD_getErrorName(result));
}

static int fail_read(size_t result, struct vcm_error *err)
{
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        return vcm_error_memory(err);
    return vcm_error_set(err, VCM_STORE_CORRUPT, "a compressed page is damaged: %s",
                         ZSTD_getErrorName(result));
}

/* A dictionary saves about a twentieth of what it is trained for, and is to cost a fraction of it.
 */
size_t vcm_codec_dictionary_size(uint64_t content_bytes)
{
    uint64_t size = content_bytes / 64;

    if (size > VCM_LIMIT_DICTIONARY_BYTES)
        size = VCM_LIMIT_DICTIONARY_BYTES;
    return size < VCM_LIMIT_DICTIONARY_BYTES_MIN ? 0 : (size_t)size;
}

/* The number of samples that lie within the bytes and within our bound. */
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
    char *at = vcm_buf_reserve(out, bytes_max);
    if (!at)
        return vcm_buf_check(out, "a dictionary", err);
    size_t got = ZDICT_trainFromBuffer(at, bytes_max, samples.data, sizes,
                                       count_samples(samples, sizes, sizes_len));
    if (ZDICT_isError(got)) {
        if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
            return vcm_error_memory(err);
        return vcm_error_set(err, VCM_UNSUPPORTED, "no dictionary can be made: %s",
                             ZDICT_getErrorName(got));
    }
    vcm_buf_advance(out, got);
    return VCM_OK;
}

/* Bytes that are no dictionary would be taken for plain content by zstd. */
static int check_dictionary(struct vcm_slice bytes, struct vcm_error *err)
{
    if (bytes.len > VCM_LIMIT_DICTIONARY_BYTES)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "a dictionary of %zu bytes is not ours",
                             bytes.len);
    if (bytes.len < 8 || ZSTD_getDictID_fromDict(bytes.data, bytes.len) == 0)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "a dictionary is damaged: no header");
    size_t header = ZDICT_getDictHeaderSize(bytes.data, bytes.len);
    if (!ZDICT_isError(header))
        return VCM_OK;
    if (ZSTD_getErrorCode(header) == ZSTD_error_memory_allocation)
        return vcm_error_memory(err);
    return vcm_error_set(err, VCM_STORE_CORRUPT, "a dictionary is damaged: %s",
                         ZDICT_getErrorName(header));
}

int vcm_codec_dictionary_open(struct vcm_codec_dictionary **out, struct vcm_slice bytes,
                              enum vcm_codec_use use, struct vcm_error *err)
{
    struct vcm_codec_dictionary *made = NULL;

    *out = NULL;
    int rc = check_dictionary(bytes, err);
    if (rc != VCM_OK)
        return rc;
    made = calloc(1, sizeof *made);
    if (!made)
        goto no_memory;
    made->reading = ZSTD_createDDict(bytes.data, bytes.len);
    if (!made->reading)
        goto no_memory;
    if (use == VCM_CODEC_WRITE) {
        made->writing = ZSTD_createCDict(bytes.data, bytes.len, VCM_CODEC_LEVEL);
        if (!made->writing)
            goto no_memory;
    }
    *out = made;
    return VCM_OK;
no_memory:
    vcm_codec_dictionary_close(made);
    return vcm_error_memory(err);
}

void vcm_codec_dictionary_close(struct vcm_codec_dictionary *dictionary)
{
    if (!dictionary)
        return;
    ZSTD_freeCDict(dictionary->writing);
    ZSTD_freeDDict(dictionary->reading);
    free(dictionary);
}

int vcm_codec_compress(struct vcm_buf *out, struct vcm_codec *codec, struct vcm_slice frame,
                       const struct vcm_codec_dictionary *dictionary, struct vcm_error *err)
{
    size_t bound = ZSTD_compressBound(frame.len);
    size_t got;

    assert(!dictionary || dictionary->writing);
    if (frame.len > VCM_LIMIT_FRAME_BYTES)
        return vcm_error_set(err, VCM_UNSUPPORTED, "a page of %zu bytes is too large to compress",
                             frame.len);
    char *at = vcm_buf_reserve(out, bound);
    if (!at)
        return vcm_buf_check(out, "a compressed page", err);
    ZSTD_CCtx *writer = take_writer(codec);
    if (!writer)
        return vcm_error_memory(err);
    if (dictionary)
        got =
            ZSTD_compress_usingCDict(writer, at, bound, frame.data, frame.len, dictionary->writing);
    else
        got = ZSTD_compressCCtx(writer, at, bound, frame.data, frame.len, VCM_CODEC_LEVEL);
    give_writer(codec, writer);
    if (ZSTD_isError(got))
        return fail_write(got, err);
    vcm_buf_advance(out, got);
    return VCM_OK;
}

int vcm_codec_decompress(void *frame, size_t frame_bytes, struct vcm_codec *codec,
                         struct vcm_slice packed, const struct vcm_codec_dictionary *dictionary,
                         struct vcm_error *err)
{
    size_t got;

    ZSTD_DCtx *reader = take_reader(codec);
    if (!reader)
        return vcm_error_memory(err);
    if (dictionary)
        got = ZSTD_decompress_usingDDict(reader, frame, frame_bytes, packed.data, packed.len,
                                         dictionary->reading);
    else
        got = ZSTD_decompressDCtx(reader, frame, frame_bytes, packed.data, packed.len);
    give_reader(codec, reader);
    if (ZSTD_isError(got))
        return fail_read(got, err);
    if (got != frame_bytes)
        return vcm_error_set(err, VCM_STORE_CORRUPT,
                             "a compressed page is damaged: %zu bytes instead of %zu", got,
                             frame_bytes);
    return VCM_OK;
}
