/*
 * bench_codec.c - how small the pages of a home become, and how our reading compares with zstd's
 * own.
 *
 *     bench_codec <home>...
 *
 * Maps nothing: run `vcm --home HOME map REPOSITORY` first. A dictionary is made from pages that
 * lie evenly over all of them. Both readers take the same compressed pages in turns, and the best
 * of the rounds counts. Prints one row of a table a home.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zstd.h>

#include "api/vcm.h"
#include "base/limits.h"
#include "vcm/page/codec.h"

#include "base/banned.h"

#define PAGES_MAX 200000
#define ROUNDS    7

struct pages {
    struct vcm *vcm;
    struct vcm_buf frames[PAGES_MAX];
    struct vcm_buf packed[PAGES_MAX];
    unsigned len;
    size_t bytes;
    size_t largest;
};

static struct pages pages;

static _Noreturn void die(const struct vcm_error *err)
{
    fprintf(stderr, "bench_codec: %s\n", err->message);
    exit(1);
}

static double cpu(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int take_page(void *context, const struct vcm_page_entry *entry, struct vcm_error *err)
{
    struct vcm_page_query query = {.page = entry->page_id, .seq = -1};
    struct vcm_page *page;

    (void)context;
    if (pages.len == PAGES_MAX)
        return VCM_OK;
    int rc = vcm_page_open(&page, pages.vcm, &query, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_buf *frame = &pages.frames[pages.len];
    vcm_buf_init(frame, VCM_LIMIT_FRAME_BYTES);
    vcm_buf_init(&pages.packed[pages.len], VCM_LIMIT_FRAME_BYTES);
    vcm_buf_append(frame, page->frame, page->bytes);
    vcm_page_release(page);
    pages.bytes += frame->len;
    pages.largest = frame->len > pages.largest ? frame->len : pages.largest;
    pages.len++;
    return vcm_buf_check(frame, "a page", err);
}

static void load(const char *home)
{
    struct vcm_open_options options = {.home = home};
    struct vcm_pages_query query = {.limit = 0};
    struct vcm_error err = {0};
    char *cursor = NULL;

    if (vcm_open(&pages.vcm, &options, &err) != VCM_OK ||
        vcm_pages(&cursor, pages.vcm, &query, take_page, NULL, &err) != VCM_OK)
        die(&err);
    free(cursor);
    vcm_close(pages.vcm);
}

static void unload(void)
{
    for (unsigned i = 0; i < pages.len; i++) {
        vcm_buf_release(&pages.frames[i]);
        vcm_buf_release(&pages.packed[i]);
    }
    pages.len = 0;
    pages.bytes = 0;
    pages.largest = 0;
}

static double train(struct vcm_buf *dictionary)
{
    struct vcm_buf samples = VCM_BUF_INIT(2 * VCM_LIMIT_DICTIONARY_SAMPLES);
    size_t *sizes = calloc(pages.len + 1, sizeof *sizes);
    size_t step = pages.bytes / VCM_LIMIT_DICTIONARY_SAMPLES + 1;
    struct vcm_error err = {0};
    unsigned count = 0;
    double start = cpu();

    for (size_t i = 0; sizes && i < pages.len; i += step) {
        vcm_buf_append_slice(&samples, vcm_buf_slice(&pages.frames[i]));
        sizes[count++] = pages.frames[i].len;
    }
    size_t max = vcm_codec_dictionary_size(pages.bytes);
    if (max > 0 &&
        vcm_codec_train(dictionary, vcm_buf_slice(&samples), sizes, count, max, &err) != VCM_OK)
        die(&err);
    free(sizes);
    vcm_buf_release(&samples);
    return cpu() - start;
}

/* Compresses all pages and returns their compressed bytes. */
static size_t pack(struct vcm_codec *codec, const struct vcm_codec_dictionary *dictionary,
                   double *seconds)
{
    struct vcm_error err = {0};
    size_t bytes = 0;
    double start = cpu();

    for (unsigned i = 0; i < pages.len; i++) {
        vcm_buf_clear(&pages.packed[i]);
        if (vcm_codec_compress(&pages.packed[i], codec, vcm_buf_slice(&pages.frames[i]), dictionary,
                               &err) != VCM_OK)
            die(&err);
        bytes += pages.packed[i].len;
    }
    *seconds = cpu() - start;
    return bytes;
}

