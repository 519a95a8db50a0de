/*
 * <vcm/repo.h> - orientation in a repository: its contents, its symbols and their uses.
 */
#ifndef VCM_PUBLIC_REPO_H
#define VCM_PUBLIC_REPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/public/map.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vcm_repo_fetch_options {
    const char *url;     /* https, ssh, file, or a path */
    const char *ref;     /* branch, tag or commit; NULL for the remote's HEAD */
    const char *subpath; /* describe this directory only; NULL: everything */
    const char *dest;    /* check it out here; NULL: only clone into the home */
    unsigned depth;      /* commits of history; 0 for one */
    unsigned timeout_ms; /* 0 for 60 seconds */
};

/* Receives a JSON document, which lives until the callback returns. */
typedef int (*vcm_document_fn)(void *context, const char *json, size_t len, struct vcm_error *err);

/* Clones a repository, or updates the clone to its upstream, and passes on a JSON document of at
 * most 8,192 bytes that describes its contents. AUTH_FAILED, NOT_FOUND, TIMEOUT, NETWORK_ERROR,
 * INVALID_ARGUMENT. */
int vcm_repo_fetch(struct vcm *vcm, const struct vcm_repo_fetch_options *options,
                   vcm_document_fn visit, void *context, struct vcm_error *err);

struct vcm_repo_map_options {
    /* Of a repository or a directory in it, or a git URL; NULL: the one around the current
     * directory.
     */
    const char *path;
    const char *commit;         /* id, prefix, tag, branch; NULL for HEAD */
    uint64_t token_budget;      /* 0 for 1,500 */
    const char *const *include; /* globs; none: every file */
    size_t include_count;
    const char *const *focus; /* paths, relative to the root, to rank higher */
    size_t focus_count;
    const char *const *mentions; /* names to rank higher */
    size_t mention_count;
    bool by_symbol_count; /* rank by the number of symbols instead of by use, for comparison */
    bool worktree; /* HEAD with what is changed, staged, untracked and not ignored, deleted */
    /* Told while files are indexed that never were: `files` of `files_total`. */
    void (*progress)(void *context, const struct vcm_progress *progress); /* may be NULL */
    void *progress_context;
};

/* Passes on the ranked symbols of a commit as a JSON document. A URL is read from its clone in the
 * home as it was last fetched, and fetched first when there is no clone or the commit is not in it.
 * NOT_FOUND: no such repository or commit. INVALID_ARGUMENT: a commit or a URL together with
 * `worktree`, a wrong glob. AUTH_FAILED, NETWORK_ERROR and TIMEOUT of a fetch. */
int vcm_repo_map(struct vcm *vcm, const struct vcm_repo_map_options *options, vcm_document_fn visit,
                 void *context, struct vcm_error *err);

struct vcm_symbol_query {
    const char *path;   /* as in struct vcm_repo_map_options */
    const char *commit; /* as in struct vcm_repo_map_options */
    const char *const *kinds;
    size_t kind_count;
    const char *file;      /* glob; NULL for all */
    const char *name;      /* part of the name, without regard to case; NULL for all */
    const char *from_file; /* begin with the definitions of this file; NULL: from the beginning */
    uint32_t from_line;    /* and of it, with those from this line on */
    uint64_t limit;        /* 0: all */
    bool worktree;         /* as in struct vcm_repo_map_options; and so is `progress` */
    void (*progress)(void *context, const struct vcm_progress *progress); /* may be NULL */
    void *progress_context;
};

/* Passes on the definitions of a commit, by path and line, as a JSON document. Its "total" counts
 * those before `from_file` and beyond the limit, too. */
int vcm_symbol_list(struct vcm *vcm, const struct vcm_symbol_query *query, vcm_document_fn visit,
                    void *context, struct vcm_error *err);

struct vcm_reference_query {
    const char *path;      /* as in struct vcm_repo_map_options */
    const char *commit;    /* as in struct vcm_repo_map_options */
    const char *name;      /* a name, or the symbol_id of a definition */
    const char *from_file; /* as in struct vcm_symbol_query */
    uint32_t from_line;
    uint64_t limit; /* 0: all */
    bool worktree;  /* as in struct vcm_repo_map_options; and so is `progress` */
    void (*progress)(void *context, const struct vcm_progress *progress); /* may be NULL */
    void *progress_context;
};

/* Passes on the references to a name at a commit, by path and line, as a JSON document. NOT_FOUND
 * for a symbol_id that no definition has. */
int vcm_reference_list(struct vcm *vcm, const struct vcm_reference_query *query,
                       vcm_document_fn visit, void *context, struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
