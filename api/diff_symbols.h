/*
 * diff_symbols.h - which definitions differ between versions of files. Private to diff.c.
 */
#ifndef VCM_API_DIFF_SYMBOLS_H
#define VCM_API_DIFF_SYMBOLS_H

#include "api/place.h"
#include "base/arena.h"

/* What happened to a file or a definition; vcm_diff_symbols_change_name() has the words. */
enum vcm_diff_change {
    VCM_DIFF_ADDED,
    VCM_DIFF_REMOVED,
    VCM_DIFF_CHANGED,
    VCM_DIFF_MOVED,
    VCM_DIFF_RENAMED,
    VCM_DIFF_STALE,
};

const char *vcm_diff_symbols_change_name(enum vcm_diff_change change);

/* A row of the answer. Texts are valid UTF-8 and live as long as the arena. */
struct vcm_diff_row {
    enum vcm_diff_change change;
    const char *path, *old_path;     /* where it is, and where it was if that differs; or NULL */
    const char *symbol, *old_symbol; /* "Shop.total", NULL of a file; another name that it had */
    const char *kind;
    uint32_t line, end_line; /* in B or, of what is removed, in A; 0 of a file */
    uint32_t old_line;       /* in A; 0 if it was not there */
    const char *scope_id, *page_id;
    uint64_t hash; /* of the definition's own lines */
    bool gone;     /* joined with another row */
};

struct vcm_diff_rows {
    struct vcm_arena arena;
    struct vcm_diff_row *list;
    size_t count, capacity;
};

int vcm_diff_symbols_add(struct vcm_diff_rows *rows, const struct vcm_diff_row *row,
                         struct vcm_error *err);

/* A file that differs; an id of zeros stands for no file. */
struct vcm_diff_file {
    struct vcm_slice path; /* in the arena, as in git */
    struct vcm_git_id old, new;
    bool has_old, has_new;
};

struct vcm_extractor;

/* Adds rows for the definitions that differ, or one for the file when there is none. */
int vcm_diff_symbols_compare(struct vcm_diff_rows *rows, struct vcm_place *place,
                             struct vcm_extractor *extractor, const struct vcm_diff_file *file,
                             struct vcm_error *err);

/* Joins what was removed and added with the same body into rows that say moved or renamed. */
void vcm_diff_symbols_join(struct vcm_diff_rows *rows);

#endif
