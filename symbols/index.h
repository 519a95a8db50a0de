/*
 * index.h - the symbols of a repository at a commit: a list of files, whose symbols are kept by the
 * id of their blob.
 *
 * A blob is parsed once for all branches, clones and commits that have it; new blobs are parsed
 * when an index is opened, on several threads, and written to the store beside the pages in
 * transactions of bounded size: a killed process loses only its work. Several processes may use one
 * store at a time. An index belongs to one thread.
 * The list of files is stored under the id of the tree: opening the same tree again reads only the
 * list. Results computed from all files together (graph.h) can be stored beside it.
 */
#ifndef VCM_SYMBOLS_INDEX_H
#define VCM_SYMBOLS_INDEX_H

#include "base/cancel.h"
#include "base/kv.h"
#include "base/log.h"
#include "git/tree.h"
#include "symbols/languages/language.h"
#include "symbols/symbols.h"

struct vcm_index_file {
    struct vcm_slice path;
    struct vcm_git_id blob;
    enum vcm_language language;
};

struct vcm_index_request {
    const char *directory;           /* of the store; exists */
    bool read_only;                  /* use only what is stored */
    struct vcm_git_repo *repo;       /* the caller's, for longer than the index */
    const struct vcm_git_id *commit; /* NULL for HEAD */
    const char *subpath;             /* only what is below this directory; "" for all */
    /* Whether a file is wanted; NULL for all. */
    bool (*takes)(void *context, struct vcm_slice path);
    void *context;
    /* Identifies `takes`: equal texts select equal files. NULL: nothing is stored. */
    const char *filter;
    unsigned workers; /* 0: one for each processor */
    /* Told on the caller's thread while files are parsed, how many of all are indexed; may be NULL.
     */
    void (*progress)(void *context, size_t indexed, size_t total);
    void *progress_context;
    const struct vcm_cancel *cancel;
    const struct vcm_log *log;
};

struct vcm_index {
    struct vcm_git_repo *repo;
    struct vcm_git_id commit;
    struct vcm_index_file *files; /* of known languages, by path */
    size_t file_count;
    size_t tracked;  /* files of the tree below the subpath, of any language */
    size_t matching; /* of these, those that are wanted */
    size_t parsed;   /* without stored symbols before */
    size_t absent;   /* missing contents of a partial clone that were never parsed */
    size_t damaged;  /* contents that cannot be read: vcm_index_is_damaged() tells which */
    struct vcm_index_state *state;
};

/* NOT_FOUND: no commit yet, no such subpath. STORE_BUSY, STORE_FULL, STORE_CORRUPT
 * as of the store. VCM_NO_ROOM: read_only, and something would have to be stored. *out is NULL
 * after a failure. */
int vcm_index_open(struct vcm_index **out, const struct vcm_index_request *request,
                   struct vcm_error *err);
void vcm_index_close(struct vcm_index *index);

/* Copies a store, if there is one in `from`, into the empty directory `to`. */
int vcm_index_copy_store(const char *to, const char *from, struct vcm_error *err);

/* Whether the file's content cannot be read because its object is damaged, or no blob. Such a file
 * has no symbols, and the next index tries again. */
bool vcm_index_is_damaged(const struct vcm_index *index, size_t file);

/*
 * Reads all of the store in `directory`, if there is one. STORE_CORRUPT, or the death of the
 * reader: see base/kv_users.h. Calls `alive` for every entry; anything but VCM_OK ends the check.
 */
int vcm_index_check_store(const char *directory, int (*alive)(void *context, struct vcm_error *err),
                          void *context, struct vcm_error *err);

/* Fills symbols that are initialised; they point into the index. */
int vcm_index_read(struct vcm_symbols *out, const struct vcm_index *index, size_t file,
                   struct vcm_error *err);

/* The same without references. */
int vcm_index_read_definitions(struct vcm_symbols *out, const struct vcm_index *index, size_t file,
                               struct vcm_error *err);

/* A store that is there, for reading single blobs; closed with vcm_kv_handle_close(). NOT_FOUND
 * when there is none. */
int vcm_index_open_store(struct vcm_kv **out, const char *directory, const struct vcm_log *log,
                         struct vcm_error *err);

/* The stored symbols of a blob (symbols.h), by the file's blob and language; valid until the
 * transaction ends. NOT_FOUND, with err untouched, when it was never parsed. */
int vcm_index_stored(struct vcm_slice *value, struct vcm_kv_txn *txn,
                     const struct vcm_index_file *file, struct vcm_error *err);

/* What was stored for this list of files. NOT_FOUND, with `err` untouched, when there is nothing.
 * Valid as long as the index. */
int vcm_index_recall(struct vcm_slice *out, const struct vcm_index *index, struct vcm_error *err);

/* Best effort: a failed write is logged, and the next call computes the value again. */
void vcm_index_remember(const struct vcm_index *index, struct vcm_slice value);

#endif
