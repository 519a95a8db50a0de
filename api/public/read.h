/*
 * <vcm/read.h> - just the lines that are needed: of files, of definitions, of pages.
 */
#ifndef VCM_PUBLIC_READ_H
#define VCM_PUBLIC_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/public/place.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What to read. Each text names one of these; a path is tried first, then a definition, then a
 * page:
 *
 *     src/shop.py            a file, by its path from the root of the repository, or from the
 *     src/shop.py:10-20      directory that the place is; or these lines of it; 10 for one line,
 *                            10- up to the end, and what is behind the last line is left out
 *     total, Shop.total      a definition with its comment, by its name, also in its container
 *     src/shop.py:total      a definition of this file
 *     src/shop.py:12#Shop.total   a definition by its symbol_id
 *     3f9a01c2               a page, by its id or a unique prefix of at least 6 digits
 */
struct vcm_read_query {
    struct vcm_place_query place;
    const char *const *what;
    size_t what_count;
    uint32_t context;    /* lines more before and behind */
    const char *format;  /* of the rendering: "text", "markdown" or "xml"; NULL: "text" */
    uint64_t max_tokens; /* most of the rendering, pages aside; 0: not bounded */
    const char *cursor;  /* next_cursor of an answer to the same query; NULL: from the beginning */
};

struct vcm_read_item {
    const char *path;
    uint32_t start_line, end_line; /* 1-based, both inclusive; 0 and 0 for an empty file */
    const char *symbol;   /* "Shop.total": what was named, or what encloses all lines, or else the
                             first; or NULL */
    const char *kind;     /* of it: "method"; or NULL */
    const char *scope_id; /* of text from pages, else NULL */
    const char *page_id;  /* of text from pages: the page with the first line; else NULL */
    const char *blob;     /* id of the content in git, hex; NULL where it has none */
    const char *source;   /* "page", "commit" or "worktree" */
    uint64_t tokens;      /* of `text` */
    const char *heading;  /* the head of the definition around the first line, or NULL */
    const char *text;     /* UTF-8, invalid bytes replaced */
    size_t text_len;
};

struct vcm_read_result {
    const struct vcm_read_item *items; /* in the order of the query; what overlaps is merged */
    size_t item_count;
    const char *rendered; /* the items as vcm_page_render() renders records, lines numbered */
    size_t rendered_bytes;
    uint64_t rendered_tokens; /* of `rendered` */
    bool truncated;           /* by max_tokens */
    uint64_t lines_left;      /* behind what is here */
    const char *next_cursor;  /* NULL when nothing is left */
};

/*
 * Reads each file once: what is shown is one state of it. NOT_FOUND: nothing by that name, or a
 * line behind the last one, whose number the message tells; AMBIGUOUS: a name that fits several
 * definitions or pages, with the candidates in the details, each of which names one; UNSUPPORTED: a
 * binary file, a link, a directory. *out is NULL after a failure. Free with vcm_read_free().
 */
int vcm_read(struct vcm_read_result **out, struct vcm *vcm, const struct vcm_read_query *query,
             struct vcm_error *err);
void vcm_read_free(struct vcm_read_result *result);

#ifdef __cplusplus
}
#endif

#endif
