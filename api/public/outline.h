/*
 * <vcm/outline.h> - the definitions of files, with their lines and tokens.
 */
#ifndef VCM_PUBLIC_OUTLINE_H
#define VCM_PUBLIC_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/public/place.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vcm_outline_query {
    struct vcm_place_query place;
    const char *const *what; /* files, directories, or definitions for what is in them; as in
                                struct vcm_read_query. None: the directory that the place is */
    size_t what_count;
    uint64_t max_tokens; /* most of the rendering; 0: not bounded */
    const char *cursor;  /* next_cursor of an answer to the same query; NULL: from the beginning */
};

struct vcm_outline_symbol {
    const char *name;
    const char *kind;
    const char *signature;
    uint32_t line, end_line; /* both inclusive, without the comment above */
    uint64_t tokens;         /* of these lines */
    const char *container;   /* "Outer.Inner", or NULL */
};

struct vcm_outline_file {
    const char *path;
    const char *language; /* "c", or NULL when symbols are not read from such files */
    uint32_t lines;
    uint64_t tokens;
    const struct vcm_outline_symbol *symbols; /* in the order of the file */
    size_t symbol_count;
};

struct vcm_outline_result {
    const struct vcm_outline_file *files; /* by path for each argument */
    size_t file_count;
    uint64_t total;  /* files of the query */
    uint64_t others; /* files of its directories that symbols are not read from, or that have none
                        to read: binary and too large ones, links */
    const char *rendered; /* a line for each file and, indented, for each definition: its lines,
                             its signature, its tokens in brackets */
    size_t rendered_bytes;
    uint64_t rendered_tokens; /* of `rendered` */
    bool truncated;           /* by max_tokens */
    uint64_t files_left;      /* not complete here, or behind */
    const char *next_cursor;  /* NULL when nothing is left */
};

/* Codes of vcm_read(). *out is NULL after a failure. Free with vcm_outline_free(). */
int vcm_outline(struct vcm_outline_result **out, struct vcm *vcm,
                const struct vcm_outline_query *query, struct vcm_error *err);
void vcm_outline_free(struct vcm_outline_result *result);

#ifdef __cplusplus
}
#endif

#endif
