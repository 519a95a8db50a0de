/*
 * grep_search.h - one search of vcm_grep(): its jobs, its workers, and what each job found.
 *
 * The jobs are made on the caller's thread, from the tree of a commit (grep_commit.c) or from page
 * tables (grep_pages.c). A worker runs one at a time and returns a batch. A batch belongs to the
 * thread that has it.
 */
#ifndef VCM_API_GREP_SEARCH_H
#define VCM_API_GREP_SEARCH_H

#include <stdatomic.h>

#include "api/grep_text.h"
#include "api/place.h"
#include "sources/glob.h"
#include "vcm/residency/page_cache.h"

#define VCM_GREP_GAPS_NAMED 100u /* files that were not searched and are named */

/* A file with matches. */
struct vcm_grep_file {
    const char *path; /* as it is shown */
    struct vcm_slice raw_path;
    const struct vcm_scope *scope; /* of pages */
    bool is_prose;                 /* a chunk of a document: it has no definitions */
    bool has_blob;
    struct vcm_git_id blob;
    struct vcm_grep_hits hits;
    size_t first, end; /* the hits that are visited, set by the caller's thread */
};

/* What a job found. */
struct vcm_grep_batch {
    struct vcm_arena arena; /* of all of it */
    struct vcm_grep_file *files;
    size_t file_count, file_capacity;
    struct vcm_grep_gap *gaps; /* the first of them */
    size_t gap_count, gap_capacity;
    uint64_t gaps_total;
    uint64_t searched;
    uint64_t matching; /* files, kept or not */
    uint64_t total;
    struct vcm_grep_batch *next; /* of those with matches that are visited */
};

/* A file of the tree of a commit. */
struct vcm_grep_entry {
    struct vcm_slice path;
    struct vcm_git_id blob;
};

/* A run of files (entries), or of rows of a scope's page table, of which none ends in a file. */
struct vcm_grep_job {
    const struct vcm_scope *scope;
    size_t first, end;
};

struct vcm_grep_worker {
    struct vcm_regex_matcher *matcher;
    struct vcm_blob_reader *blobs; /* of a commit */
    struct vcm_kv_txn *txn;        /* of pages */
    struct vcm_page_cache *cache;
    struct vcm_buf text, bytes;
    struct vcm_arena symbols; /* names that hits point to */
};

struct vcm_grep_search {
    struct vcm *vcm;
    const struct vcm_grep_query *query;
    struct vcm_regex *regex;
    struct vcm_buf needle; /* the text of every match, escaped as in frames; "" for none */
    struct vcm_glob_list globs;
    struct vcm_place **places; /* one, or one for each scope that was named */
    size_t place_count;
    struct vcm_arena arena;
    struct vcm_grep_entry *entries;
    size_t entry_count, entry_capacity;
    struct vcm_grep_job *jobs;
    size_t job_count, job_capacity;
    unsigned worker_count;
    struct vcm_grep_worker workers[VCM_LIMIT_WORKERS];
    uint64_t deadline_ms;
    atomic_bool only_count;        /* no further match is visited */
    struct collection *collection; /* of grep.c */
};

/* Whether the patterns of the query select the path. */
bool vcm_grep_takes(const struct vcm_grep_search *search, struct vcm_slice path);

/* Searches the text of a file and adds it to the batch when it matches. `file` has its path, scope
 * and blob; *added, which may be NULL, is the file in the batch, or NULL. */
int vcm_grep_search_file(struct vcm_grep_batch *batch, struct vcm_grep_file **added,
                         const struct vcm_grep_search *search, struct vcm_grep_worker *worker,
                         const struct vcm_grep_file *file, struct vcm_slice text,
                         struct vcm_error *err);

/* Notes a file that cannot be searched. */
int vcm_grep_add_gap(struct vcm_grep_batch *batch, const char *path, const char *reason,
                     struct vcm_error *err);

int vcm_grep_add_job(struct vcm_grep_search *search, const struct vcm_scope *scope, size_t first,
                     size_t end, struct vcm_error *err);

/* Makes the jobs of a place. */
int vcm_grep_commit_list(struct vcm_grep_search *search, struct vcm_place *place,
                         struct vcm_error *err);
int vcm_grep_pages_list(struct vcm_grep_search *search, struct vcm_place *place,
                        struct vcm_error *err);

/* Opens what a worker needs; on the caller's thread. */
int vcm_grep_commit_open_worker(struct vcm_grep_worker *worker,
                                const struct vcm_grep_search *search, struct vcm_error *err);
int vcm_grep_pages_open_worker(struct vcm_grep_worker *worker, const struct vcm_grep_search *search,
                               struct vcm_error *err);

/* Runs a job on a worker. */
int vcm_grep_commit_run(struct vcm_grep_batch *batch, const struct vcm_grep_search *search,
                        struct vcm_grep_worker *worker, const struct vcm_grep_job *job,
                        struct vcm_error *err);
int vcm_grep_pages_run(struct vcm_grep_batch *batch, const struct vcm_grep_search *search,
                       struct vcm_grep_worker *worker, const struct vcm_grep_job *job,
                       struct vcm_error *err);

/* Reads the text of a file once more into worker->text, for its definitions; it is empty when it
 * cannot be read. */
int vcm_grep_commit_read(const struct vcm_grep_search *search, struct vcm_grep_worker *worker,
                         const struct vcm_grep_file *file, struct vcm_error *err);
int vcm_grep_pages_read(const struct vcm_grep_search *search, struct vcm_grep_worker *worker,
                        const struct vcm_grep_file *file, struct vcm_error *err);

/* Sets the symbols of the hits that are visited, on all processors. `batches` is a list. */
int vcm_grep_symbols_set(struct vcm_grep_search *search, struct vcm_grep_batch *batches,
                         struct vcm_error *err);

#endif
