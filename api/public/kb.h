/*
 * <vcm/kb.h> - the knowledge base: ingesting documents, searching chunks.
 *
 * Files, chunks and documents live until the callback returns.
 */
#ifndef VCM_PUBLIC_KB_H
#define VCM_PUBLIC_KB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/public/map.h"

#ifdef __cplusplus
extern "C" {
/* A struct and a function may have one name, as in stat(2). */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/* A document in the caller's memory. */
struct vcm_kb_bytes {
    const char *name; /* its extension decides its type */
    const void *data;
    size_t len;
};

/* What directories hold beside documents. */
struct vcm_kb_passed_over {
    uint64_t hidden; /* files and directories whose name begins with a dot */
    uint64_t links;  /* symbolic links */
    uint64_t others; /* files that are no documents: neither of a known type nor text */
};

struct vcm_kb_ingest_options {
    const char *const *files; /* or directories, which are gone through in byte order */
    size_t file_count;
    const struct vcm_kb_bytes *documents;
    size_t document_count;
    const char *source;     /* of `documents`; NULL for none */
    const char *repository; /* ingest everything that its routes name; NULL for none */
    const char *profile;    /* NULL: the profile of the route, or none */
    unsigned jobs;          /* 0: as many as there are cores */
    struct vcm_kb_passed_over *passed_over; /* filled in for directories; may be NULL */
};

typedef int (*vcm_kb_file_fn)(void *context, const struct vcm_kb_file *file, struct vcm_error *err);
/* Ingests documents and visits each in the order given, those of a repository by path. A document
 * that cannot be read is reported to `visit` and does not fail the call. A file of a directory that
 * is no document is not visited, but counted. UNSUPPORTED, before anything is ingested, when
 * directories have too many entries or are too deep. */
int vcm_kb_ingest(struct vcm *vcm, const struct vcm_kb_ingest_options *options,
                  vcm_kb_file_fn visit, void *context, struct vcm_error *err);

struct vcm_promote_options {
    const char *repository;   /* a path at or below a repository with a working tree */
    const char *const *paths; /* files, directories or patterns, relative to the root */
    size_t path_count;
    bool dry_run; /* report, and change nothing */
};

struct vcm_promote_result {
    const char *repo_root;
    const char **patterns; /* as the map spells them */
    size_t pattern_count;
    uint64_t files;      /* files of HEAD's tree that the patterns match */
    uint64_t routes_set; /* routes that were changed from knowledge_base to vcm */
    bool route_added;
    const char *row; /* the literature row that the paths were added to, or NULL */
    bool row_added;
    const char *commit; /* with the change; NULL when there was none, and in a dry run */
    const char *text;   /* of the map after the change */
    bool changed;
};

/* Moves literature from the knowledge base to pages: edits the map and commits that file alone.
 * UNSUPPORTED when the map cannot be edited safely, INVALID_ARGUMENT when it has uncommitted
 * changes. Free with vcm_promote_result_free(). */
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
    uint64_t seq, chunks; /* `seq` of `chunks` in its document, from 1 */
    uint32_t tokens;
    const char *text;
    size_t text_len;
    double score;        /* of a hit */
    const char *snippet; /* of a hit */
};

/* Selects documents; a NULL field selects all. */
struct vcm_kb_filter {
    const char *source; /* base scope, or a unique prefix of it */
    const char *path;   /* gitignore pattern */
    const char *profile;
};

struct vcm_kb_search_options {
    const char *query; /* words, "phrases", prefixes*; every string is a valid query */
    struct vcm_kb_filter filter;
    uint32_t limit;      /* 0: as many as one call can return */
    uint64_t max_tokens; /* of all hits together; 0: no limit */
};

typedef int (*vcm_kb_chunk_fn)(void *context, const struct vcm_kb_chunk *chunk,
                               struct vcm_error *err);
/* Visits the best hits first. *total counts all chunks that match. */
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
/* Visits documents by source (those without one first) and path. */
int vcm_kb_list(struct vcm *vcm, const struct vcm_kb_filter *filter, vcm_kb_document_fn visit,
                void *context, struct vcm_error *err);

struct vcm_kb_clear_options {
    struct vcm_kb_filter filter;
    const char *repository; /* with `route`: the repository whose map has it; NULL: around the
                               current directory */
    uint32_t route;         /* 1-based; 0 for none */
};

/* Removes the documents in one transaction, and visits each. */
int vcm_kb_clear(struct vcm *vcm, const struct vcm_kb_clear_options *options,
                 vcm_kb_document_fn visit, void *context, struct vcm_error *err);

struct vcm_kb_stat {
    uint64_t documents, sources, chunks, tokens, bytes, file_bytes;
    uint32_t schema_version;
};

int vcm_kb_stat(struct vcm_kb_stat *out, struct vcm *vcm, struct vcm_error *err);

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

#endif
