/*
 * bench_tokens.c - times our counting for bench/tokens/bench.mjs.
 *
 *     bench_tokens count <encoding> <threads> <seconds> <file>...
 *     bench_tokens stream <encoding> <file>
 *
 * count: every thread counts all files, each at once, over and over for that long. stream: one file
 * through a counter, in pieces of 64 KiB. Prints one JSON object.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tokens/tokenizer.h"

#include "base/banned.h"

#define PIECE_BYTES ((size_t)64 * 1024)
#define THREADS_MAX 64

struct text {
    char *data;
    size_t len;
};

struct work {
    const struct vcm_tokenizer *tokenizer;
    const struct text *texts;
    size_t texts_len;
    double seconds;
    size_t passes;
    size_t tokens; /* of one pass */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_tokens: %s\n", what);
    exit(1);
}

static struct text read_text(const char *path)
{
    struct text text = {NULL, 0};
    struct stat stat;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &stat) != 0)
        die(path);
    text.data = malloc((size_t)stat.st_size + 1);
    while (text.data && text.len < (size_t)stat.st_size) {
        ssize_t got = read(fd, text.data + text.len, (size_t)stat.st_size - text.len);
        if (got <= 0)
            die(path);
        text.len += (size_t)got;
    }
    close(fd);
    return text;
}

static void *run(void *arg)
{
    struct work *work = arg;
    double end = now() + work->seconds;
    do {
        work->tokens = 0;
        for (size_t i = 0; i < work->texts_len; i++)
            work->tokens += vcm_tokenizer_count(
                work->tokenizer, vcm_slice_of(work->texts[i].data, work->texts[i].len));
        work->passes++;
    } while (now() < end);
    return NULL;
}

static void bench_count(const struct vcm_tokenizer *tokenizer, size_t threads, double seconds,
                        char **paths, size_t paths_len)
{
    struct text *texts = calloc(paths_len, sizeof *texts);
    struct work work[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    size_t bytes = 0;
    if (!texts || threads < 1 || threads > THREADS_MAX)
        die("bad arguments");
    for (size_t i = 0; i < paths_len; i++) {
        texts[i] = read_text(paths[i]);
        bytes += texts[i].len;
    }
    double start = now();
    for (size_t i = 0; i < threads; i++) {
        work[i] = (struct work){tokenizer, texts, paths_len, seconds, 0, 0};
        if (pthread_create(&ids[i], NULL, run, &work[i]) != 0)
            die("no thread");
    }
    size_t passes = 0;
    for (size_t i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        passes += work[i].passes;
    }
    double took = now() - start;
    printf("{\"bytes\":%zu,\"tokens\":%zu,\"passes\":%zu,\"seconds\":%.6f}\n", bytes,
           work[0].tokens, passes, took);
    for (size_t i = 0; i < paths_len; i++)
        free(texts[i].data);
    free(texts);
}

/* Not getrusage(), which remembers the process that started this one. */
static size_t peak_kib(void)
{
    char line[256];
    size_t peak = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "VmHWM:", 6) == 0)
            peak = strtoul(line + 6, NULL, 10);
    if (status)
        fclose(status);
    return peak;
}

static void bench_stream(const struct vcm_tokenizer *tokenizer, const char *path)
{
    static char piece[PIECE_BYTES];
    struct vcm_tokenizer_counter counter;
    size_t bytes = 0;
    double start = now();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die(path);
    vcm_tokenizer_counter_init(&counter, tokenizer);
    for (ssize_t got; (got = read(fd, piece, sizeof piece)) > 0; bytes += (size_t)got)
        vcm_tokenizer_counter_feed(&counter, vcm_slice_of(piece, (size_t)got));
    close(fd);
    size_t tokens = vcm_tokenizer_counter_finish(&counter);
    double took = now() - start;
    printf("{\"bytes\":%zu,\"tokens\":%zu,\"seconds\":%.6f,\"peak_kib\":%zu}\n", bytes, tokens,
           took, peak_kib());
}

int main(int argc, char **argv)
{
    struct vcm_error err = {0};
    struct vcm_tokenizer *tokenizer = NULL;
    if (argc < 4 || vcm_tokenizer_open(&tokenizer, argv[2], &err) != VCM_OK)
        die("usage: bench_tokens count <encoding> <threads> <seconds> <file>... |"
            " stream <encoding> <file>");
    if (strcmp(argv[1], "stream") == 0)
        bench_stream(tokenizer, argv[3]);
    else if (argc > 5)
        bench_count(tokenizer, strtoul(argv[3], NULL, 10), strtod(argv[4], NULL), argv + 5,
                    (size_t)argc - 5);
    vcm_tokenizer_close(tokenizer);
    return 0;
}
