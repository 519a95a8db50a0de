/*
 * vcm.h - libvcm: pages of context from version-controlled sources.
 *
 * A handle stands for one home: a directory with a page store and its configuration. Opening it
 * touches nothing; the home is made by the first call that writes, and a missing one reads as an
 * empty store. A handle is used by one thread at a time; several handles, also of one home, may be
 * open in one process.
 * Functions return VCM_OK or a code and fill the caller's error, which may be NULL; it is zeroed,
 * or reset with vcm_error_reset(), before every call, for the first cause wins. Strings are UTF-8.
 * Objects that a function hands out are freed with the function named beside it; strings inside
 * them live as long as the object. Callbacks return VCM_OK to go on; anything else ends the call,
 * which returns it.
 */
#ifndef VCM_VCM_H
#define VCM_VCM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
/* A struct and a function may have one name, as in stat(2). */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

#include "base/public.h"

/* Of the library that runs: "0.1.0". */
const char *vcm_version(void);

struct vcm;

struct vcm_open_options {
    const char *home;                /* NULL: $VCM_HOME, $XDG_DATA_HOME/vcm, ~/.local/share/vcm */
    const struct vcm_log *log;       /* may be NULL */
    const struct vcm_cancel *cancel; /* may be NULL; asks long calls to stop */
};

/* INVALID_ARGUMENT when no home can be told. */
int vcm_open(struct vcm **out, const struct vcm_open_options *options, struct vcm_error *err);
void vcm_close(struct vcm *vcm);

const char *vcm_home(const struct vcm *vcm);

/* A type of source of the caller's own, that rows of a map can name in `type` */

/* What a row asks for. */
struct vcm_source_row {
    const char *repository;           /* path of a repository on this machine */
    const char *commit;               /* full id */
    const char *start_dir;            /* "" for the whole tree */
    const char *const *include_globs; /* gitignore patterns; none: everything */
    size_t include_count;
    const char *const *exclude_globs;
    size_t exclude_count;
};

struct vcm_source_entry {
    const char *path; /* need not end with NUL, nor be UTF-8 */
    size_t path_len;
    const void *content_id; /* 1 to 32 bytes: the same ones mean the same text */
    size_t content_id_len;
};
typedef int (*vcm_source_entry_fn)(void *context, const struct vcm_source_entry *entry,
                                   struct vcm_error *err);
/* Takes a piece of text, any number of times. */
typedef int (*vcm_source_text_fn)(void *context, const char *text, size_t len,
                                  struct vcm_error *err);

/* walk() shows what there is, in the same order each time; read() is called from several threads at
 * once. What read() cannot read it answers with NOT_FOUND: the entry counts as failed, and the rest
 * goes on. Invalid UTF-8 is replaced. */
struct vcm_source_definition {
    const char *name;
    void *context; /* of open() */
    int (*open)(void **source, void *context, const struct vcm_source_row *row,
                struct vcm_error *err);
    int (*walk)(void *source, vcm_source_entry_fn visit, void *visit_context,
                struct vcm_error *err);
    int (*read)(void *source, const struct vcm_source_entry *entry, vcm_source_text_fn write,
                void *write_context, struct vcm_error *err);
    void (*close)(void *source);
};

/* The name and the context must outlive the handle. INVALID_ARGUMENT when the name is taken or a
 * function is missing. */
int vcm_register_source(struct vcm *vcm, const struct vcm_source_definition *definition,
                        struct vcm_error *err);

/* Mapping */

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
    unsigned timeout_ms;         /* of fetching one repository; 0: ten minutes */
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
    unsigned timeout_ms;                  /* of fetching one repository; 0: ten minutes */
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
    unsigned timeout_ms;          /* of fetching the repository; 0: ten minutes */
    void (*progress)(void *context, const struct vcm_progress *progress); /* may be NULL */
    void *progress_context;
};

/* Maps one scope; the result has one source, whose status says how it went. A wrong field is
 * INVALID_ARGUMENT. Free with vcm_map_result_free(). A scope that was mapped so is not mapped anew
 * when a damaged store is replaced: the caller maps it again. */
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

/* The repo map */

struct vcm_map_problem {
    bool is_warning;
    unsigned line, column; /* 1-based; 0 where there is no file */
    const char *where;     /* "sources[0].name" */
    const char *message;
};

/* A row as the map has it, with defaults filled in. */
struct vcm_map_row {
    const char *name;
    const char *type;
    const char *origin_url; /* NULL: none */
    const char *submodule;  /* NULL: none */
    const char *branch;
    const char *commit;
    const char *start_dir; /* NULL: whole tree */
    const char *const *include_globs;
    size_t include_count;
    const char *const *exclude_globs;
    size_t exclude_count;
    bool include_binaries;
    bool is_static;
    uint32_t chunk_target_tokens, chunk_overlap_tokens;
    uint32_t flush_threshold, flush_token_budget;
    bool pinned;
    bool is_literature;
    uint32_t sets; /* bits of enum vcm_map_field: what the file itself says, and the type takes */

