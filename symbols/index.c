#include "symbols/index.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/kv.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/pool.h"
#include "symbols/ctags.h"
#include "symbols/extract.h"

#include "base/banned.h"

#define KEY_BYTES   (VCM_GIT_ID_BYTES + 2)
#define WINDOW      2048u /* files that are parsed between two writes */
#define QUEUE       256u
#define VALUE_MAX   VCM_LIMIT_SYMBOLS_BYTES
#define TABLE_BLOBS 0

static const char *const tables[] = {"blobs", NULL};

struct vcm_index_state {
    struct vcm_arena arena;
    struct vcm_kv *kv;
    struct vcm_kv_txn *txn;
    size_t capacity;
    const struct vcm_index_request *request;
};

/* A blob that is not known, on its way through a worker. */
struct job {
    struct parsing *parsing;
    const struct vcm_index_file *file;
    struct vcm_buf value;
    int rc;
    struct vcm_error error;
};

struct parsing {
    struct vcm_index *index;
    struct vcm_extractor *extractor;
    struct vcm_git_repo *repos[VCM_LIMIT_WORKERS]; /* a handle belongs to one thread */
    struct job *jobs;
    size_t count;
};

static void make_key(unsigned char key[KEY_BYTES], const struct vcm_index_file *file)
{
    memcpy(key, file->blob.bytes, VCM_GIT_ID_BYTES);
    key[VCM_GIT_ID_BYTES] = (unsigned char)file->language;
    key[VCM_GIT_ID_BYTES + 1] = VCM_SYMBOL_FORMAT;
}

static int take_entry(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    struct vcm_index *index = context;
    struct vcm_index_state *state = index->state;
    const struct vcm_index_request *request = state->request;

    index->tracked++;
    if (request->takes && !request->takes(request->context, entry->path))
        return VCM_OK;
    index->matching++;
    enum vcm_language language = vcm_language_of_path(entry->path);
    if (language == VCM_LANGUAGE_NONE || entry->kind > VCM_GIT_EXECUTABLE)
        return VCM_OK;
    if (index->file_count == state->capacity) {
        size_t capacity = state->capacity ? 2 * state->capacity : 1024;
        struct vcm_index_file *files = realloc(index->files, capacity * sizeof *files);
        if (!files)
            return vcm_error_memory(err);
        index->files = files;
        state->capacity = capacity;
    }
    const char *path = vcm_arena_copy(&state->arena, entry->path);
    if (!path)
        return vcm_error_memory(err);
    index->files[index->file_count++] = (struct vcm_index_file){
        .path = vcm_slice_of(path, entry->path.len), .blob = entry->id, .language = language};
    return VCM_OK;
}

static int by_path(const void *a, const void *b)
{
    const struct vcm_index_file *x = a, *y = b;
    size_t len = x->path.len < y->path.len ? x->path.len : y->path.len;
    int order = memcmp(x->path.data, y->path.data, len);

    return order != 0 ? order : (x->path.len > y->path.len) - (x->path.len < y->path.len);
}

static void parse_file(void *argument, unsigned worker)
{
    struct job *job = argument;
    struct parsing *parsing = job->parsing;
    const struct vcm_index *index = parsing->index;
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_FILE_BYTES);
    struct vcm_symbols symbols;
    bool missing = false;
    uint64_t size = 0;

    vcm_symbols_init(&symbols);
    job->rc = vcm_cancel_check(index->state->request->cancel, &job->error);
    if (job->rc == VCM_OK && !parsing->repos[worker])
        job->rc =
            vcm_git_repo_open(&parsing->repos[worker], vcm_git_repo_root(index->repo), &job->error);
    if (job->rc == VCM_OK)
        job->rc = vcm_git_blob_read_upto(&text, &size, parsing->repos[worker], &job->file->blob,
                                         VCM_LIMIT_SYMBOLS_FILE_BYTES, &job->error);
    /* A clone may be partial: the file counts as missing, and is looked for again next time. */
    missing = job->rc == VCM_NOT_FOUND && parsing->repos[worker];
    if (missing) {
        vcm_error_reset(&job->error);
        job->rc = VCM_OK;
    } else if (job->rc == VCM_OK && size > VCM_LIMIT_SYMBOLS_FILE_BYTES)
        symbols.state = VCM_SYMBOL_TOO_LARGE;
    else if (job->rc == VCM_OK)
        job->rc = vcm_extractor_run(&symbols, parsing->extractor, job->file->language,
                                    vcm_buf_slice(&text), &job->error);
    if (job->rc == VCM_OK && !missing && vcm_symbol_state_lasts(symbols.state)) {
        vcm_symbols_encode(&job->value, &symbols);
        job->rc = vcm_buf_check(&job->value, "the symbols of a file", &job->error);
    }
    vcm_symbols_release(&symbols);
    vcm_buf_release(&text);
}