static double unpack_ours(char *out, struct vcm_codec *codec,
                          const struct vcm_codec_dictionary *dictionary)
{
    struct vcm_error err = {0};
    double start = cpu();

    for (unsigned i = 0; i < pages.len; i++)
        if (vcm_codec_decompress(out, pages.frames[i].len, codec, vcm_buf_slice(&pages.packed[i]),
                                 dictionary, &err) != VCM_OK)
            die(&err);
    return cpu() - start;
}

static double unpack_bare(char *out, ZSTD_DCtx *context, const ZSTD_DDict *dictionary)
{
    double start = cpu();

    for (unsigned i = 0; i < pages.len; i++)
        ZSTD_decompress_usingDDict(context, out, pages.frames[i].len, pages.packed[i].data,
                                   pages.packed[i].len, dictionary);
    return cpu() - start;
}

/* How long we take for what takes zstd 1. */
static double compare(struct vcm_codec *codec, const struct vcm_codec_dictionary *dictionary,
                      const struct vcm_buf *bytes, double *best)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_DDict *bare = bytes->len > 0 ? ZSTD_createDDict(bytes->data, bytes->len) : NULL;
    char *out = malloc(pages.largest + 1);
    double best_bare = 1e9;

    *best = 1e9;
    for (unsigned i = 0; out && context && i < ROUNDS; i++) {
        double ours = unpack_ours(out, codec, dictionary);
        double theirs = unpack_bare(out, context, bare);
        *best = ours < *best ? ours : *best;
        best_bare = theirs < best_bare ? theirs : best_bare;
    }
    free(out);
    ZSTD_freeDDict(bare);
    ZSTD_freeDCtx(context);
    return *best / best_bare;
}

static void bench(const char *home)
{
    struct vcm_buf bytes = VCM_BUF_INIT(VCM_LIMIT_DICTIONARY_BYTES);
    struct vcm_codec_dictionary *dictionary = NULL;
    struct vcm_codec *codec;
    struct vcm_error err = {0};
    double pack_seconds;
    double unpack_seconds;

    load(home);
    double train_seconds = train(&bytes);
    if (vcm_codec_open(&codec, &err) != VCM_OK ||
        (bytes.len > 0 && vcm_codec_dictionary_open(&dictionary, vcm_buf_slice(&bytes),
                                                    VCM_CODEC_WRITE, &err) != VCM_OK))
        die(&err);
    double raw = (double)pages.bytes;
    double plain = raw / (double)pack(codec, NULL, &pack_seconds);
    size_t packed = pack(codec, dictionary, &pack_seconds);
    double ratio = compare(codec, dictionary, &bytes, &unpack_seconds);
    printf("| %s | %u | %.1f | %.2f | %zu | %.2f | %.2f | %.2f | %.0f | %.0f | %.2f |\n", home,
           pages.len, raw / 1e6, plain, bytes.len / VCM_KIB, raw / (double)packed,
           raw / (double)(packed + bytes.len), train_seconds, raw / 1e6 / pack_seconds,
           raw / 1e6 / unpack_seconds, ratio);
    vcm_codec_dictionary_close(dictionary);
    vcm_codec_close(codec);
    vcm_buf_release(&bytes);
    unload();
}

int main(int argc, char **argv)
{
    printf(
        "| home | pages | MB | times smaller without | dictionary, KiB | with | and the dictionary "
        "counted | s to train | MB/s in | MB/s out | time out / zstd's |\n");
    printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 1; i < argc; i++)
        bench(argv[i]);
    return 0;
}
