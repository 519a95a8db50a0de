/*
 * <vcm/pages.h> - pages: listing, finding, reading record by record, and viewing in place.
 *
 * Entries live until the callback returns, a vcm_page until vcm_page_release(), a vcm_page_view
 * until vcm_page_view_release(). Pages and views may outlive the handle.
 */
#ifndef VCM_PUBLIC_PAGES_H
#define VCM_PUBLIC_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/public/handle.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vcm_page_entry {
    const char *page_id; /* 40 hex digits */
    const char *scope_id;
    uint32_t seq;
    uint32_t records;
    uint32_t tokens;
    uint64_t bytes;
    const char *state; /* "resident" */
    bool pinned;
    bool
        is_volatile; /* its text is in no object: it is never evicted, only compressed on request */
    uint64_t locked_until; /* Unix seconds, 0 for no lock */
    const char *const *files;
    size_t file_count;
};

struct vcm_pages_query {
    const char *scope;  /* id, base or unique prefix; NULL for all */
    const char *path;   /* gitignore pattern of files; NULL for all */
    const char *state;  /* NULL for all */
    bool pinned;        /* only pinned ones */
    uint32_t limit;     /* 0: as many as one call can return */
    const char *cursor; /* *next_cursor of an earlier call; NULL: from the beginning */
    const char *repo; /* without `scope`: only what was mapped from the repository at or above this
                         path, if anything was; NULL for all */
};

typedef int (*vcm_page_entry_fn)(void *context, const struct vcm_page_entry *page,
                                 struct vcm_error *err);
/* Visits pages by scope and seq. *next_cursor is NULL when the listing is complete; otherwise free
 * it with free(). */
int vcm_pages(char **next_cursor, struct vcm *vcm, const struct vcm_pages_query *query,
              vcm_page_entry_fn visit, void *context, struct vcm_error *err);

/* Counts the pages that vcm_pages() would visit from the beginning; `limit` and `cursor` count for
 * nothing. Without `path`, `state` and `pinned` this reads no page table. */
int vcm_pages_count(uint64_t *count, struct vcm *vcm, const struct vcm_pages_query *query,
                    struct vcm_error *err);

/* The place of a file, or of a line of it. */
struct vcm_find_entry {
    const char *page_id;
    const char *scope_id;
    uint32_t seq;
    uint32_t record; /* index of the record in the page, from 0 */
    const char *path;
    uint32_t line; /* the line in the query, 0 for the whole file */
    uint32_t part, parts, start_line, end_line;
};

struct vcm_find_query {
    const char *path;  /* relative to the root of the repository; "path:12" for a line */
    const char *scope; /* id, base or unique prefix; NULL for all */
    const char *repo;  /* as in struct vcm_pages_query */
};

typedef int (*vcm_find_fn)(void *context, const struct vcm_find_entry *entry,
                           struct vcm_error *err);
/* Visits the places by scope and seq, at least one. If a file is named "a:12", "a:12" means that
 * file, not line 12 of "a". NOT_FOUND tells the reason when the file was left out. */
int vcm_find(struct vcm *vcm, const struct vcm_find_query *query, vcm_find_fn visit, void *context,
             struct vcm_error *err);

struct vcm_record_query {
    const char *record; /* its id: 40 hex digits */
    const char *scope;  /* id, base or unique prefix; NULL for all */
    const char *path;   /* of its file; NULL: not known, every page is searched */
};

/* Visits the pages that hold a record, by scope and seq, at least one. With `path` this costs as
 * much as vcm_find(). Without it every page of the scopes is read, and compressed and evicted pages
 * are decompressed or rebuilt in private memory: counters and page states do not change. NOT_FOUND.
 */
int vcm_find_record(struct vcm *vcm, const struct vcm_record_query *query, vcm_find_fn visit,
                    void *context, struct vcm_error *err);

