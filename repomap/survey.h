/*
 * survey.h - counts in one walk of a tree what a map's rows and routes match; the lint.
 *
 * Counts depend on path and mode only: files, not links or submodules; no blobs are read except
 * ignore files. Only rows of this repository are counted; vcm_survey_row() counts a row with
 * origin_url or submodule in its own repository.
 */
#ifndef VCM_REPOMAP_SURVEY_H
#define VCM_REPOMAP_SURVEY_H

#include "git/tree.h"
#include "repomap/problem.h"
#include "repomap/repo_map.h"

struct vcm_survey_row {
    bool counted;         /* false: the row maps another tree */
    bool start_dir_found; /* in the tree */
    uint64_t matched_files;
    uint64_t bytes; /* size of those files, if measured */
};

struct vcm_survey_route {
    uint64_t matched_files;   /* before promotion */
    uint64_t uncovered_files; /* of a vcm route: files that no literature row covers */
};

struct vcm_survey {
    struct vcm_survey_row *rows; /* in the order of the map */
    struct vcm_survey_route *routes;
    uint64_t files; /* in the tree */
    uint64_t unmapped_files;
};

struct vcm_survey_options {
    struct vcm_problem_list *problems; /* receives the lint's warnings; NULL: no lint */
    uint64_t cache_capacity; /* for the warning about large pinned rows; 0: no such warning */
    bool pinned_by_default;  /* for rows that do not set it */
    const struct vcm_cancel *cancel; /* may be NULL */
    /* For each row, whether it maps another commit than the one walked: its files count as mapped,
     * but only vcm_survey_row() counts them. NULL: none does. */
    const bool *elsewhere;
};

/* Fills the survey, which the caller releases even after a failure. Finishes the problems. */
int vcm_survey_run(struct vcm_survey *survey, const struct vcm_repo_map *map,
                   struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                   const struct vcm_survey_options *options, struct vcm_error *err);
void vcm_survey_release(struct vcm_survey *survey);

/* Counts one row, by its index in the map, in the repository that it maps; lints it too. */
int vcm_survey_row(struct vcm_survey_row *out, const struct vcm_repo_map *map, unsigned row,
                   struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                   const struct vcm_survey_options *options, struct vcm_error *err);

/* Whether the row maps the repository that holds the map. */
static inline bool vcm_survey_is_own(const struct vcm_repo_map_row *row)
{
    return !row->origin_url && !row->submodule;
}

#endif