static int write_jobs(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct parsing *parsing = context;
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < parsing->count; i++) {
        unsigned char key[KEY_BYTES];
        if (parsing->jobs[i].value.len == 0)
            continue;
        make_key(key, parsing->jobs[i].file);
        rc = vcm_kv_put(txn, TABLE_BLOBS, vcm_slice_of(key, sizeof key),
                        vcm_buf_slice(&parsing->jobs[i].value), err);
    }
    return rc;
}

/* Writes what the workers made, or tells what the first of them that failed says. */
static int finish_window(struct parsing *parsing, struct vcm_pool *pool, struct vcm_error *err)
{
    int rc = VCM_OK;

    vcm_pool_drain(pool);
    for (size_t i = 0; rc == VCM_OK && i < parsing->count; i++) {
        rc = parsing->jobs[i].rc;
        if (rc != VCM_OK) {
            if (err)
                *err = parsing->jobs[i].error;
            vcm_error_wrap(err, rc, "%.*s", (int)parsing->jobs[i].file->path.len,
                           parsing->jobs[i].file->path.data);
        }
    }
    if (rc == VCM_OK && parsing->count > 0)
        rc = vcm_kv_update(parsing->index->state->kv, write_jobs, parsing,
                           VCM_LIMIT_LOCK_TIMEOUT_MS, parsing->index->state->request->cancel, err);
    for (size_t i = 0; i < parsing->count; i++)
        vcm_buf_release(&parsing->jobs[i].value);
    parsing->index->parsed += parsing->count;
    parsing->count = 0;
    return rc;
}

static unsigned count_workers(const struct vcm_index_request *request)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned workers = request->workers > 0 ? request->workers
                       : processors > 0     ? (unsigned)processors
                                            : 1;

    return workers < VCM_LIMIT_WORKERS ? workers : VCM_LIMIT_WORKERS;
}

static int by_blob(const void *a, const void *b)
{
    const struct vcm_index_file *x = *(const struct vcm_index_file *const *)a;
    const struct vcm_index_file *y = *(const struct vcm_index_file *const *)b;
    int order = memcmp(x->blob.bytes, y->blob.bytes, VCM_GIT_ID_BYTES);

    return order != 0 ? order : (x->language > y->language) - (x->language < y->language);
}

/* The files whose symbols are not stored, each blob once. */
static int list_unknown(const struct vcm_index_file **unknown, size_t *count,
                        const struct vcm_index *index, struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;
    size_t found = 0, kept = 0;
    bool has_ctags = vcm_ctags_is_there();

    int rc = vcm_kv_read_begin(&txn, index->state->kv, err);
    for (size_t i = 0; rc == VCM_OK && i < index->file_count; i++) {
        unsigned char key[KEY_BYTES];
        struct vcm_slice value;
        make_key(key, &index->files[i]);
        int here =
            vcm_kv_get_unchecked(&value, txn, TABLE_BLOBS, vcm_slice_of(key, sizeof key), err);
        if (here == VCM_NOT_FOUND) {
            if (has_ctags || !vcm_language_ctags_name(index->files[i].language))
                unknown[found++] = &index->files[i];
        } else
            rc = here;
    }
    vcm_kv_read_end(txn);
    if (found > 0)
        qsort(unknown, found, sizeof(struct vcm_index_file *), by_blob);
    for (size_t i = 0; i < found; i++)
        if (kept == 0 || by_blob(&unknown[kept - 1], &unknown[i]) != 0)
            unknown[kept++] = unknown[i];
    *count = kept;
    return rc;
}

static int parse_all(struct parsing *parsing, const struct vcm_index_file **unknown, size_t count,
                     struct vcm_error *err)
{
    const struct vcm_index_request *request = parsing->index->state->request;
    struct vcm_pool *pool = NULL;
    size_t bytes = 0;

    int rc = vcm_pool_open(&pool, count_workers(request), QUEUE, err);
    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        struct job *job = &parsing->jobs[parsing->count++];
        uint64_t size = 0;
        struct vcm_error ignored = {0};
        *job = (struct job){.parsing = parsing, .file = unknown[i]};
        vcm_buf_init(&job->value, VALUE_MAX);
        vcm_pool_submit(pool, parse_file, job);
        /* Symbols are about as large as the text that they are from. */
        if (vcm_git_blob_size(&size, parsing->index->repo, &unknown[i]->blob, &ignored) == VCM_OK)
            bytes += size < VCM_LIMIT_SYMBOLS_FILE_BYTES ? (size_t)size : 0;
        if (parsing->count == WINDOW || bytes > VCM_LIMIT_BATCH_BYTES || i + 1 == count) {
            rc = finish_window(parsing, pool, err);
            bytes = 0;
        }
    }
    vcm_pool_close(pool);
    return rc;
}