    int64_t matched_files; /* -1 when they cannot be counted here */

    /* In a preview: the mapping call. */
    const char *scope_id;
    const char *call_origin_url, *call_branch, *call_commit; /* branch NULL on a detached HEAD */
    const struct vcm_error *error; /* why the row cannot be resolved, or NULL */
};

enum vcm_map_field {
    VCM_MAP_START_DIR = 1 << 0,
    VCM_MAP_INCLUDE_GLOBS = 1 << 1,
    VCM_MAP_EXCLUDE_GLOBS = 1 << 2,
    VCM_MAP_BINARY_POLICY = 1 << 3,
    VCM_MAP_STATIC = 1 << 4,
    VCM_MAP_CHUNK_TARGET_TOKENS = 1 << 5,
    VCM_MAP_CHUNK_OVERLAP_TOKENS = 1 << 6,
};

struct vcm_map_route {
    const char *const *paths;
    size_t path_count;
    const char *ingest_to;
    const char *profile;   /* NULL: none */
    int64_t matched_files; /* before promotion; -1 when they cannot be counted */
};

struct vcm_map_report {
    const char *path; /* of the map, whether it is there or not */
    const char *repo_root;
    bool is_bare; /* the root is no working tree */
    bool has_repo_map_file;
    const char *raw; /* its bytes, NULL without a file */
    size_t raw_len;
    const char *origin_url; /* NULL without a remote */
    const char *branch;     /* NULL when HEAD is detached */
    const char *commit;     /* NULL before the first one */
    const char *base_scope_id;
    bool ok;                                /* no errors */
    const struct vcm_map_problem *problems; /* errors and warnings by their place */
    size_t problem_count;
    const struct vcm_map_row *rows; /* none when the map has errors */
    size_t row_count;
    const struct vcm_map_route *routes;
    size_t route_count;
    int64_t unmapped_files; /* -1 when they cannot be counted */
};

struct vcm_map_query {
    const char *repository;      /* a path, or a git URL */
    const char *base_scope_id;   /* NULL: derived */
    const char *origin_url;      /* NULL: the remote's */
    const char *branch, *commit; /* NULL: the map of the working tree, over HEAD's files */
    const char *const *only;
    size_t only_count;
    bool from_commit; /* read the map from the commit in any case, as mapping does */
    uint32_t flush_threshold, flush_token_budget; /* 0: as the row and the configuration say */
    bool pinned;
    bool even_invalid; /* show: a report without rows for a map with errors, instead of a failure */
    unsigned timeout_ms; /* of fetching the repository of a URL; 0: ten minutes */
};

/* Looks at a map: all that is wrong with it, and what it would miss. A map with errors is a report
 * that is not ok, not a failure. Free with vcm_map_report_free(). */
int vcm_map_check(struct vcm_map_report **out, struct vcm *vcm, const struct vcm_map_query *query,
                  struct vcm_error *err);

/* What mapping would do. INVALID_REPO_MAP when the map has errors. */
int vcm_map_preview(struct vcm_map_report **out, struct vcm *vcm, const struct vcm_map_query *query,
                    struct vcm_error *err);

/* The map as it is, without a look at the tree. INVALID_REPO_MAP when it has errors, unless the
 * query takes it even so. */
int vcm_map_show(struct vcm_map_report **out, struct vcm *vcm, const struct vcm_map_query *query,
                 struct vcm_error *err);

void vcm_map_report_free(struct vcm_map_report *report);

/* A directory on disk, depth first: folders before files, both by their bytes, `.git` left out,
 * links not followed. enter() is called for everything, leave() behind a folder's content. */
struct vcm_directory_query {
    const char *root;
    unsigned max_depth; /* folders below are not looked into */
    unsigned max_nodes;
};

struct vcm_directory_visitor {
    int (*enter)(void *context, const char *path, bool is_directory, struct vcm_error *err);
    int (*leave)(void *context, struct vcm_error *err);
};

/* *truncated tells that a bound was reached. Paths are relative to the root, "." for itself. */
int vcm_directory_walk(bool *truncated, const struct vcm_directory_query *query,
                       const struct vcm_directory_visitor *visitor, void *context,
                       struct vcm_error *err);

/* Bootstrap */

struct vcm_init_options {
    const char *directory;                 /* at or below the repository */
    const char *tenant, *colony, *program; /* of a new manifest; NULL: told by the repository */
    const char *author;                    /* "Name <email>"; NULL: as git is configured */
    const char *const *co_authors;
    size_t co_author_count;
    const char *message; /* of the commit; NULL for the usual one */
    bool no_lfs, no_push;
    bool push_all; /* also commits that were there before */
    bool migrate;  /* move what is committed into LFS */
    bool dry_run;  /* tell what would be done, and do nothing */
};

