#include "base/zstd.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/banned.h"

/* More threads than this at one time create contexts of their own and free them after use. */
#define KEPT_MAX 8

/* Idle contexts of one kind. A thread empties the slot when it takes the context, so no context has
 * two users. */
struct contexts {
    _Atomic(void *) slots[KEPT_MAX];
};

struct vcm_zstd {
    struct contexts writers; /* ZSTD_CCtx */
    struct contexts readers; /* ZSTD_DCtx */
};

struct vcm_zstd_dictionary {
    ZSTD_DDict *reading;
    ZSTD_CDict *writing; /* NULL when it was opened for reading */
};

int vcm_zstd_open(struct vcm_zstd **out, struct vcm_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? VCM_OK : vcm_error_memory(err);
}

void vcm_zstd_close(struct vcm_zstd *zstd)
{
    if (!zstd)
        return;
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        ZSTD_freeCCtx(atomic_load(&zstd->writers.slots[i]));
        ZSTD_freeDCtx(atomic_load(&zstd->readers.slots[i]));
    }
    free(zstd);
}

/* NULL when there is none. */
static void *take(struct contexts *contexts)
{
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        void *kept = atomic_exchange(&contexts->slots[i], NULL);
        if (kept)
            return kept;
    }
    return NULL;
}

/* False when all slots are full: then the context stays the caller's. */
static bool give(struct contexts *contexts, void *context)
{
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        void *empty = NULL;
        if (atomic_compare_exchange_strong(&contexts->slots[i], &empty, context))
            return true;
    }
    return false;
}

static ZSTD_CCtx *take_writer(struct vcm_zstd *zstd)
{
    ZSTD_CCtx *kept = take(&zstd->writers);

    return kept ? kept : ZSTD_createCCtx();
}

static void give_writer(struct vcm_zstd *zstd, ZSTD_CCtx *writer)
{
    if (!give(&zstd->writers, writer))
        ZSTD_freeCCtx(writer);
}

static ZSTD_DCtx *take_reader(struct vcm_zstd *zstd)
{
    ZSTD_DCtx *kept = take(&zstd->readers);

    return kept ? kept : ZSTD_createDCtx();
}

static void give_reader(struct vcm_zstd *zstd, ZSTD_DCtx *reader)
{
    if (!give(&zstd->readers, reader))
        ZSTD_freeDCtx(reader);
}

static int fail_write(size_t result, const char *what, struct vcm_error *err)
{
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        return vcm_error_memory(err);
    return vcm_error_set(err, VCM_INTERNAL, "cannot compress %s: %s", what,
                         ZSTD_getErrorName(result));
}

static int fail_read(size_t result, const char *what, struct vcm_error *err)
{
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        return vcm_error_memory(err);
    return vcm_error_set(err, VCM_STORE_CORRUPT, "%s is damaged: %s", what,
                         ZSTD_getErrorName(result));
}

int vcm_zstd_train(struct vcm_buf *out, struct vcm_slice samples, const size_t *sizes,
                   unsigned sizes_len, size_t bytes_max, struct vcm_error *err)
{
    char *at = vcm_buf_reserve(out, bytes_max);

    if (!at)
        return vcm_buf_check(out, "a dictionary", err);
    size_t got = ZDICT_trainFromBuffer(at, bytes_max, samples.data, sizes, sizes_len);
    if (ZDICT_isError(got)) {
        if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
            return vcm_error_memory(err);
        return vcm_error_set(err, VCM_UNSUPPORTED, "no dictionary can be made: %s",
                             ZDICT_getErrorName(got));
    }
    vcm_buf_advance(out, got);
    return VCM_OK;
}

/* zstd would use bytes that are no dictionary as plain content. */
static int check_dictionary(struct vcm_slice bytes, struct vcm_error *err)
{
    if (bytes.len < 8 || ZSTD_getDictID_fromDict(bytes.data, bytes.len) == 0)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "a dictionary is damaged: no header");
    size_t header = ZDICT_getDictHeaderSize(bytes.data, bytes.len);
    if (!ZDICT_isError(header))
        return VCM_OK;
    return fail_read(header, "a dictionary", err);
}

int vcm_zstd_dictionary_open(struct vcm_zstd_dictionary **out, struct vcm_slice bytes, int level,
                             struct vcm_error *err)
{
    struct vcm_zstd_dictionary *made = NULL;

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
    if (level > 0) {
        made->writing = ZSTD_createCDict(bytes.data, bytes.len, level);
        if (!made->writing)
            goto no_memory;
    }
    *out = made;
    return VCM_OK;
no_memory:
    vcm_zstd_dictionary_close(made);
    return vcm_error_memory(err);
}

