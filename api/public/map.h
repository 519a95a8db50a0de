/*
 * <vcm/map.h> - mapping: rows of a map, one scope without a map, and what becomes of them;
 * watching.
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
    VCM_STATUS_UNMAPPED,   /* of unmapping */
    VCM_STATUS_NOT_MAPPED, /* of unmapping: there was nothing */
};

/* "already_mapped" */
const char *vcm_status_name(enum vcm_status status);

/* How many entries of a tree ended how; `tracked` is the sum of the others. */
struct vcm_coverage {
    uint64_t tracked, paged, excluded, ignored, binary, symlink, submodule, lfs_missing, too_large,
        failed;
};

struct vcm_map_source {
    const char *name;
    const char *scope_id;
    enum vcm_status status;
    enum vcm_code code;  /* VCM_OK unless the row failed */
    const char *message; /* NULL when there is nothing to say */
    const char *commit;
    uint64_t records, pages, tokens, bytes;
    uint64_t pages_created, pages_reused, pages_dropped;
    struct vcm_coverage coverage;
    uint64_t elapsed_ms;
};

/* What became of a document on its way into the knowledge base. */
struct vcm_kb_file {
    const char *source; /* base scope of the repository that it is of, NULL for none */
    const char *path;   /* from the root of that repository, else absolute */
    const char *status; /* "ingested", "skipped_already_present", "failed", "removed" */
    const char *data_type;
    uint64_t chunks;
    enum vcm_code code;  /* of a failure */
    const char *message; /* NULL when there is nothing to say */
};

/* What became of the files that a map routes to the knowledge base. */
struct vcm_map_knowledge {
    uint64_t ingested, skipped, failed, removed;
    struct vcm_kb_file *files;
    size_t file_count;
    enum vcm_code code;  /* VCM_OK unless the knowledge base itself could not be used */
    const char *message; /* NULL when there is nothing to say */
};

struct vcm_map_result {
    const char *repo_root;
    const char *origin_url; /* NULL without a remote */
    const char *branch;     /* NULL when HEAD is detached */
    const char *commit;
    const char *base_scope_id;
    enum vcm_status status;
    struct vcm_map_source *sources;
    size_t source_count;
    const char **unmapped; /* scope ids */
    size_t unmapped_count;
    struct vcm_map_knowledge knowledge; /* empty when no route was followed */
    uint64_t elapsed_ms;
};

/* Over all rows so far. */
struct vcm_progress {
    uint64_t files, pages, tokens, bytes;
};

struct vcm_map_options {
    const char *repository;    /* a path at or below the repository, or a git URL */
    const char *base_scope_id; /* NULL: derived from the origin */
    const char *branch;        /* NULL: HEAD's */
    const char *commit;        /* NULL: the branch's tip */
    const char *const *only;   /* names of rows; NULL for all */
    size_t only_count;
    uint32_t flush_threshold;    /* 0: as configured */
    uint32_t flush_token_budget; /* 0: as configured */
    bool pinned;                 /* in addition to what is configured */
    bool replace;                /* take the scope over from another origin */
    bool nested_scope;           /* the base may be several names with ':' between */
    bool knowledge;              /* follow knowledge_routing also with a selection of rows */
    bool only_live;              /* as a watch maps: static rows that are mapped stay as they are,
                                    and nothing is said about the map */
    bool offline;                /* fetch nothing: rows that would need it stay as they are */
    unsigned jobs;               /* 0: as many as there are cores */
    unsigned timeout_ms;         /* of fetching one repository; 0: 10 minutes */
    void (*progress)(void *context, const struct vcm_progress *progress); /* may be NULL */
    void *progress_context;
};

/* Maps a repository. Failures of rows and files are in the result; the call itself fails when
 * nothing could be tried. Free with vcm_map_result_free(). */
int vcm_map(struct vcm_map_result **out, struct vcm *vcm, const struct vcm_map_options *options,
            struct vcm_error *err);
void vcm_map_result_free(struct vcm_map_result *result);

/* The calls of a framework that has a virtual context manager of its own to replace */

struct vcm_mmap_config {
    uint32_t flush_threshold;    /* most records in a page; 0: as configured */
    uint32_t flush_token_budget; /* most tokens in a page; 0: as configured */
    bool pinned;                 /* in addition to what is configured */
};