/* A ref that a migration rewrites. */
struct vcm_init_ref {
    const char *name;
    const char *old_id;
    const char *new_id; /* NULL in a dry run */
};

struct vcm_init_file {
    const char *path;
    uint64_t versions; /* in all of history */
    uint64_t bytes;    /* of all versions */
};

/* What a migration would rewrite. */
struct vcm_init_migration {
    const struct vcm_init_file *files; /* by path */
    size_t file_count;
    uint64_t bytes;
    uint64_t commits; /* that would get another id */
};

struct vcm_init_result {
    const char *repo_root;
    bool dry_run;
    bool initialized;         /* this run wrote something */
    const char *const *files; /* in the commit */
    size_t file_count;
    const char *commit; /* NULL for none */
    bool pushed;
    const char *push_error; /* NULL for none */
    bool push_failed;       /* it was tried, and did not succeed */
    bool lfs_enabled;
    bool migrated;
    const char *migrate_error; /* NULL for none */
    const struct vcm_init_ref *refs;
    size_t ref_count;
    const struct vcm_init_migration *migration; /* of a dry run that migrates, else NULL */
    const char *const *warnings;
    size_t warning_count;
};

/* Writes what is missing of manifest, repo map and LFS patterns, commits just that, and pushes.
 * INVALID_ARGUMENT, UNSUPPORTED and the like before anything is written; what goes wrong behind
 * the commit is in the result. Free with vcm_init_result_free(). */
int vcm_init(struct vcm_init_result **out, struct vcm *vcm, const struct vcm_init_options *options,
             struct vcm_error *err);
void vcm_init_result_free(struct vcm_init_result *result);

/* Large files */

struct vcm_lfs_file {
    const char *scope_id; /* of a pull; NULL in a status */
    const char *path;
    const char *oid; /* 64 hex digits */
    uint64_t size;
    bool present; /* its content is on this machine */
    bool fetched; /* by this call */
};

struct vcm_lfs_summary {
    const char *repo_root; /* of a status */
    const char *commit;    /* of a status; NULL before the first one */
    const char *mode;      /* of a status: what the manifest says, "same_remote" without one */
    uint64_t files, bytes; /* that are kept in LFS; of a pull: that were missing */
    uint64_t present, fetched, missing;
    uint64_t missing_bytes;
    const char *error; /* of a pull: why something is still missing, or NULL */
};

typedef int (*vcm_lfs_file_fn)(void *context, const struct vcm_lfs_file *file,
                               struct vcm_error *err);
typedef int (*vcm_lfs_summary_fn)(void *context, const struct vcm_lfs_summary *summary,
                                  struct vcm_error *err);

/* The LFS pointers of HEAD's tree by their paths, then the sums. */
int vcm_lfs_status(struct vcm *vcm, const char *repository, vcm_lfs_file_fn visit,
                   vcm_lfs_summary_fn sum, void *context, struct vcm_error *err);

/* Fetches the content that mapped rows lack: of a scope, a base or a unique prefix, NULL for all.
 * What cannot be fetched is in the summary. NOT_FOUND, AMBIGUOUS. */
int vcm_lfs_pull(struct vcm *vcm, const char *scope, vcm_lfs_file_fn visit, vcm_lfs_summary_fn sum,
                 void *context, struct vcm_error *err);

/* Scopes */

struct vcm_scope_info {
    const char *scope_id;
    const char *name; /* of the row */
    const char *type;
    const char *repo_root;
    const char *origin_url; /* NULL without a remote */
    const char *branch;     /* NULL when HEAD was detached */
    const char *commit;
    uint32_t flush_threshold, flush_token_budget;
    bool pinned;
    uint64_t records, pages, tokens, bytes;
    struct vcm_coverage coverage;
    uint64_t mapped_at; /* Unix seconds */
};

typedef int (*vcm_scope_fn)(void *context, const struct vcm_scope_info *scope,
                            struct vcm_error *err);
/* In the order of the scope ids. */
int vcm_scopes(struct vcm *vcm, vcm_scope_fn visit, void *context, struct vcm_error *err);

/* A path of the scope's tree and what became of it. */
struct vcm_coverage_file {
    const char *path;
    const char *outcome; /* "paged", "binary": the names of the members of struct vcm_coverage */
    const char *reason;  /* why it failed, NULL otherwise */
};

struct vcm_coverage_query {
    const char *scope;  /* id or unique prefix */
    const char *reason; /* only files of this outcome, or that failed for this reason; NULL: all */
};

typedef int (*vcm_coverage_fn)(void *context, const struct vcm_coverage_file *file,
                               struct vcm_error *err);
/* The ledger of a scope: `on_scope` once, then `visit` for every path by its bytes. NOT_FOUND,
 * AMBIGUOUS. */
int vcm_coverage(struct vcm *vcm, const struct vcm_coverage_query *query, vcm_scope_fn on_scope,
                 vcm_coverage_fn visit, void *context, struct vcm_error *err);

