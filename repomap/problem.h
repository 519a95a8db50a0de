/*
 * problem.h - the errors and warnings of a repo map with their places, filled in by the loader and
 * the lint.
 *
 * Errors make a map invalid, warnings do not. The first VCM_LIMIT_PROBLEMS are kept, the rest is
 * counted.
 */
#ifndef VCM_REPOMAP_PROBLEM_H
#define VCM_REPOMAP_PROBLEM_H

#include <stdbool.h>

#include "base/arena.h"
#include "repomap/repo_map.h"

struct vcm_problem {
    bool is_warning;
    struct vcm_repo_map_place place;
    const char *where;   /* "sources[0].name"; "" for the file as a whole */
    const char *message; /* one line, valid UTF-8 */
};

struct vcm_problem_list {
    struct vcm_problem *items; /* ordered by place after sorting */
    unsigned count;
    unsigned error_count;   /* including those not kept */
    unsigned warning_count; /* including those not kept */
    unsigned left_out;
    size_t capacity;
    bool failed; /* memory ran out */
    struct vcm_arena arena;
};

void vcm_problem_list_init(struct vcm_problem_list *list);
void vcm_problem_list_release(struct vcm_problem_list *list);

/* Adds a problem. If memory runs out the list records that, and vcm_problem_list_finish() fails. */
void vcm_problem_add(struct vcm_problem_list *list, bool is_warning,
                     struct vcm_repo_map_place place, const char *where, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Sorts by place and, if some problems were not kept, adds a last one: "and 12 more". Problems can
 * be added afterwards, and the list finished again. */
int vcm_problem_list_finish(struct vcm_problem_list *list, struct vcm_error *err);

/* Sets INVALID_REPO_MAP from the first error of a finished list: `file`, line, column, message and
 * how many more; the details have the first few. VCM_OK if there are no errors. */
int vcm_problem_list_to_error(const struct vcm_problem_list *list, const char *file,
                              struct vcm_error *err);

#endif