void vcm_zstd_dictionary_close(struct vcm_zstd_dictionary *dictionary)
{
    if (!dictionary)
        return;
    ZSTD_freeCDict(dictionary->writing);
    ZSTD_freeDDict(dictionary->reading);
    free(dictionary);
}

int vcm_zstd_compress(struct vcm_buf *out, struct vcm_zstd *zstd, struct vcm_slice bytes, int level,
                      const struct vcm_zstd_dictionary *dictionary, const char *what,
                      struct vcm_error *err)
{
    size_t bound = ZSTD_compressBound(bytes.len);
    size_t got;

    assert(!dictionary || dictionary->writing);
    char *at = vcm_buf_reserve(out, bound);
    if (!at)
        return vcm_buf_check(out, what, err);
    ZSTD_CCtx *writer = take_writer(zstd);
    if (!writer)
        return vcm_error_memory(err);
    if (dictionary)
        got =
            ZSTD_compress_usingCDict(writer, at, bound, bytes.data, bytes.len, dictionary->writing);
    else
        got = ZSTD_compressCCtx(writer, at, bound, bytes.data, bytes.len, level);
    give_writer(zstd, writer);
    if (ZSTD_isError(got))
        return fail_write(got, what, err);
    vcm_buf_advance(out, got);
    return VCM_OK;
}

int vcm_zstd_decompress(void *bytes, size_t len, struct vcm_zstd *zstd, struct vcm_slice packed,
                        const struct vcm_zstd_dictionary *dictionary, const char *what,
                        struct vcm_error *err)
{
    size_t got;

    ZSTD_DCtx *reader = take_reader(zstd);
    if (!reader)
        return vcm_error_memory(err);
    if (dictionary)
        got = ZSTD_decompress_usingDDict(reader, bytes, len, packed.data, packed.len,
                                         dictionary->reading);
    else
        got = ZSTD_decompressDCtx(reader, bytes, len, packed.data, packed.len);
    give_reader(zstd, reader);
    if (ZSTD_isError(got))
        return fail_read(got, what, err);
    if (got != len)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "%s is damaged: %zu bytes instead of %zu",
                             what, got, len);
    return VCM_OK;
}

int vcm_zstd_pack(struct vcm_buf *out, struct vcm_zstd *zstd, struct vcm_slice bytes, int level,
                  const char *what, struct vcm_error *err)
{
    size_t bound = ZSTD_compressBound(bytes.len);
    char *at = vcm_buf_reserve(out, bound);

    if (!at)
        return vcm_buf_check(out, what, err);
    ZSTD_CCtx *writer = take_writer(zstd);
    if (!writer)
        return vcm_error_memory(err);
    size_t got = ZSTD_CCtx_setParameter(writer, ZSTD_c_compressionLevel, level);
    if (!ZSTD_isError(got))
        got = ZSTD_CCtx_setParameter(writer, ZSTD_c_checksumFlag, 1);
    if (!ZSTD_isError(got))
        got = ZSTD_compress2(writer, at, bound, bytes.data, bytes.len);
    ZSTD_CCtx_reset(writer, ZSTD_reset_session_and_parameters);
    give_writer(zstd, writer);
    if (ZSTD_isError(got))
        return fail_write(got, what, err);
    vcm_buf_advance(out, got);
    return VCM_OK;
}

int vcm_zstd_unpack(struct vcm_buf *out, struct vcm_zstd *zstd, struct vcm_slice packed,
                    const char *what, struct vcm_error *err)
{
    unsigned long long len = ZSTD_getFrameContentSize(packed.data, packed.len);

    if (len == ZSTD_CONTENTSIZE_UNKNOWN || len == ZSTD_CONTENTSIZE_ERROR)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "%s is damaged: no header", what);
    /* A byte of compressed input gives at most this many bytes: a header that claims more is
     * refused before memory is allocated. */
    if (len / (128 * 1024) > packed.len)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "%s is damaged: %llu bytes from %zu", what,
                             len, packed.len);
    char *at = vcm_buf_reserve(out, (size_t)len);
    if (!at)
        return vcm_buf_check(out, what, err);
    int rc = vcm_zstd_decompress(at, (size_t)len, zstd, packed, NULL, what, err);
    if (rc == VCM_OK)
        vcm_buf_advance(out, (size_t)len);
    return rc;
}

bool vcm_zstd_is_packed(struct vcm_slice bytes)
{
    static const unsigned char magic[] = {0x28, 0xb5, 0x2f, 0xfd};

    return bytes.len >= sizeof magic && memcmp(bytes.data, magic, sizeof magic) == 0;
}