typedef int (*vcm_unmapped_fn)(void *context, const char *scope_id, struct vcm_error *err);
/* Drops a scope, or all scopes of a base; `scope` may be a unique prefix. NOT_FOUND, AMBIGUOUS. */
int vcm_unmap(struct vcm *vcm, const char *scope, vcm_unmapped_fn visit, void *context,
              struct vcm_error *err);

/* Pages */

struct vcm_page_entry {
    const char *page_id; /* 40 hex digits */
    const char *scope_id;
    uint32_t seq;
    uint32_t records;
    uint32_t tokens;
    uint64_t bytes;
    const char *state; /* "resident" */
    bool pinned;
    uint64_t locked_until; /* Unix seconds, 0 for no lock */
    const char *const *files;
    size_t file_count;
};

struct vcm_pages_query {
    const char *scope;  /* id, base or unique prefix; NULL for all */
    const char *path;   /* a file, or a directory for all below it; NULL for all */
    const char *state;  /* NULL for all */
    bool pinned;        /* only pinned ones */
    uint32_t limit;     /* 0 for the most that one call gives */
    const char *cursor; /* from a former call */
};

typedef int (*vcm_page_entry_fn)(void *context, const struct vcm_page_entry *page,
                                 struct vcm_error *err);
/* By scope and seq. *next_cursor is NULL when the listing is complete, else freed with free(). */
int vcm_pages(char **next_cursor, struct vcm *vcm, const struct vcm_pages_query *query,
              vcm_page_entry_fn visit, void *context, struct vcm_error *err);

/* Where a file, or a line of it, is. */
struct vcm_find_entry {
    const char *page_id;
    const char *scope_id;
    uint32_t seq;
    uint32_t record; /* which of the page's records, from 0 */
    const char *path;
    uint32_t line; /* that was asked for, 0 for the whole file */
    uint32_t part, parts, start_line, end_line;
};

struct vcm_find_query {
    const char *path;  /* from the root of the repository; "path:12" for a line */
    const char *scope; /* id, base or unique prefix; NULL for all */
};

typedef int (*vcm_find_fn)(void *context, const struct vcm_find_entry *entry,
                           struct vcm_error *err);
/* By scope and seq, at least one. A file whose name ends like a line is found by its name first.
 * NOT_FOUND says why when the file was left out. */
int vcm_find(struct vcm *vcm, const struct vcm_find_query *query, vcm_find_fn visit, void *context,
             struct vcm_error *err);

struct vcm_record {
    const char *record_id;
    const char *path;
    const char *blob; /* hex */
    uint32_t start_line, end_line, part, parts, tokens;
    bool lossy, path_lossy;
    const char *media_type; /* of a binary file, NULL otherwise; `text` is then base64, or empty
                               when that does not fit a page */
    uint64_t size;          /* of a binary file's content, 0 otherwise */
    const char *section;    /* of a chunk of a document: its headings; NULL of files */
    uint32_t page;          /* of a chunk: where it begins; 0 when the document has no pages */
    const char *heading;    /* of a later part: the nearest earlier line at column 0, or NULL */
    const char *text;
    size_t text_len;
};

struct vcm_page {
    const char *page_id;
    const char *const *scopes; /* that hold the page, in order */
    size_t scope_count;
    const char *scope_id; /* whose provenance is shown */
    uint32_t seq;
    uint32_t occurrences; /* in that scope */
    uint32_t tokens;
    uint64_t bytes;
    const char *frame; /* the page's bytes, `bytes` of them */
    const struct vcm_record *records;
    size_t record_count;
};

struct vcm_page_query {
    const char *page;  /* id or unique prefix of at least 6 digits */
    const char *scope; /* NULL: the first that holds it */
    int64_t seq;       /* which occurrence, -1 for the first */
};

/* Reads a page. NOT_FOUND, AMBIGUOUS (with candidates in the details). Release with
 * vcm_page_release(), before the handle is closed. */
int vcm_page_open(struct vcm_page **out, struct vcm *vcm, const struct vcm_page_query *query,
                  struct vcm_error *err);
void vcm_page_release(struct vcm_page *page);

/* The bytes of a page as they lie in the store, without a copy, for as long as the caller wants:
 * the page does not leave memory meanwhile. A view may outlive the handle. */
struct vcm_page_view {
    const char *page_id;
    const char *data; /* the frame: one serialised record a line */
    size_t bytes;
};

/* Counts as one read. STORE_BUSY when there are 1,024 views already or views hold a quarter of the
 * capacity. Release with vcm_page_view_release(). */
int vcm_page_view_open(struct vcm_page_view **out, struct vcm *vcm, const char *name,
                       struct vcm_error *err);
void vcm_page_view_release(struct vcm_page_view *view);

/* The same for a page that is in memory; *out is NULL, without an error, for one that is not: the
 * call does no work that takes long. */
int vcm_page_view_open_hit(struct vcm_page_view **out, struct vcm *vcm, const char *page,
                           struct vcm_error *err);

