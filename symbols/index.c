#include "symbols/index.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/kv.h"
#include "base/kv_pages.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/pool.h"
#include "base/wire.h"
#include "git/blob.h"
#include "symbols/ctags.h"
#include "symbols/extractor.h"
#include "symbols/languages/headers.h"
#include "symbols/memo.h"
#include "symbols/sweep.h"

#include "base/banned.h"

#define KEY_BYTES   (VCM_GIT_ID_BYTES + 2)
#define WINDOW      2048u /* files that are parsed between two writes */
#define QUEUE       32u   /* short, because progress is told when a file is queued */
#define VALUE_MAX   VCM_LIMIT_SYMBOLS_BYTES
#define TABLE_BLOBS 0
#define TABLE_MEMOS 1
#define LIST_FORMAT 2 /* of the stored list of files */
#define LIST_MAX    (1 * VCM_GIB)

static const char *const tables[] = {"blobs", "memos", NULL};

struct vcm_index_state {
    struct vcm_arena arena;
    struct vcm_kv *kv;
    struct vcm_kv_txn *txn;
    size_t capacity;
    struct vcm_headers headers;
    const struct vcm_index_request *request; /* while the index is opened */
    const struct vcm_cancel *cancel;
    const struct vcm_log *log;
    bool is_recalled;           /* the list, and so no blob is missing or damaged */
    bool has_missing;           /* blobs, or damaged ones: then the list is not stored */
    struct vcm_git_id *damaged; /* blobs in the order of their ids; index->damaged of them */
    size_t damaged_capacity;
    bool has_digest;                             /* results can be stored */
    unsigned char digest[VCM_HASH_SHA256_BYTES]; /* of all that the list depends on */
};

/* A blob without stored symbols, processed by a worker. */
struct job {
    struct parsing *parsing;
    const struct vcm_index_file *file;
    struct vcm_buf value;
    bool missing;
    bool absent;  /* the blob itself is missing */
    bool damaged; /* or cannot be read */
    int rc;
    struct vcm_error error;
};

struct parsing {
    struct vcm_index *index;
    struct vcm_extractor *extractor;
    struct vcm_git_repo *repos[VCM_LIMIT_WORKERS]; /* a handle belongs to one thread */
    struct job *jobs;
    size_t count;
    size_t before;          /* files whose symbols need no parsing */
    atomic_size_t finished; /* files that workers are done with */
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

    enum vcm_language language = vcm_language_of_path(entry->path);

