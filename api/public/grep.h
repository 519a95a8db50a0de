/*
 * <vcm/grep.h> - searching the lines of texts: of mapped pages, of a commit, of the working tree.
 */
#ifndef VCM_PUBLIC_GREP_H
#define VCM_PUBLIC_GREP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/public/place.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vcm_grep_query {
    const char *pattern; /* regular expression as in Perl; a match is within one line */
    bool ignore_case;
    bool word;                /* only whole words */
    bool literal;             /* the pattern is the text itself */
    bool files_only;          /* of each file only the first match, and `total` counts files */
    uint32_t context;         /* lines before and behind a match */
    const char *const *paths; /* gitignore patterns; none: all files */
    size_t path_count;
    struct vcm_place_query place; /* where to search */
    const char *const *scopes;    /* instead of place.scope: several scopes */
    size_t scope_count;
    uint64_t limit; /* of matches that are visited; 0: as many as one call can return */
    /* Where to begin: the first match at or behind this place. NULL: with the first of all. */
    const char *from_scope; /* of pages */
    const char *from_path;
    uint64_t from_line;
};

struct vcm_grep_match {
    const char *scope_id; /* of pages, else NULL */
    const char *page_id;  /* of pages, else NULL */
    const char *path;
    uint32_t line;      /* from 1; 0 where a document has no lines */
    uint32_t column;    /* byte of the line where the first match in it begins, from 1 */
    const char *symbol; /* the innermost definition around the line: "Till.count"; or NULL */
    const char *text;   /* of the line; a long one is cut around the match */
    const char *const *before, *const *after;
    size_t before_count, after_count;
};

/* A file that was not searched. */
struct vcm_grep_gap {
    const char *path;
    const char *reason; /* "object_missing", "too_large", ... */
};

struct vcm_grep_visitor {
    int (*match)(void *context, const struct vcm_grep_match *match, struct vcm_error *err);
    int (*gap)(void *context, const struct vcm_grep_gap *gap, struct vcm_error *err); /* or NULL */
    void *context;
};

struct vcm_grep_result {
    uint64_t total;    /* matching lines (with files_only: files), visited or not */
    uint64_t files;    /* files with a match */
    uint64_t searched; /* files that were searched */
    uint64_t gaps;     /* files that were not, binary ones and links not counted */
    bool complete;     /* no gaps: `total` and `files` are those of all texts */
    bool truncated;    /* not all matches were visited */
};

/*
 * Visits the lines that match: of pages by scope and in the order of the page table, of a commit or
 * a working tree in the order of paths. Pages that are not resident stay so, and no read is
 * counted. Binary files, symbolic links and submodules are not searched. Works on all processors.
 *
 * INVALID_ARGUMENT: the pattern is none, with the column. TIMEOUT: it takes too many steps for a
 * line, or the search more than a minute. The codes of a place.
 */
int vcm_grep(struct vcm_grep_result *out, struct vcm *vcm, const struct vcm_grep_query *query,
             const struct vcm_grep_visitor *visitor, struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