/* Residency: which pages are in memory, and stay there */

/* What became of a page that was asked for. */
struct vcm_page_outcome {
    const char *page_id;
    const char *state; /* after the call: "resident", "compressed" or "evicted" */
    const char *fault; /* of vcm_fault(): "hit", "minor" or "major", how it was found; else NULL */
    const char *stays; /* of vcm_evict(): "pinned", "locked" or "viewed", why it is not sent down */
    uint64_t locked_until;         /* Unix seconds, 0 for no lock */
    const struct vcm_error *error; /* of vcm_fault(): why the page could not be had, or NULL */
};
typedef int (*vcm_page_outcome_fn)(void *context, const struct vcm_page_outcome *page,
                                   struct vcm_error *err);

struct vcm_fault_query {
    const char *const *pages; /* ids or unique prefixes */
    size_t count;
    unsigned priority;  /* higher ones first; among equals the older */
    uint64_t lock_ms;   /* also locks them for so long; 0 for no lock */
    const char *owner;  /* of the lock; NULL: "cli" */
    const char *reason; /* of the lock; NULL: none */
};

/* Makes pages resident, each counted as one read. A page that cannot be had is visited with its
 * error, and the others are done; names that are no page fail the call. In the order given. */
int vcm_fault(struct vcm *vcm, const struct vcm_fault_query *query, vcm_page_outcome_fn visit,
              void *context, struct vcm_error *err);

struct vcm_lock_query {
    const char *const *pages;
    size_t count;
    const char *owner; /* NULL: "cli" */
    uint64_t ttl_ms;   /* of vcm_lock(): from now; rounded up to a full second */
    const char *reason;
    bool force; /* of vcm_unlock(): also the locks of other owners */
};

/* Locks all pages or none, and makes them resident; a lock of the same owner is extended, never
 * shortened. STORE_FULL when what is pinned or locked would exceed the capacity. */
int vcm_lock(struct vcm *vcm, const struct vcm_lock_query *query, vcm_page_outcome_fn visit,
             void *context, struct vcm_error *err);

/* *released counts the locks that were removed before their time. */
int vcm_unlock(uint64_t *released, struct vcm *vcm, const struct vcm_lock_query *query,
               vcm_page_outcome_fn visit, void *context, struct vcm_error *err);

struct vcm_lock_entry {
    const char *page_id;
    const char *owner;
    const char *reason;    /* NULL for none */
    uint64_t locked_until; /* Unix seconds */
};
typedef int (*vcm_lock_entry_fn)(void *context, const struct vcm_lock_entry *lock,
                                 struct vcm_error *err);

/* The locks that hold, of a page by its id or a unique prefix, or of all pages for NULL. */
int vcm_locks(struct vcm *vcm, const char *page, vcm_lock_entry_fn visit, void *context,
              struct vcm_error *err);

/* Lets the owner's lock on a page last `add_ms` longer than it would. NOT_FOUND when the owner has
 * none. *locked_until is its new end. */
int vcm_lock_extend(uint64_t *locked_until, struct vcm *vcm, const char *page, const char *owner,
                    uint64_t add_ms, struct vcm_error *err);

struct vcm_pin_outcome {
    const char *scope_id; /* NULL when a page was named */
    const char *page_id;  /* NULL when a scope was named */
    bool changed;         /* it was not so before */
};
typedef int (*vcm_pin_fn)(void *context, const struct vcm_pin_outcome *pin, struct vcm_error *err);

/* Pins a page, a scope, or all scopes of a base; a unique prefix will do, and a scope goes before a
 * page. STORE_FULL, and nothing of that scope is changed, when what is pinned or locked would
 * exceed the capacity. */
int vcm_pin(struct vcm *vcm, const char *name, vcm_pin_fn visit, void *context,
            struct vcm_error *err);
/* Takes the pin back that it names: a page stays pinned while a scope that holds it is. */
int vcm_unpin(struct vcm *vcm, const char *name, vcm_pin_fn visit, void *context,
              struct vcm_error *err);

struct vcm_evict_query {
    const char *const *pages; /* or */
    size_t count;
    const char *scope;  /* a scope, or all scopes of a base, or */
    bool all;           /* everything */
    const char *target; /* "compressed" or "evicted"; NULL: "compressed" */
};

struct vcm_evict_result {
    uint64_t pages_compressed; /* that became so */
    uint64_t pages_evicted;    /* that became so */
    uint64_t pages_stayed;     /* pinned, locked or viewed */
};

/* Sends pages down. Visits the pages that were named, or else those that stay; `visit` may be NULL.
 */
int vcm_evict(struct vcm_evict_result *result, struct vcm *vcm, const struct vcm_evict_query *query,
              vcm_page_outcome_fn visit, void *context, struct vcm_error *err);

/* Tokens */

struct vcm_tokens_file {
    const char *path; /* "-" for standard input */
    const char *encoding;
    uint64_t bytes;
    uint64_t tokens;
    const struct vcm_error *error; /* NULL unless the file could not be read */
};