    index->tracked++;
    vcm_headers_note(&state->headers, entry->path, language);
    if (request->takes && !request->takes(request->context, entry->path))
        return VCM_OK;
    index->matching++;
    if (!vcm_language_is_known(language) || entry->kind > VCM_GIT_EXECUTABLE)
        return VCM_OK;
    int rc = vcm_array_reserve(&index->files, &state->capacity, index->file_count + 1,
                               VCM_LIMIT_TREE_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
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
    uint64_t size = 0;

    vcm_symbols_init(&symbols);
    job->rc = vcm_cancel_check(index->state->request->cancel, &job->error);
    if (job->rc == VCM_OK && !parsing->repos[worker])
        job->rc = vcm_git_repo_open_again(&parsing->repos[worker], index->repo, &job->error);
    if (job->rc == VCM_OK)
        job->rc = vcm_git_blob_read_upto(&text, &size, parsing->repos[worker], &job->file->blob,
                                         VCM_LIMIT_SYMBOLS_FILE_BYTES, &job->error);
    /* A clone may be partial: the file counts as missing, and the next call tries again. So does a
     * damaged one: one bad object does not take the symbols of all other files away. */
    job->absent = job->rc == VCM_NOT_FOUND && parsing->repos[worker];
    job->damaged =
        (job->rc == VCM_IO_ERROR || job->rc == VCM_UNSUPPORTED) && parsing->repos[worker];
    job->missing = job->absent || job->damaged;
    if (job->missing) {
        vcm_error_reset(&job->error);
        job->rc = VCM_OK;
    } else if (job->rc == VCM_OK && size > VCM_LIMIT_SYMBOLS_FILE_BYTES)
        symbols.state = VCM_SYMBOL_TOO_LARGE;
    else if (job->rc == VCM_OK)
        job->rc = vcm_extractor_run(&symbols, parsing->extractor, job->file->language,
                                    vcm_buf_slice(&text), &job->error);
    job->missing = job->missing || !vcm_symbol_state_lasts(symbols.state);
    if (job->rc == VCM_OK && !job->missing) {
        vcm_symbols_encode(&job->value, &symbols);
        job->rc = vcm_buf_check(&job->value, "the symbols of a file", &job->error);
    }
    vcm_symbols_release(&symbols);
    vcm_buf_release(&text);
    atomic_fetch_add(&parsing->finished, 1);
}

static void tell_progress(struct parsing *parsing)
{
    const struct vcm_index_request *request = parsing->index->state->request;

    if (request->progress)
        request->progress(request->progress_context,
                          parsing->before + atomic_load(&parsing->finished),
                          parsing->index->file_count);
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

/* The jobs are in the order of their blobs. */
static int note_damaged(struct vcm_index *index, const struct job *job, struct vcm_error *err)
{
    struct vcm_index_state *state = index->state;

    if (!job->damaged)
        return VCM_OK;
    int rc = vcm_array_reserve(&state->damaged, &state->damaged_capacity, index->damaged + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc == VCM_OK)
        state->damaged[index->damaged++] = job->file->blob;
    return rc;
}

/* Writes the workers' results, or returns the first failure. */
static int finish_window(struct parsing *parsing, struct vcm_pool *pool, struct vcm_error *err)
{
    int rc = VCM_OK;

    vcm_pool_drain(pool);
    for (size_t i = 0; rc == VCM_OK && i < parsing->count; i++) {
        rc = parsing->jobs[i].rc;
        parsing->index->state->has_missing |= parsing->jobs[i].missing;
        parsing->index->absent += parsing->jobs[i].absent;
        if (rc != VCM_OK) {
            if (err)
                *err = parsing->jobs[i].error;
            vcm_error_wrap(err, rc, "%.*s", (int)parsing->jobs[i].file->path.len,
                           parsing->jobs[i].file->path.data);
        } else {
            rc = note_damaged(parsing->index, &parsing->jobs[i], err);
        }
    }
    if (rc == VCM_OK && parsing->count > 0)
        rc = vcm_kv_handle_update(parsing->index->state->kv, write_jobs, parsing,
                                  VCM_LIMIT_LOCK_TIMEOUT_MS, parsing->index->state->request->cancel,
                                  err);
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

    int rc = vcm_kv_handle_read_begin(&txn, index->state->kv, err);
    for (size_t i = 0; rc == VCM_OK && i < index->file_count; i++) {
        unsigned char key[KEY_BYTES];
        struct vcm_slice value;
        make_key(key, &index->files[i]);
        int here =
            vcm_kv_get_unchecked(&value, txn, TABLE_BLOBS, vcm_slice_of(key, sizeof key), err);
        bool is_left_out = !has_ctags && vcm_language_ctags_name(index->files[i].language);
        if (here == VCM_NOT_FOUND && !is_left_out)
            unknown[found++] = &index->files[i];
        else if (here != VCM_NOT_FOUND)
            rc = here;
    }
    vcm_kv_handle_read_end(txn);
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
        tell_progress(parsing);
        /* Symbols are about as large as the text that they are from. */
        if (vcm_git_blob_size(&size, parsing->index->repo, &unknown[i]->blob, &ignored) == VCM_OK)
            bytes += size < VCM_LIMIT_SYMBOLS_FILE_BYTES ? (size_t)size : 0;
        if (parsing->count == WINDOW || bytes > VCM_LIMIT_BATCH_BYTES || i + 1 == count) {
            rc = finish_window(parsing, pool, err);
            tell_progress(parsing);
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
    parsing.before = index->file_count - count;
    if (rc == VCM_OK && count > 0) {
        vcm_log_write(index->state->request->log, VCM_LOG_DEBUG, "reading the symbols of %zu files",
                      count);
        rc = vcm_extractor_open(&parsing.extractor, err);
        if (rc == VCM_OK)
            vcm_extractor_set_cancel(parsing.extractor, index->state->request->cancel);
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

static int open_store(struct vcm_kv **out, const char *directory, bool read_only,
                      const struct vcm_log *log, struct vcm_error *err)
{
    struct vcm_buf lock = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&lock, directory, "lock");
    int rc = vcm_buf_check(&lock, "the path of the symbol store", err);
    if (rc == VCM_OK)
        rc = vcm_kv_handle_open(out,
                                &(struct vcm_kv_options){.directory = directory,
                                                         .lock_path = vcm_buf_text(&lock),
                                                         .tables = tables,
                                                         .read_only = read_only,
                                                         .log = log},
                                err);
    vcm_buf_release(&lock);
    return rc;
}

int vcm_index_open_store(struct vcm_kv **out, const char *directory, const struct vcm_log *log,
                         struct vcm_error *err)
{
    return open_store(out, directory, true, log, err);
}

int vcm_index_stored(struct vcm_slice *value, struct vcm_kv_txn *txn,
                     const struct vcm_index_file *file, struct vcm_error *err)
{
    unsigned char key[KEY_BYTES];

    make_key(key, file);
    return vcm_kv_get(value, txn, TABLE_BLOBS, vcm_slice_of(key, sizeof key), err);
}

/* Without a store there is nothing to copy. */
int vcm_index_copy_store(const char *to, const char *from, struct vcm_error *err)
{
    struct vcm_error found = {0};
    struct vcm_kv *kv = NULL;

    int rc = open_store(&kv, from, true, NULL, &found);
    if (rc == VCM_OK)
        rc = vcm_kv_compact_copy(kv, to, &found);
    vcm_kv_handle_close(kv);
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc != VCM_OK && err)
        *err = found;
    return rc;
}

struct check {
    int (*alive)(void *context, struct vcm_error *err);
    void *context;
};

static int refuse_page(void *context, const struct vcm_kv_pages_finding *finding,
                       struct vcm_error *err)
{
    (void)context;
    return vcm_error_set(err, VCM_STORE_CORRUPT, "page %llu of the file: %s",
                         (unsigned long long)finding->page, finding->what);
}

static int page_is_alive(void *context, struct vcm_error *err)
{
    const struct check *check = context;

    return check->alive(check->context, err);
}

/* Keys must ascend, which also ends the walk of a tree with a cycle. */
static int check_table(const struct check *check, struct vcm_kv_txn *txn, unsigned table,
                       struct vcm_error *err)
{
    struct vcm_buf last = VCM_BUF_INIT(VCM_MIB);
    struct vcm_kv_cursor *cursor = NULL;
    struct vcm_slice key, value;

    int rc = vcm_kv_cursor_open(&cursor, txn, table, err);
    if (rc == VCM_OK)
        rc = vcm_kv_cursor_seek(&key, &value, cursor, vcm_slice_of("", 0), err);
    while (rc == VCM_OK) {
        size_t len = key.len < last.len ? key.len : last.len;
        int order = len > 0 ? memcmp(last.data, key.data, len) : 0;
        if (last.len > 0 && (order > 0 || (order == 0 && key.len <= last.len)))
            rc = vcm_error_set(err, VCM_STORE_CORRUPT, "keys of table '%s' are out of order",
                               tables[table]);
        vcm_buf_clear(&last);
        vcm_buf_append_slice(&last, key);
        if (rc == VCM_OK)
            rc = vcm_buf_check(&last, "a key", err);
        if (rc == VCM_OK)
            rc = check->alive(check->context, err);
        if (rc == VCM_OK)
            rc = vcm_kv_cursor_next(&key, &value, cursor, err);
    }
    vcm_kv_cursor_close(cursor);
    vcm_buf_release(&last);
    return rc == VCM_NOT_FOUND ? VCM_OK : rc;
}

int vcm_index_check_store(const char *directory, int (*alive)(void *context, struct vcm_error *err),
                          void *context, struct vcm_error *err)
{
    struct check check = {alive, context};
    const struct vcm_kv_pages_options pages = {refuse_page, page_is_alive, &check};
    struct vcm_error found = {0};
    struct vcm_kv_txn *txn = NULL;
    struct vcm_kv *kv = NULL;

    int rc = open_store(&kv, directory, true, NULL, &found);
    if (rc == VCM_OK)
        rc = vcm_kv_handle_read_begin(&txn, kv, &found);
    for (unsigned table = 0; rc == VCM_OK && tables[table]; table++)
        rc = check_table(&check, txn, table, &found);
    vcm_kv_handle_read_end(txn);
    if (rc == VCM_OK)
        rc = vcm_kv_pages_check(kv, &pages, &found);
    vcm_kv_handle_close(kv);
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc != VCM_OK && err)
        *err = found;
    return rc;
}

/* Everything that the list of files depends on: the tree, the selection of files, and the
 * languages. */
static int make_digest(struct vcm_index *index, const struct vcm_index_request *request,
                       struct vcm_error *err)
{
    struct vcm_index_state *state = index->state;
    struct vcm_hash_sha256 hash;
    struct vcm_git_id tree;

    int rc = vcm_git_tree_id(&tree, index->repo, &index->commit, request->subpath, err);
    if (rc != VCM_OK)
        return rc;
    const unsigned char formats[] = {LIST_FORMAT, VCM_SYMBOL_FORMAT, vcm_ctags_is_there()};
    vcm_hash_sha256_init(&hash);
    vcm_hash_sha256_update(&hash, formats, sizeof formats);
    for (unsigned i = 0; i < VCM_LANGUAGES_COUNT; i++) {
        unsigned char level = (unsigned char)vcm_language_level((enum vcm_language)i);
        vcm_hash_sha256_update(&hash, &level, 1);
    }
    vcm_hash_sha256_update(&hash, tree.bytes, VCM_GIT_ID_BYTES);
    vcm_hash_sha256_update(&hash, request->subpath, strlen(request->subpath) + 1);
    if (request->filter)
        vcm_hash_sha256_update(&hash, request->filter, strlen(request->filter));
    vcm_hash_sha256_final(&hash, state->digest);
    state->has_digest = !request->takes || request->filter;
    return VCM_OK;
}

static void encode_list(struct vcm_buf *out, const struct vcm_index *index)
{
    vcm_wire_put_count(out, index->tracked);
    vcm_wire_put_count(out, index->matching);
    vcm_wire_put_count(out, index->file_count);
    for (size_t i = 0; i < index->file_count; i++) {
        vcm_buf_append(out, index->files[i].blob.bytes, VCM_GIT_ID_BYTES);
        vcm_wire_put_u8(out, (uint8_t)index->files[i].language);
        vcm_wire_put_bytes(out, index->files[i].path);
    }
}

static int decode_list(struct vcm_index *index, struct vcm_slice bytes, struct vcm_error *err)
{
    struct vcm_wire_reader r;

    vcm_wire_reader_init(&r, bytes);
    index->tracked = (size_t)vcm_wire_get_count(&r);
    index->matching = (size_t)vcm_wire_get_count(&r);
    size_t count = (size_t)vcm_wire_get_count(&r);
    r.bad = r.bad || count > r.rest.len;
    if (!r.bad && !(index->files = calloc(count + 1, sizeof *index->files)))
        return vcm_error_memory(err);
    for (; index->file_count < count && !r.bad; index->file_count++) {
        struct vcm_index_file *file = &index->files[index->file_count];
        struct vcm_slice blob = vcm_wire_get_raw(&r, VCM_GIT_ID_BYTES);
        file->language = (enum vcm_language)vcm_wire_get_u8(&r);
        file->path = vcm_wire_get_bytes(&r);
        r.bad = r.bad || (unsigned)file->language >= VCM_LANGUAGES_COUNT;
        if (!r.bad)
            memcpy(file->blob.bytes, blob.data, VCM_GIT_ID_BYTES);
    }
    return vcm_wire_reader_done(&r) ? VCM_OK
                                    : vcm_error_set(err, VCM_STORE_CORRUPT,
                                                    "the list of a repository's files is damaged");
}

/* Sets *found when the list is stored; the transaction that it is read in stays open. */
static int recall_list(bool *found, struct vcm_index *index, struct vcm_error *err)
{
    struct vcm_index_state *state = index->state;
    struct vcm_memo_key key;
    struct vcm_slice list;

    *found = false;
    if (!state->has_digest)
        return VCM_OK;
    vcm_memo_key_make(&key, VCM_MEMO_FILES, state->digest);
    int rc = vcm_kv_handle_read_begin(&state->txn, state->kv, err);
    if (rc == VCM_OK)
        rc = vcm_memo_get(&list, state->txn, TABLE_MEMOS, &key, err);
    *found = state->is_recalled = rc == VCM_OK;
    if (*found)
        return decode_list(index, list, err);
    vcm_kv_handle_read_end(state->txn);
    state->txn = NULL;
    return rc == VCM_NOT_FOUND ? VCM_OK : rc;
}

static void remember(const struct vcm_index *index, enum vcm_memo_kind kind, struct vcm_slice value)
{
    struct vcm_index_state *state = index->state;
    struct vcm_error ignored = {0};
    struct vcm_memo_key key;

    if (!state->has_digest || state->has_missing)
        return;
    vcm_memo_key_make(&key, kind, state->digest);
    int rc = vcm_memo_put(state->kv, TABLE_MEMOS, &key, value, VCM_LIMIT_SYMBOLS_MEMO_BYTES,
                          state->cancel, &ignored);
    if (rc != VCM_OK)
        vcm_log_write(state->log, VCM_LOG_INFO, "not stored, the next call computes this again: %s",
                      ignored.message);
}

/* Frees the space of symbols of older formats. */
static void give_up_older(const struct vcm_index *index)
{
    const struct vcm_sweep sweep = {.blobs = TABLE_BLOBS,
                                    .key_bytes = KEY_BYTES,
                                    .memos = TABLE_MEMOS,
                                    .format = VCM_SYMBOL_FORMAT};
    struct vcm_error ignored = {0};
    size_t dropped = 0;

    if (vcm_sweep_run(&dropped, index->state->kv, &sweep, index->state->cancel, &ignored) != VCM_OK)
        vcm_log_write(index->state->log, VCM_LOG_DEBUG,
                      "symbols of older formats are not deleted yet: %s", ignored.message);
    else if (dropped > 0)
        vcm_log_write(index->state->log, VCM_LOG_DEBUG,
                      "deleted symbols of older formats of %zu files", dropped);
}

static int settle_headers(struct vcm_index *index, struct vcm_error *err)
{
    struct vcm_headers *headers = &index->state->headers;

    if (!vcm_headers_settle(headers))
        return vcm_error_memory(err);
    for (size_t i = 0; i < index->file_count; i++)
        index->files[i].language =
            vcm_headers_language(headers, index->files[i].path, index->files[i].language);
    vcm_headers_release(headers);
    return VCM_OK;
}

/* Walks the tree, and parses the blobs without stored symbols. */
static int make_list(struct vcm_index *index, const struct vcm_index_request *request,
                     struct vcm_error *err)
{
    struct vcm_buf list = VCM_BUF_INIT(LIST_MAX);

    int rc = vcm_git_tree_walk(index->repo, &index->commit, request->subpath, take_entry, index,
                               request->cancel, err);
    if (rc == VCM_OK && index->file_count > 0)
        qsort(index->files, index->file_count, sizeof *index->files, by_path);
    if (rc == VCM_OK)
        rc = settle_headers(index, err);
    if (rc == VCM_OK)
        rc = bring_up_to_date(index, err);
    if (rc == VCM_OK) {
        encode_list(&list, index);
        if (vcm_buf_check(&list, "the list of files", NULL) == VCM_OK)
            remember(index, VCM_MEMO_FILES, vcm_buf_slice(&list));
        give_up_older(index);
        rc = vcm_kv_handle_read_begin(&index->state->txn, index->state->kv, err);
    }
    vcm_buf_release(&list);
    return rc;
}

int vcm_index_open(struct vcm_index **out, const struct vcm_index_request *request,
                   struct vcm_error *err)
{
    struct vcm_index *index = calloc(1, sizeof *index);
    struct vcm_index_state *state = calloc(1, sizeof *state);
    bool found = false;

    *out = NULL;
    if (!index || !state) {
        free(index);
        free(state);
        return vcm_error_memory(err);
    }
    index->state = state;
    state->request = request;
    state->cancel = request->cancel;
    state->log = request->log;
    vcm_arena_init(&state->arena, 4 * VCM_GIB);
    index->repo = request->repo;
    int rc = VCM_OK;
    if (request->commit)
        index->commit = *request->commit;
    else
        rc = vcm_git_repo_resolve(&index->commit, index->repo, NULL, NULL, err);
    if (rc == VCM_OK)
        rc = make_digest(index, request, err);
    if (rc == VCM_OK)
        rc = open_store(&state->kv, request->directory, request->read_only, request->log, err);
    if (rc == VCM_OK)
        rc = recall_list(&found, index, err);
    if (rc == VCM_OK && !found)
        rc = request->read_only ? VCM_NO_ROOM : make_list(index, request, err);
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
    vcm_kv_handle_read_end(index->state->txn);
    vcm_kv_handle_close(index->state->kv);
    vcm_arena_release(&index->state->arena);
    vcm_headers_release(&index->state->headers);
    free(index->state->damaged);
    free(index->state);
    free(index->files);
    free(index);
}

static int compare_ids(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct vcm_git_id));
}