struct vcm_materialize_options {
    const char *origin_url;    /* a git URL, or the path of a repository */
    const char *branch;        /* NULL: that of the remote's or repository's HEAD */
    const char *commit;        /* NULL or "HEAD": the branch's tip */
    const char *base_scope_id; /* names with ':' between; NULL: derived from the origin */
    const struct vcm_mmap_config *config; /* NULL: as rows and configuration say */
    const char *const *enabled_sources;   /* names of rows; NULL for all */
    size_t enabled_count;                 /* 0 with a list: none */
    bool replace;                         /* take scopes over from another origin */
    unsigned jobs;                        /* 0: as many as there are cores */
    unsigned timeout_ms;                  /* of fetching one repository; 0: 10 minutes */
    void (*progress)(void *context, const struct vcm_progress *progress); /* may be NULL */
    void *progress_context;
};

/* Maps the rows of a repository's map, one scope each; `config` wins over what rows set. An unknown
 * name in `enabled_sources` is INVALID_ARGUMENT. Otherwise as vcm_map(). */
int vcm_materialize_repo_map(struct vcm_map_result **out, struct vcm *vcm,
                             const struct vcm_materialize_options *options, struct vcm_error *err);

/* One row without a map: fields as in docs/repo-map.md. */
struct vcm_mmap_options {
    const char *scope_id;                 /* names with ':' between */
    const char *source_type;              /* NULL: "git_repo" */
    const char *origin_url;               /* a git URL, or the path of a repository */
    const char *branch;                   /* NULL: that of the remote's or repository's HEAD */
    const char *commit;                   /* NULL or "HEAD": the branch's tip */
    const struct vcm_mmap_config *config; /* NULL: as configured */
    const char *start_dir;                /* NULL: the whole tree */
    const char *const *include_globs;     /* NULL: those of the type */
    size_t include_count;
    const char *const *exclude_globs;
    size_t exclude_count;
    const char *binary_policy;    /* "skip" or "include"; NULL: "skip" */
    bool is_static;               /* not followed by a watch */
    uint32_t chunk_target_tokens; /* of literature; 0: the default */
    int64_t chunk_overlap_tokens; /* of literature; -1: the default */
    bool replace;                 /* take the scope over from another origin */
    unsigned jobs;                /* 0: as many as there are cores */
    unsigned timeout_ms;          /* of fetching the repository; 0: 10 minutes */
    void (*progress)(void *context, const struct vcm_progress *progress); /* may be NULL */
    void *progress_context;
};

/* Maps one scope; the result has one source, whose status says how it went. A wrong field is
 * INVALID_ARGUMENT. Free with vcm_map_result_free(). */
int vcm_mmap_application_scope(struct vcm_map_result **out, struct vcm *vcm,
                               const struct vcm_mmap_options *options, struct vcm_error *err);

/* Drops the scope of exactly this name: *status is UNMAPPED or NOT_MAPPED. */
int vcm_munmap_application_scope(enum vcm_status *status, struct vcm *vcm, const char *scope_id,
                                 struct vcm_error *err);

/* Watching */

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
    uint64_t poll_ms; /* how often to look at remotes, and for what no one tells of */
    bool map_first;   /* begin with a mapping of all rows; its changes are no events */

    /* Each may be NULL but `event`; anything but VCM_OK ends the watch, which returns it. */
    int (*mapped)(void *context, const struct vcm_map_result *result, struct vcm_error *err);
    int (*event)(void *context, const struct vcm_page_event *event, struct vcm_error *err);
    int (*idle)(void *context, struct vcm_error *err); /* several times a second while waiting */
    void *context;
};

/*
 * Maps, waits until a ref of the repository moves or the time to poll has come, maps again, and so
 * on; static rows that are mapped stay as they are. `mapped` is called for the first mapping,
 * `event` for every page that changed by any process. Goes on through failures of later mappings
 * and while the repository is gone, and logs them. Returns INTERRUPTED when the handle's cancel
 * flag asks for it, or what a callback returned; fails when the first mapping does.
 */
int vcm_watch(struct vcm *vcm, const struct vcm_watch_options *options, struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