struct vcm_tokens_query {
    const char *const *paths; /* none: standard input */
    size_t count;
    const char *encoding; /* NULL: the configured one */
};

typedef int (*vcm_tokens_fn)(void *context, const struct vcm_tokens_file *file,
                             struct vcm_error *err);
/* Counts the tokens of files, of any size, on all cores; visits them in the order given. */
int vcm_tokens(struct vcm *vcm, const struct vcm_tokens_query *query, vcm_tokens_fn visit,
               void *context, struct vcm_error *err);

/* The knowledge base */

/* A document that the caller holds. */
struct vcm_kb_bytes {
    const char *name; /* its extension tells its type */
    const void *data;
    size_t len;
};

struct vcm_kb_ingest_options {
    const char *const *files;
    size_t file_count;
    const struct vcm_kb_bytes *documents;
    size_t document_count;
    const char *source;     /* of `documents`; NULL for none */
    const char *repository; /* everything that its routes send here; NULL for none */
    const char *profile;    /* NULL: none, or that of the route */
    unsigned jobs;          /* 0: as many as there are cores */
};

typedef int (*vcm_kb_file_fn)(void *context, const struct vcm_kb_file *file, struct vcm_error *err);
/* Takes documents into the knowledge base; visits each in the order given, those of a repository by
 * their path. A document that cannot be read is a result, not a failure. */
int vcm_kb_ingest(struct vcm *vcm, const struct vcm_kb_ingest_options *options,
                  vcm_kb_file_fn visit, void *context, struct vcm_error *err);

struct vcm_promote_options {
    const char *repository;   /* a path at or below a repository with a working tree */
    const char *const *paths; /* files, directories or patterns, from the root */
    size_t path_count;
    bool dry_run; /* tell, and change nothing */
};

struct vcm_promote_result {
    const char *repo_root;
    const char **patterns; /* as the map has them */
    size_t pattern_count;
    uint64_t files;      /* of HEAD's tree that they match */
    uint64_t routes_set; /* that led to the knowledge base */
    bool route_added;
    const char *row; /* the literature row that the paths were added to, or NULL */
    bool row_added;
    const char *commit; /* of the change; NULL when nothing was to be changed, and in a dry run */
    const char *text;   /* of the map now */
    bool changed;
};

/* Moves literature from the knowledge base to pages: changes the map and commits just that file.
 * UNSUPPORTED when the map cannot be edited safely, INVALID_ARGUMENT when it has changes that are
 * not committed. Free with vcm_promote_result_free(). */
int vcm_promote(struct vcm_promote_result **out, struct vcm *vcm,
                const struct vcm_promote_options *options, struct vcm_error *err);
void vcm_promote_result_free(struct vcm_promote_result *result);

struct vcm_kb_chunk {
    const char *chunk_id;
    const char *source; /* NULL for none */
    const char *path;
    const char *section;
    uint32_t page; /* 0 for none */
    const char *profile;
    const char *data_type;
    uint64_t seq, chunks; /* its place among the chunks of its document, from 1 */
    uint32_t tokens;
    const char *text;
    size_t text_len;
    double score;        /* of a hit */
    const char *snippet; /* of a hit */
};

/* Which documents are meant; NULL for any. */
struct vcm_kb_filter {
    const char *source; /* base scope, or a unique prefix of it */
    const char *path;   /* gitignore pattern */
    const char *profile;
};

struct vcm_kb_search_options {
    const char *query; /* words, "phrases", prefixes*; every string is a query */
    struct vcm_kb_filter filter;
    uint32_t limit;      /* 0 for the most that one call gives */
    uint64_t max_tokens; /* of all hits together; 0 for any */
};

typedef int (*vcm_kb_chunk_fn)(void *context, const struct vcm_kb_chunk *chunk,
                               struct vcm_error *err);
/* Best first. *total counts all chunks that match. */
int vcm_kb_search(uint64_t *total, struct vcm *vcm, const struct vcm_kb_search_options *options,
                  vcm_kb_chunk_fn visit, void *context, struct vcm_error *err);

/* One chunk by its id or a unique prefix. NOT_FOUND, AMBIGUOUS. */
int vcm_kb_show(struct vcm *vcm, const char *chunk, vcm_kb_chunk_fn visit, void *context,
                struct vcm_error *err);

struct vcm_kb_document {
    const char *source; /* NULL for none */
    const char *path;
    const char *profile; /* NULL for none */
    const char *data_type;
    uint64_t bytes, chunks, tokens;
    uint64_t ingested_at; /* Unix seconds */
};

typedef int (*vcm_kb_document_fn)(void *context, const struct vcm_kb_document *document,
                                  struct vcm_error *err);
/* By source, none first, and path. */
int vcm_kb_list(struct vcm *vcm, const struct vcm_kb_filter *filter, vcm_kb_document_fn visit,
                void *context, struct vcm_error *err);