bool vcm_index_is_damaged(const struct vcm_index *index, size_t file)
{
    assert(file < index->file_count);
    return index->damaged > 0 && bsearch(&index->files[file].blob, index->state->damaged,
                                         index->damaged, sizeof(struct vcm_git_id), compare_ids);
}

static int read_symbols(struct vcm_symbols *out, const struct vcm_index *index, size_t file,
                        bool references, struct vcm_error *err)
{
    unsigned char key[KEY_BYTES];
    struct vcm_slice value;

    assert(file < index->file_count && out->definition_count == 0);
    make_key(key, &index->files[file]);
    int rc = vcm_kv_get(&value, index->state->txn, TABLE_BLOBS, vcm_slice_of(key, sizeof key), err);
    bool needs_ctags = vcm_language_ctags_name(index->files[file].language) != NULL;
    if (rc == VCM_NOT_FOUND && index->state->is_recalled && !needs_ctags)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "the symbols of '%.*s' are missing",
                             (int)index->files[file].path.len, index->files[file].path.data);
    if (rc == VCM_NOT_FOUND) {
        out->state = vcm_index_is_damaged(index, file) ? VCM_SYMBOL_DAMAGED
                     : needs_ctags                     ? VCM_SYMBOL_NO_CTAGS
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

int vcm_index_recall(struct vcm_slice *out, const struct vcm_index *index, struct vcm_error *err)
{
    struct vcm_memo_key key;

    if (!index->state->has_digest)
        return VCM_NOT_FOUND;
    vcm_memo_key_make(&key, VCM_MEMO_GRAPH, index->state->digest);
    return vcm_memo_get(out, index->state->txn, TABLE_MEMOS, &key, err);
}

void vcm_index_remember(const struct vcm_index *index, struct vcm_slice value)
{
    remember(index, VCM_MEMO_GRAPH, value);
}
