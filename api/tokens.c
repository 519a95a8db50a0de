#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "base/limits.h"
#include "base/pool.h"
#include "tokens/tokenizer.h"

#include "base/banned.h"

#define CHUNK_BYTES (64 * VCM_KIB)
#define QUEUE_JOBS  64u

/* A file and its count, filled in by a worker. */
struct job {
    const struct vcm_tokenizer *tokenizer;
    const struct vcm_cancel *cancel;
    bool is_input;
    bool is_empty; /* standard input, which an earlier job reads to its end */
    struct vcm_tokens_file file;
    struct vcm_error error;
};

static int count_stream(struct job *job, int fd, struct vcm_error *err)
{
    struct vcm_tokenizer_counter counter;
    char *chunk = malloc(CHUNK_BYTES);
    int rc = chunk ? VCM_OK : vcm_error_memory(err);

    vcm_tokenizer_counter_init(&counter, job->tokenizer);
    while (rc == VCM_OK) {
        ssize_t got = read(fd, chunk, CHUNK_BYTES);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot read '%s'", job->file.path);
        if (got > 0) {
            vcm_tokenizer_counter_feed(&counter, vcm_slice_of(chunk, (size_t)got));
            job->file.bytes += (uint64_t)got;
        }
        if (rc == VCM_OK)
            rc = vcm_cancel_check(job->cancel, err);
    }
    job->file.tokens = vcm_tokenizer_counter_finish(&counter);
    free(chunk);
    return rc;
}

static void run_job(void *argument, unsigned worker)
{
    struct job *job = argument;

    (void)worker;
    if (job->is_empty)
        return;
    int fd = job->is_input ? STDIN_FILENO : open(job->file.path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        vcm_error_sys(&job->error, errno == ENOENT ? VCM_NOT_FOUND : VCM_IO_ERROR, errno,
                      "cannot open '%s'", job->file.path);
    else
        count_stream(job, fd, &job->error);
    if (fd >= 0 && !job->is_input)
        close(fd);
}

static int report(struct job *jobs, size_t count, vcm_tokens_fn visit, void *context,
                  struct vcm_error *err)
{
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        if (jobs[i].error.code == VCM_INTERRUPTED) {
            if (err)
                *err = jobs[i].error;
            return VCM_INTERRUPTED;
        }
        jobs[i].file.error = jobs[i].error.code != VCM_OK ? &jobs[i].error : NULL;
        rc = visit(context, &jobs[i].file, err);
    }
    return rc;
}

static unsigned worker_count(size_t jobs)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t workers = cores > 0 ? (size_t)cores : 1;

    if (workers > VCM_LIMIT_WORKERS)
        workers = VCM_LIMIT_WORKERS;
    return (unsigned)(jobs < workers ? jobs : workers);
}

int vcm_tokens(struct vcm *vcm, const struct vcm_tokens_query *query, vcm_tokens_fn visit,
               void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"encoding", query->encoding});
    if (rc == VCM_OK)
        rc = vcm_arguments_list("paths", query->paths, query->count, VCM_ARGUMENT_PATHS, err);
    if (rc != VCM_OK)
        return rc;
    static const char *const input[] = {"-"};
    const char *const *paths = query->count > 0 ? query->paths : input;
    size_t count = query->count > 0 ? query->count : 1;
    struct vcm_tokenizer *tokenizer = NULL;
    struct vcm_pool *pool = NULL;
    struct job *jobs = calloc(count, sizeof *jobs);
    bool input_taken = false;

    rc = jobs ? vcm_handle_config(vcm, err) : vcm_error_memory(err);
    if (rc == VCM_OK)
        rc = vcm_tokenizer_open(
            &tokenizer,
            query->encoding ? query->encoding : vcm_config_text(&vcm->config, "tokenizer"), err);
    if (rc == VCM_OK)
        rc = vcm_pool_open(&pool, worker_count(count), QUEUE_JOBS, err);
    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        jobs[i].tokenizer = tokenizer;
        jobs[i].cancel = vcm->cancel;
        jobs[i].file.path = paths[i];
        jobs[i].file.encoding = vcm_tokenizer_name(tokenizer);
        jobs[i].is_input = strcmp(paths[i], "-") == 0;
        jobs[i].is_empty = jobs[i].is_input && input_taken;
        input_taken |= jobs[i].is_input;
        vcm_pool_submit(pool, run_job, &jobs[i]);
    }
    vcm_pool_close(pool);
    if (rc == VCM_OK)
        rc = report(jobs, count, visit, context, err);
    vcm_tokenizer_close(tokenizer);
    free(jobs);
    return rc;
}

int vcm_tokens_count(uint64_t *tokens, const char *encoding, const char *text, size_t len,
                     uint64_t limit, struct vcm_error *err)
{
    const struct vcm_argument given[] = {VCM_ARGUMENT(tokens), VCM_ARGUMENT(text), {NULL, false}};
    struct vcm_tokenizer *tokenizer = NULL;

    int rc = vcm_arguments_given(given, err);
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"encoding", encoding});
    if (rc == VCM_OK)
        rc = vcm_tokenizer_open(&tokenizer, encoding ? encoding : VCM_TOKENIZER_DEFAULT, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_slice all = vcm_slice_of(text, len);
    *tokens = limit > 0 && limit < SIZE_MAX
                  ? vcm_tokenizer_count_limited(tokenizer, all, (size_t)limit)
                  : vcm_tokenizer_count(tokenizer, all);
    vcm_tokenizer_close(tokenizer);
    return VCM_OK;
}