struct vcm_kb_clear_options {
    struct vcm_kb_filter filter;
    const char *repository; /* with `route`: whose map has it; NULL: that around here */
    uint32_t route;         /* 1-based; 0 for none */
};

/* Removes documents, in one transaction, and visits them. */
int vcm_kb_clear(struct vcm *vcm, const struct vcm_kb_clear_options *options,
                 vcm_kb_document_fn visit, void *context, struct vcm_error *err);

struct vcm_kb_stat {
    uint64_t documents, sources, chunks, tokens, bytes, file_bytes;
    uint32_t schema_version;
};

int vcm_kb_stat(struct vcm_kb_stat *out, struct vcm *vcm, struct vcm_error *err);

/* The store */

struct vcm_stat {
    const char *home;
    uint32_t format_version;
    char tokenizer[32];
    uint64_t scopes;
    uint64_t pages, pages_resident, pages_compressed, pages_evicted, pages_pinned, pages_locked;
    uint64_t bytes_resident, bytes_compressed, bytes_capacity, bytes_file;
    uint64_t tokens;
    uint64_t hits, minor_faults, major_faults, evictions;
    uint64_t private_answers; /* faults whose page stayed where it was */
    const char *policy;
};

int vcm_stat(struct vcm_stat *out, struct vcm *vcm, struct vcm_error *err);

struct vcm_top_scope {
    char scope_id[258];
    uint64_t pages, bytes, tokens;
};

/* What the store is doing. */
struct vcm_top_sample {
    struct vcm_stat stat;
    bool has_rate;                      /* false for the first */
    double faults_per_second;           /* minor and major ones, since the sample before */
    const struct vcm_top_scope *scopes; /* some of the largest, largest first */
    size_t scope_count;
};

struct vcm_top_options {
    uint64_t interval_ms, count; /* count of samples, 0: until interrupted */
    int (*visit)(void *context, const struct vcm_top_sample *sample, struct vcm_error *err);
    int (*idle)(void *context, struct vcm_error *err); /* while it waits; may be NULL */
    void *context;
};

/* Looks at the store again and again. VCM_INTERRUPTED when the handle is cancelled. */
int vcm_top(struct vcm *vcm, const struct vcm_top_options *options, struct vcm_error *err);

struct vcm_verify_finding {
    const char *what, *where;
};
typedef int (*vcm_verify_fn)(void *context, const struct vcm_verify_finding *finding,
                             struct vcm_error *err);

struct vcm_verify_result {
    bool ok;
    uint64_t pages_checked, findings; /* it stops at a thousand findings */
};

/* Hashes every page again and checks every index, in a child process (fork), whose death is a
 * finding. `deep` also rebuilds evicted pages. A damaged store is marked, for the next vcm_map() to
 * set aside. VCM_OK also when something is wrong. */
int vcm_verify(struct vcm_verify_result *result, struct vcm *vcm, bool deep, vcm_verify_fn visit,
               void *context, struct vcm_error *err);

struct vcm_gc_counts {
    uint64_t pages_dropped, bytes_before, bytes_after; /* bytes of the file */
};

/* Drops what no scope refers to and gives space back to the file system, beside readers.
 * STORE_BUSY, STORE_FULL. */
int vcm_gc(struct vcm_gc_counts *out, struct vcm *vcm, struct vcm_error *err);

struct vcm_gc_clone_counts {
    uint64_t dropped, kept;
    uint64_t bytes; /* of what was dropped */
};

/* Removes the clones of URLs that no scope and no repo map of a scope comes from, and that were
 * neither fetched nor read for `unused_ms`, 0 for 14 days. Less than an hour is INVALID_ARGUMENT:
 * what is being worked with is not taken away. */
int vcm_gc_clones(struct vcm_gc_clone_counts *out, struct vcm *vcm, uint64_t unused_ms,
                  struct vcm_error *err);

/* Traces of page accesses: one line an access, milliseconds, page id, bytes. */
struct vcm_trace_access {
    uint64_t ms; /* since the recording began */
    const char *page_id;
    uint64_t bytes;
};

struct vcm_trace_record_options {
    uint64_t duration_ms, count; /* 0: no limit; without either, until interrupted */
    int (*visit)(void *context, const struct vcm_trace_access *access, struct vcm_error *err);
    int (*idle)(void *context, struct vcm_error *err); /* called often; may be NULL */
    void *context;
};

struct vcm_trace_recorded {
    uint64_t accesses, lost; /* lost: came faster than they were read */
};

/* Tells every read of a page, by any process, until the time is over. VCM_INTERRUPTED when the
 * handle is cancelled; the result counts then, too. STORE_BUSY while another process records. */
int vcm_trace_record(struct vcm_trace_recorded *out, struct vcm *vcm,
                     const struct vcm_trace_record_options *options, struct vcm_error *err);