static int bring_up_to_date(struct vcm_index *index, struct vcm_error *err)
{
    struct parsing parsing = {.index = index};
    size_t count = 0;
    int rc = VCM_OK;

    const struct vcm_index_file **unknown =
        calloc(index->file_count + 1, sizeof(struct vcm_index_file *));
    parsing.jobs = calloc(WINDOW, sizeof *parsing.jobs);
    if (!unknown || !parsing.jobs)
        rc = vcm_error_memory(err);
    if (rc == VCM_OK)
        rc = list_unknown(unknown, &count, index, err);
    if (rc == VCM_OK && count > 0) {
        vcm_log_write(index->state->request->log, VCM_LOG_DEBUG, "reading the symbols of %zu files",
                      count);
        rc = vcm_extractor_open(&parsing.extractor, err);
    }
    if (rc == VCM_OK && count > 0)
        rc = parse_all(&parsing, unknown, count, err);
    for (unsigned i = 0; i < VCM_LIMIT_WORKERS; i++)
        vcm_git_repo_close(parsing.repos[i]);
    vcm_extractor_close(parsing.extractor);
    free(parsing.jobs);
    free(unknown);
    return rc;
}

static int open_store(struct vcm_index *index, const char *directory, struct vcm_error *err)
{
    struct vcm_buf lock = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&lock, directory, "lock");
    int rc = vcm_buf_check(&lock, "the path of the symbol store", err);
    if (rc == VCM_OK)
        rc = vcm_kv_open(&index->state->kv,
                         &(struct vcm_kv_options){.directory = directory,
                                                  .lock_path = vcm_buf_text(&lock),
                                                  .tables = tables,
                                                  .log = index->state->request->log},
                         err);
    vcm_buf_release(&lock);
    return rc;
}

int vcm_index_open(struct vcm_index **out, const struct vcm_index_request *request,
                   struct vcm_error *err)
{
    struct vcm_index *index = calloc(1, sizeof *index);
    struct vcm_index_state *state = calloc(1, sizeof *state);

    *out = NULL;
    if (!index || !state) {
        free(index);
        free(state);
        return vcm_error_memory(err);
    }
    index->state = state;
    state->request = request;
    vcm_arena_init(&state->arena, 4 * VCM_GIB);
    int rc = vcm_git_repo_open(&index->repo, request->repository, err);
    if (rc == VCM_OK)
        rc = vcm_git_repo_resolve(&index->commit, index->repo, NULL, NULL, err);
    if (rc == VCM_OK)
        rc = vcm_git_tree_walk(index->repo, &index->commit, request->subpath, take_entry, index,
                               request->cancel, err);
    if (rc == VCM_OK && index->file_count > 0)
        qsort(index->files, index->file_count, sizeof *index->files, by_path);
    if (rc == VCM_OK)
        rc = open_store(index, request->directory, err);
    if (rc == VCM_OK)
        rc = bring_up_to_date(index, err);
    if (rc == VCM_OK)
        rc = vcm_kv_read_begin(&state->txn, state->kv, err);
    state->request = NULL;
    if (rc == VCM_OK)
        *out = index;
    else
        vcm_index_close(index);
    return rc;
}

void vcm_index_close(struct vcm_index *index)
{
    if (!index)
        return;
    vcm_kv_read_end(index->state->txn);
    vcm_kv_close(index->state->kv);
    vcm_git_repo_close(index->repo);
    vcm_arena_release(&index->state->arena);
    free(index->state);
    free(index->files);
    free(index);
}

static int read_symbols(struct vcm_symbols *out, const struct vcm_index *index, size_t file,
                        bool references, struct vcm_error *err)
{
    unsigned char key[KEY_BYTES];
    struct vcm_slice value;

    make_key(key, &index->files[file]);
    int rc = vcm_kv_get(&value, index->state->txn, TABLE_BLOBS, vcm_slice_of(key, sizeof key), err);
    if (rc == VCM_NOT_FOUND) {
        out->state = vcm_language_ctags_name(index->files[file].language) ? VCM_SYMBOL_NO_CTAGS
                                                                          : VCM_SYMBOL_MISSING;
        return VCM_OK;
    }
    return rc == VCM_OK ? vcm_symbols_decode(out, value, references, err) : rc;
}

int vcm_index_read(struct vcm_symbols *out, const struct vcm_index *index, size_t file,
                   struct vcm_error *err)
{
    return read_symbols(out, index, file, true, err);
}

int vcm_index_read_definitions(struct vcm_symbols *out, const struct vcm_index *index, size_t file,
                               struct vcm_error *err)
{
    return read_symbols(out, index, file, false, err);
}
