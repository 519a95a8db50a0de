/*
 * place.h - what a call looks at (api/public/place.h), and the files there.
 *
 * A place is the tree of a commit, the working tree, or the page tables of scopes. Files are found
 * and visited here; place_text.h reads their text. A place belongs to one thread, is used for one
 * call, and sees one state: the commit is resolved and the transaction begun when it is opened.
 */
#ifndef VCM_API_PLACE_H
#define VCM_API_PLACE_H

#include "api/handle.h"
#include "git/tree.h"
#include "vcm/store/scope.h"

enum vcm_place_source {
    VCM_PLACE_PAGE,
    VCM_PLACE_COMMIT,
    VCM_PLACE_WORKTREE,
};

struct vcm_blob_reader;

struct vcm_place {
    struct vcm *vcm;
    enum vcm_place_source source;
    struct vcm_blob_reader *blobs; /* NULL of pages */
    struct vcm_git_repo *repo;     /* of `blobs`; NULL of pages */
    struct vcm_git_id commit;      /* of the repository; of a working tree the one that it makes */
    char *subpath;                 /* the directory that was named, below the root; "" for all */
    char *root;                    /* of the repository, or NULL */
    struct vcm_kv_txn *txn;        /* of the page store, once `scopes` are known */
    struct vcm_scope *scopes;      /* of pages: those that are looked at; else see below */
    size_t scope_count, scope_capacity;
    bool has_scopes;   /* `scopes` was filled in */
    bool only_objects; /* pages do not answer in place of a repository */
};

/* A file of a place. */
struct vcm_place_file {
    struct vcm_slice path; /* bytes as in git; of pages as in their records */
    enum vcm_place_source source;
    enum vcm_git_kind kind;
    bool has_blob; /* false of pages without one */
    struct vcm_git_id blob;
    const struct vcm_scope *scope; /* of pages, else NULL */
};

/* *out is NULL after a failure. Codes of struct vcm_place_query, AUTH_FAILED, NETWORK_ERROR and
 * TIMEOUT of a fetch, those of the store. */
int vcm_place_open(struct vcm_place **out, struct vcm *vcm, const struct vcm_place_query *query,
                   struct vcm_error *err);
/* The same for a caller that needs git objects: mapped pages never stand in for a repository or a
 * commit that is not here. Not for `scope` without a commit, nor `all_scopes`. */
int vcm_place_open_objects(struct vcm_place **out, struct vcm *vcm,
                           const struct vcm_place_query *query, struct vcm_error *err);
void vcm_place_close(struct vcm_place *place);

/* The commit of a place's repository that a name means: one that is no commit may be a branch; NULL
 * is HEAD. Its tree must be here, too. Codes of vcm_git_repo_resolve(). */
int vcm_place_resolve(struct vcm_git_id *out, struct vcm_place *place, const char *name,
                      struct vcm_error *err);

/* "page", "commit", "worktree" */
const char *vcm_place_source_name(enum vcm_place_source source);

/* Appends how the place is called in messages: "commit 1f2e3d4 of '/srv/app'". */
void vcm_place_describe(struct vcm_buf *out, const struct vcm_place *place);

/*
 * Appends the path from the root that a person means by `text`: a path from the root, one that
 * begins with "./" or "../" or `as_local` from the directory that the place was opened at, an
 * absolute one below the root. No slash at the end; "" is the root. INVALID_ARGUMENT when it leads
 * out of the repository.
 */
int vcm_place_path(struct vcm_buf *out, const struct vcm_place *place, const char *text,
                   bool as_local, struct vcm_error *err);

/* A file by its path from the root; out->path is `path`. NOT_FOUND, with `err` untouched, when
 * there is none. AMBIGUOUS when scopes have different files by this path: the candidates are
 * scopes. */
int vcm_place_find(struct vcm_place_file *out, struct vcm_place *place, const char *path,
                   struct vcm_error *err);

/* Whether files are below this directory; "" is the root. */
int vcm_place_has_directory(bool *found, struct vcm_place *place, const char *path,
                            struct vcm_error *err);

typedef int (*vcm_place_file_fn)(void *context, const struct vcm_place_file *file,
                                 struct vcm_error *err);

/* Visits every file below a directory, "" for all: of a commit and a working tree in the order of
 * git's walk (git/tree.h), of pages by scope and in the order of the page table. A path is valid
 * during the call. VCM_STOP ends the walk with success. */
int vcm_place_each(struct vcm_place *place, const char *directory, vcm_place_file_fn visit,
                   void *context, struct vcm_error *err);

/* Fills place->scopes with the scopes that were mapped from the place's repository, for a place
 * that has a repository; nothing when it has them, or there is no store. */
int vcm_place_load_scopes(struct vcm_place *place, struct vcm_error *err);

#endif