struct vcm_trace_outcome {
    const char *policy; /* "sieve", ..., "optimum" */
    uint64_t capacity;
    double hit_ratio, byte_hit_ratio;
};
typedef int (*vcm_trace_outcome_fn)(void *context, const struct vcm_trace_outcome *outcome,
                                    struct vcm_error *err);

/* Replays a trace against every policy and the clairvoyant optimum, at one capacity, or, when it is
 * 0, at five parts of what the trace's pages take. INVALID_ARGUMENT names a bad line. */
int vcm_trace_replay_file(uint64_t *accesses, struct vcm *vcm, const char *path, uint64_t capacity,
                          vcm_trace_outcome_fn visit, void *context, struct vcm_error *err);

/* Configuration */

struct vcm_config_entry {
    const char *key;
    const char *value;         /* as it counts: sizes in bytes */
    const char *default_value; /* NULL for keys without one */
    bool is_number;
    bool is_bool;
    bool is_set; /* in config.yaml */
};

typedef int (*vcm_config_fn)(void *context, const struct vcm_config_entry *entry,
                             struct vcm_error *err);
/* In the order of the keys. */
int vcm_config_list(struct vcm *vcm, vcm_config_fn visit, void *context, struct vcm_error *err);
/* INVALID_ARGUMENT for an unknown key; NOT_FOUND for credentials that are not set. */
int vcm_config_get(struct vcm *vcm, const char *key, vcm_config_fn visit, void *context,
                   struct vcm_error *err);
/* Checks the value, then changes that line of config.yaml and nothing else. */
int vcm_config_set(struct vcm *vcm, const char *key, const char *value, struct vcm_error *err);

/* The machine */

enum vcm_finding_status {
    VCM_FINDING_OK,
    VCM_FINDING_WARNING,
    VCM_FINDING_ERROR,
};

struct vcm_finding {
    const char *check;
    enum vcm_finding_status status;
    const char *detail;
    const char *remedy; /* NULL when nothing is to be done */
};

typedef int (*vcm_finding_fn)(void *context, const struct vcm_finding *finding,
                              struct vcm_error *err);
int vcm_doctor(struct vcm *vcm, vcm_finding_fn visit, void *context, struct vcm_error *err);

/* Orientation in a repository. */

struct vcm_repo_fetch_options {
    const char *url;     /* https, ssh, file, or a path */
    const char *ref;     /* branch, tag or commit; NULL for the remote's HEAD */
    const char *subpath; /* describe this directory of it; NULL for all */
    const char *dest;    /* check it out here; NULL: the clone in the home is all there is */
    unsigned depth;      /* commits of history; 0 for one */
    unsigned timeout_ms; /* 0 for a minute */
};

/* A JSON document, which lives as long as the call. */
typedef int (*vcm_document_fn)(void *context, const char *json, size_t len, struct vcm_error *err);

/* Brings a repository here, or up to its upstream's state, and passes on a JSON document of at most
 * 8,192 bytes that says what it holds. AUTH_FAILED, NOT_FOUND, TIMEOUT, NETWORK_ERROR,
 * INVALID_ARGUMENT. */
int vcm_repo_fetch(struct vcm *vcm, const struct vcm_repo_fetch_options *options,
                   vcm_document_fn visit, void *context, struct vcm_error *err);

struct vcm_repo_map_options {
    const char *path;           /* of a repository or a directory in it; NULL: around here */
    uint64_t token_budget;      /* 0 for 1,500 */
    const char *const *include; /* globs; none takes everything */
    size_t include_count;
    const char *const *focus; /* paths from the root that matter most */
    size_t focus_count;
    const char *const *mentions; /* names that matter most */
    size_t mention_count;
    bool by_symbol_count; /* the plain ranking, to compare with */
};

/* The ranked symbols of HEAD as a JSON document. NOT_FOUND, INVALID_ARGUMENT. */
int vcm_repo_map(struct vcm *vcm, const struct vcm_repo_map_options *options, vcm_document_fn visit,
                 void *context, struct vcm_error *err);

struct vcm_symbol_query {
    const char *path; /* as above */
    const char *const *kinds;
    size_t kind_count;
    const char *file; /* glob; NULL for all */
    const char *name; /* part of the name, case aside; NULL for all */
    uint64_t limit;   /* 0 for 1,000 */
};

/* The definitions of HEAD by path and line, as a JSON document. */
int vcm_symbol_list(struct vcm *vcm, const struct vcm_symbol_query *query, vcm_document_fn visit,
                    void *context, struct vcm_error *err);

struct vcm_reference_query {
    const char *path; /* as above */
    const char *name; /* or the symbol_id of a definition */
    uint64_t limit;   /* 0 for 1,000 */
};

/* Who uses a name at HEAD, by path and line, as a JSON document. NOT_FOUND for an id that is no
 * definition's. */
int vcm_reference_list(struct vcm *vcm, const struct vcm_reference_query *query,
                       vcm_document_fn visit, void *context, struct vcm_error *err);

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

#endif