struct vcm_record {
    const char *record_id;
    const char *path;
    const char *blob; /* hex */
    uint32_t start_line, end_line, part, parts, tokens;
    bool lossy, path_lossy;
    const char *media_type; /* of a binary file, else NULL; `text` is then base64, or empty when the
                               content does not fit a page */
    uint64_t size;          /* of a binary file's content, 0 otherwise */
    const char *section;    /* of a chunk of a document: the headings above it; NULL for files */
    uint32_t page; /* of a chunk: the document's page where it begins; 0 when the document has no
                      pages */
    const char *heading; /* of a later part of a file: the definition around it, or NULL */
    const char *text;
    size_t text_len;
};

struct vcm_page {
    const char *page_id;
    const char *const *scopes; /* the scopes that hold the page, sorted */
    size_t scope_count;
    const char *scope_id; /* the scope that provenance is taken from */
    uint32_t seq;
    uint32_t occurrences; /* how often that scope has the page */
    uint32_t tokens;
    uint64_t bytes;
    bool is_volatile;  /* its text is in no object: it is never evicted */
    const char *frame; /* the page's bytes, `bytes` of them */
    const struct vcm_record *records;
    size_t record_count;
};

struct vcm_page_query {
    const char *page;  /* id or unique prefix of at least 6 digits */
    const char *scope; /* NULL: the first scope that holds it */
    int64_t seq;       /* seq of the occurrence, -1 for the first */
};

/* Reads a page. NOT_FOUND; AMBIGUOUS with the candidates in the details. Release with
 * vcm_page_release(), also after vcm_close(). */
int vcm_page_open(struct vcm_page **out, struct vcm *vcm, const struct vcm_page_query *query,
                  struct vcm_error *err);
void vcm_page_release(struct vcm_page *page);

/* A page as text for a model to read. The same page and scope give the same bytes. Every record
 * stands under its path between fences that its content cannot close, so that the content can be
 * taken out again exactly:
 *
 *     text      ======== PATH (lines 1-9, part 1 of 2)       at least 8 "=", more than the content
 *               ======== in HEADING                          has at the beginning of any line
 *               CONTENT
 *               ========
 *     markdown  a heading, then a fenced code block with more backticks than the content has
 *     xml       <record path="...">, <heading>, <text>: escaped; what XML cannot hold is U+FFFD
 *
 * A content that does not end with a line end gets one (but in xml), and the line above says "no
 * newline at end". A path that would break its line is written as a JSON string. A chunk of a
 * document stands under its section, and under its page where it has one. A binary file's content
 * is its base64 form, or nothing when that does not fit a page. Records without a page, whose
 * page_id is NULL, are in xml between <records> and </records>. */
struct vcm_render_options {
    const char *format; /* "text", "markdown" or "xml"; NULL: "text" */
    bool lines;         /* each line begins with its number and a tab */
};

/* *text has *bytes bytes and a NUL after them, which does not count; a file may hold others. Freed
 * by the caller with free(). The page may be one of vcm_page_open(), of any thread, or records that
 * the caller put together. INVALID_ARGUMENT for an unknown format and text that is no UTF-8. */
int vcm_page_render(char **text, size_t *bytes, const struct vcm_page *page,
                    const struct vcm_render_options *options, struct vcm_error *err);

/* The bytes of a page as they are in the store, without a copy. The page is not evicted while the
 * view is open. A view may outlive the handle. */
struct vcm_page_view {
    const char *page_id;
    const char *data; /* the frame: one serialised record a line */
    size_t bytes;
};

/* Counts as one read. STORE_BUSY when 1,024 views are open or views hold a quarter of the capacity.
 * Release with vcm_page_view_release(). */
int vcm_page_view_open(struct vcm_page_view **out, struct vcm *vcm, const char *name,
                       struct vcm_error *err);
void vcm_page_view_release(struct vcm_page_view *view);

/* The same for a resident page only. *out is NULL, without an error, when the page is not resident:
 * this call never decompresses or rebuilds. */
int vcm_page_view_open_hit(struct vcm_page_view **out, struct vcm *vcm, const char *page,
                           struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
