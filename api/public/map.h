/*
 * <vcm/map.h> - mapping: the rows of a repo map, one scope without a repo map, and watching.
 *
 * A vcm_map_result and everything in it lives until vcm_map_result_free().
 */
#ifndef VCM_PUBLIC_MAP_H
#define VCM_PUBLIC_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/public/handle.h"

#ifdef __cplusplus
extern "C" {
#endif

enum vcm_status {
    VCM_STATUS_MAPPED,
    VCM_STATUS_ALREADY_MAPPED,
    VCM_STATUS_REMAPPED,
    VCM_STATUS_PARTIAL,
    VCM_STATUS_ERROR,
    VCM_STATUS_UNMAPPED,   /* only from vcm_munmap_application_scope() */
    VCM_STATUS_NOT_MAPPED, /* only from vcm_munmap_application_scope(): no such scope */
};

/* "already_mapped". A static string. */
const char *vcm_status_name(enum vcm_status status);

/* Counts entries of a tree by outcome; `tracked` is the sum of the others. */
struct vcm_coverage {
    uint64_t tracked, paged, excluded, ignored, binary, symlink, submodule, lfs_missing, too_large,
        failed;
};

struct vcm_map_source {
    const char *name;
    const char *scope_id;
    enum vcm_status status;
    enum vcm_code code;  /* VCM_OK unless the row failed */
    const char *message; /* NULL when there is none */
    const char *commit;  /* NULL for a working tree */
    const char *tree;    /* id of the tree that a working tree makes, else NULL */
    uint64_t records, pages, tokens, bytes;
    uint64_t pages_created, pages_reused, pages_dropped;
    struct vcm_coverage coverage;
    uint64_t elapsed_ms;
};

/* The outcome of ingesting one document. */
struct vcm_kb_file {
    const char *source; /* base scope of its repository, NULL for none */
    const char *path;   /* relative to the root of that repository, else absolute */
    const char *status; /* "ingested", "skipped_already_present", "failed", "removed" */
    const char *data_type;
    uint64_t chunks;
    enum vcm_code code;  /* of a failure */
    const char *message; /* NULL when there is none */
};

/* The outcome of following the map's knowledge_routing. */
struct vcm_map_knowledge {
    uint64_t ingested, skipped, failed, removed;
    struct vcm_kb_file *files;
    size_t file_count;
    enum vcm_code code;  /* VCM_OK unless the knowledge base could not be used */
    const char *message; /* NULL when there is none */
};

struct vcm_map_result {
    const char *repo_root;
    const char *origin_url;   /* NULL without a remote */
    const char *branch;       /* NULL when HEAD is detached */
    const char *commit;       /* NULL for a working tree */
    const char *tree;         /* id of the tree that a working tree makes, else NULL */
    int64_t worktree_changes; /* files of the working tree that differ from the commit, of a working
                                 tree from HEAD; -1: there is none, or it cannot be read */
    const char *base_scope_id;
    enum vcm_status status;
    struct vcm_map_source *sources;
    size_t source_count;
    const char **unmapped; /* ids of scopes that were unmapped, because no row names them */
    size_t unmapped_count;
    struct vcm_map_knowledge knowledge; /* empty when no route was followed */
    uint64_t elapsed_ms;
};

/* Sums over all rows so far. */
struct vcm_progress {
    uint64_t files, pages, tokens, bytes;
    uint64_t files_total; /* that there are; 0: not known */
};

struct vcm_map_options {
    const char *repository;    /* a path at or below the repository, or a git URL */
    const char *base_scope_id; /* NULL: derived from the origin */
    const char *branch;        /* NULL: the branch of HEAD */
    const char *commit;        /* NULL: the branch's tip */
    bool worktree; /* HEAD with what is changed, staged, untracked and not ignored, deleted;
                      in scopes of their own, "<scope id>@worktree" */
    const char *const *only; /* names of rows; NULL for all */
    size_t only_count;
    uint32_t flush_threshold;    /* 0: as configured */
    uint32_t flush_token_budget; /* 0: as configured */
    bool pinned;                 /* also pin rows that do not ask for it */
    bool replace;                /* replace a scope of this name that another origin has */
    bool nested_scope;           /* the base may consist of several names, joined by ':' */
    bool knowledge;              /* follow knowledge_routing even when `only` selects rows */
    bool only_live; /* map like a watch: leave mapped static rows alone, and do not warn about the
                       map */
    bool offline;   /* fetch nothing; leave rows alone that would need a fetch */
    unsigned jobs;  /* 0: as many as there are cores */
    unsigned timeout_ms; /* of fetching one repository; 0: 10 minutes */
    void (*progress)(void *context, const struct vcm_progress *progress); /* may be NULL */
    void *progress_context;
};

/* Maps a repository. Failures of rows and files are reported in the result; the call itself fails
 * only when no row could be tried. Free with vcm_map_result_free(). */
int vcm_map(struct vcm_map_result **out, struct vcm *vcm, const struct vcm_map_options *options,
            struct vcm_error *err);
void vcm_map_result_free(struct vcm_map_result *result);

/* Calls with the names and arguments of a framework's own virtual context manager, which vcm can
 * replace. */

struct vcm_mmap_config {
    uint32_t flush_threshold;    /* most records in a page; 0: as configured */
    uint32_t flush_token_budget; /* most tokens in a page; 0: as configured */
    bool pinned;                 /* also pin what does not ask for it */
};

struct vcm_materialize_options {
    const char *origin_url;    /* a git URL, or the path of a repository */
    const char *branch;        /* NULL: the branch of the remote's or repository's HEAD */
    const char *commit;        /* NULL or "HEAD": the branch's tip */
    const char *base_scope_id; /* names joined by ':'; NULL: derived from the origin */
    const struct vcm_mmap_config *config; /* NULL: the rows and the configuration decide */
    const char *const *enabled_sources;   /* names of rows; NULL for all */
    size_t enabled_count;                 /* 0 with a list that is not NULL: no row */
    bool replace;        /* replace scopes of these names that another origin has */
    unsigned jobs;       /* 0: as many as there are cores */
    unsigned timeout_ms; /* of fetching one repository; 0: 10 minutes */
    void (*progress)(void *context, const struct vcm_progress *progress); /* may be NULL */
    void *progress_context;
};

/* Maps the rows of a repository's map, one scope each; `config` overrides what rows set.
 * INVALID_ARGUMENT for an unknown name in `enabled_sources`. Otherwise like vcm_map(). */
int vcm_materialize_repo_map(struct vcm_map_result **out, struct vcm *vcm,
                             const struct vcm_materialize_options *options, struct vcm_error *err);

/* One row without a map: fields as in docs/repo-map.md. */
struct vcm_mmap_options {
    const char *scope_id;    /* names joined by ':' */
    const char *source_type; /* NULL: "git_repo" */
    const char *origin_url;  /* a git URL, or the path of a repository */
    const char *branch;      /* NULL: the branch of the remote's or repository's HEAD */
    const char *commit;      /* NULL or "HEAD": the branch's tip */
    const struct vcm_mmap_config *config; /* NULL: as configured */
    const char *start_dir;                /* NULL: the whole tree */
    const char *const *include_globs;     /* NULL: the patterns of the type */
    size_t include_count;
    const char *const *exclude_globs;
    size_t exclude_count;
    const char *binary_policy;    /* "skip" or "include"; NULL: "skip" */
    bool is_static;               /* a watch does not follow it */
    uint32_t chunk_target_tokens; /* of literature; 0: the default */
    int64_t chunk_overlap_tokens; /* of literature; -1: the default */
    bool replace;                 /* replace a scope of this name that another origin has */
    unsigned jobs;                /* 0: as many as there are cores */
    unsigned timeout_ms;          /* of fetching the repository; 0: 10 minutes */
    void (*progress)(void *context, const struct vcm_progress *progress); /* may be NULL */
    void *progress_context;
};

/* Maps one scope. The result has one source with its status. INVALID_ARGUMENT for a wrong field.
 * Free with vcm_map_result_free(). */
int vcm_mmap_application_scope(struct vcm_map_result **out, struct vcm *vcm,
                               const struct vcm_mmap_options *options, struct vcm_error *err);

/* Unmaps the scope with exactly this id. *status is UNMAPPED or NOT_MAPPED. */
int vcm_munmap_application_scope(enum vcm_status *status, struct vcm *vcm, const char *scope_id,
                                 struct vcm_error *err);

/* Watching. An event and a result live until the callback returns. */

struct vcm_page_event {
    const char *event; /* "page_added", "page_replaced" or "page_invalidated" */
    const char *scope_id;
    const char *page_id;     /* the new page, or the one that was invalidated */
    const char *old_page_id; /* of page_replaced, else NULL */
    const char *const *paths;
    size_t path_count;
};

struct vcm_watch_options {
    struct vcm_map_options map;
    uint64_t poll_ms; /* how often to ask remotes, and to look for changes that inotify does not
                         report */
    bool map_first;   /* begin with a mapping of all rows; its changes are not reported as events */

    /* All but `event` may be NULL. Anything but VCM_OK ends the watch, which returns it. */
    int (*mapped)(void *context, const struct vcm_map_result *result, struct vcm_error *err);
    int (*event)(void *context, const struct vcm_page_event *event, struct vcm_error *err);
    int (*idle)(void *context, struct vcm_error *err); /* several times a second while waiting */
    void *context;
};

/*
 * Maps, waits until a ref of the repository moves or the poll time has passed, maps again, and so
 * on. Static rows that are mapped stay as they are. `mapped` is called for the first mapping,
 * `event` for every page that changed, whichever process changed it.
 *
 * Failures of later mappings, and a repository that disappears, are logged and do not end the
 * watch. Returns INTERRUPTED when the handle is cancelled, or what a callback returned; fails when
 * the first mapping fails.
 */
int vcm_watch(struct vcm *vcm, const struct vcm_watch_options *options, struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
