/*
 * bench_kb.c - ingests text into a knowledge base and searches it.
 *
 * usage: bench_kb TEXT-FILE DATABASE [CHUNK-TOKENS [COPIES]]
 *
 * The text is taken apart into documents of 64 KiB; the database should not exist.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "base/path.h"
#include "kb/ingestor.h"

#include "base/banned.h"

#define DOCUMENT_BYTES ((size_t)64 * 1024)
#define ROUNDS         5

static const char *const queries[] = {
    "memory",
    "page fault",
    "configure the compiler options",
    "\"command line\"",
    "how do I install the package from source",
    "conf*",
    "function returns value",
    "unicode normalization",
    "what is the difference between a list and a tuple",
    "install",
    "error handling",
    "schema validation",
    "working directory of a process",
};

#define QUERIES (sizeof queries / sizeof queries[0])

/* Words that are everywhere. */
static const char *const common[] = {"the", "a", "the of and", "is it in the", "con*", "the the*"};

#define COMMON (sizeof common / sizeof common[0])

static double now_ms(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static int count_chunks(void *context, const struct vcm_ingestor_result *result,
                        struct vcm_error *err)
{
    (void)err;
    *(uint64_t *)context += result->chunks;
    return VCM_OK;
}

static int count_hit(void *context, const struct vcm_database_chunk *chunk, struct vcm_error *err)
{
    (void)chunk;
    (void)err;
    ++*(unsigned *)context;
    return VCM_OK;
}

static size_t cut_documents(struct vcm_ingestor_item *items, const struct vcm_buf *text,
                            uint32_t target, unsigned copies)
{
    size_t count = 0;

    for (unsigned copy = 0; copy < copies; copy++) {
        for (size_t at = 0; at < text->len; count++) {
            size_t end = at + DOCUMENT_BYTES < text->len ? at + DOCUMENT_BYTES : text->len;
            while (end < text->len && text->data[end - 1] != '\n')
                end++;
            struct vcm_buf path = VCM_BUF_INIT(64);
            vcm_buf_append_format(&path, "docs/%06zu.md", count);
            char *name = vcm_buf_detach(&path);
            items[count] = (struct vcm_ingestor_item){
                .path = name,
                .context = name,
                .target_tokens = target,
                .overlap_tokens = target / 10,
                .token_budget = 4096,
                .bytes = {text->data + at, end - at},
            };
            at = end;
        }
    }
    return count;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int search(struct vcm_database *store, const char *const *wordings, size_t count,
                  struct vcm_error *err)
{
    double best[QUERIES];
    int rc = VCM_OK;

    for (size_t q = 0; rc == VCM_OK && q < count; q++) {
        uint64_t total = 0;
        unsigned hits = 0;
        best[q] = 1e9;
        for (int round = 0; rc == VCM_OK && round < ROUNDS; round++) {
            struct vcm_database_search wanted = {.query = vcm_slice_of_string(wordings[q]),
                                                 .limit = 10};
            double begin = now_ms(CLOCK_THREAD_CPUTIME_ID);
            hits = 0;
            rc = vcm_database_search_find(&total, store, &wanted, count_hit, &hits, err);
            double took = now_ms(CLOCK_THREAD_CPUTIME_ID) - begin;
            best[q] = took < best[q] ? took : best[q];
        }
        printf("%8.2f ms  %6llu match, %2u shown  %s\n", best[q], (unsigned long long)total, hits,
               wordings[q]);
    }
    qsort(best, count, sizeof best[0], compare_times);
    if (rc == VCM_OK)
        printf("median %.2f ms, most %.2f ms of processor time\n", best[count / 2],
               best[count - 1]);
    return rc;
}

static int run(const char *text_path, const char *database, uint32_t target, unsigned copies,
               struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_GIB);
    struct vcm_ingestor_item *items = NULL;
    struct vcm_tokenizer *tokenizer = NULL;
    struct vcm_database *store = NULL;
    uint64_t chunks = 0;
    size_t count = 0;

    int rc = vcm_path_read_file(&text, text_path, VCM_GIB, err);
    if (rc == VCM_OK)
        rc = vcm_tokenizer_open(&tokenizer, VCM_TOKENIZER_DEFAULT, err);
    if (rc == VCM_OK)
        rc = vcm_database_open(&store, database, true, NULL, err);
    if (rc == VCM_OK) {
        items = calloc((text.len / DOCUMENT_BYTES + 2) * copies, sizeof *items);
        count = items ? cut_documents(items, &text, target, copies) : 0;
        struct vcm_ingestor_options options = {store, tokenizer, 0, NULL};
        double wall = now_ms(CLOCK_MONOTONIC);
        double cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
        rc = vcm_ingestor_run(&options, items, count, count_chunks, &chunks, err);
        wall = now_ms(CLOCK_MONOTONIC) - wall;
        cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        double bytes = (double)text.len * copies;
        printf("%zu documents, %llu chunks, %.1f MB: %.1f MB/s by the clock, %.1f MB/s of "
               "processor time\n",
               count, (unsigned long long)chunks, bytes / 1e6, bytes / 1e3 / wall,
               bytes / 1e3 / cpu);
    }
    if (rc == VCM_OK)
        rc = search(store, queries, QUERIES, err);
    if (rc == VCM_OK)
        rc = search(store, common, COMMON, err);
    for (size_t i = 0; i < count; i++)
        free(items[i].context);
    free(items);
    vcm_database_close(store);
    vcm_tokenizer_close(tokenizer);
    vcm_buf_release(&text);
    return rc;
}

int main(int argc, char **argv)
{
    struct vcm_error err = {0};

    if (argc < 3) {
        fprintf(stderr, "usage: %s TEXT-FILE DATABASE [CHUNK-TOKENS [COPIES]]\n", argv[0]);
        return 2;
    }
    uint32_t target = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 800;
    unsigned copies = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 1;
    if (run(argv[1], argv[2], target, copies, &err) == VCM_OK)
        return 0;
    fprintf(stderr, "%s\n", err.message);
    return 1;
}
