/*
 * path_filter.h - which files of a tree the rows of a map select, for all rows in one walk.
 *
 * A filter holds any number of entries: a start_dir with include and exclude patterns, and whether
 * the ignore files of the tree count. Each pattern is compiled once. A walk evaluates only the
 * entries whose start_dir is at, above or below the current directory, and does not repeat what a
 * directory's verdict decides for everything below it.
 * A list selects a file when its last match for the file, or for a directory above it (below
 * start_dir), is positive: what `git check-ignore --no-index` says of a .gitignore in start_dir.
 * One walk at a time; the strings of a spec are not kept.
 */
#ifndef VCM_SOURCES_PATH_FILTER_H
#define VCM_SOURCES_PATH_FILTER_H

#include <stdbool.h>

#include "base/cancel.h"
#include "git/tree.h"

struct vcm_path_filter;

struct vcm_path_filter_spec {
    const char *start_dir;      /* "" for the whole tree; a trailing slash makes no difference */
    const char *const *include; /* none: everything */
    unsigned include_count;
    const char *const *exclude;
    unsigned exclude_count;
    bool heed_ignore_files;
};

enum vcm_path_verdict {
    VCM_PATH_EXCLUDED, /* by exclude, or by no include */
    VCM_PATH_IGNORED,  /* else by the ignore files */
    VCM_PATH_TAKEN,
};

/* The verdict of one entry, of those whose start_dir holds the file. */
struct vcm_path_filter_verdict {
    unsigned index;
    enum vcm_path_verdict verdict;
};

int vcm_path_filter_open(struct vcm_path_filter **out, struct vcm_error *err);
void vcm_path_filter_close(struct vcm_path_filter *filter);

/* The n-th call adds the entry with index n. */
int vcm_path_filter_add(struct vcm_path_filter *filter, const struct vcm_path_filter_spec *spec,
                        struct vcm_error *err);

/* From now on, records which patterns match anything; checks every unused pattern for every
 * path. */
void vcm_path_filter_note_use(struct vcm_path_filter *filter);

/* From now on, omits VCM_PATH_EXCLUDED, and with it the entries that can select nothing below a
 * directory: for many rows over one large tree. */
void vcm_path_filter_skip_excluded(struct vcm_path_filter *filter);

/* Called for every leaf, links and submodules too, with the verdicts in the order of the entries.
 * Links and submodules are matched by their path, like files. */
typedef int (*vcm_path_filter_fn)(void *context, const struct vcm_git_entry *entry,
                                  const struct vcm_path_filter_verdict *verdicts, unsigned count,
                                  struct vcm_error *err);

/* For the next walks: `unchanged` is called, in the order of the walk, for each directory that is
 * the same as at the commit `base` and to which the same ignore files apply. When it sets *skip,
 * nothing in it is visited or read. `base` must outlive the walks; NULL turns this off. */
typedef int (*vcm_path_filter_unchanged_fn)(void *context, struct vcm_slice directory, bool *skip,
                                            struct vcm_error *err);
void vcm_path_filter_set_base(struct vcm_path_filter *filter, const struct vcm_git_id *base,
                              vcm_path_filter_unchanged_fn unchanged);

/* Why an entry is not visited. */
enum vcm_path_filter_absence {
    VCM_PATH_FILTER_MISSING, /* a directory whose tree is missing */
    VCM_PATH_FILTER_NAME,    /* git refuses its name; the last part of its path is escaped */
    VCM_PATH_FILTER_TWIN,    /* an earlier entry has its name; that is escaped, too */
};
typedef int (*vcm_path_filter_left_out_fn)(void *context, const struct vcm_git_entry *entry,
                                           enum vcm_path_filter_absence why,
                                           const struct vcm_path_filter_verdict *verdicts,
                                           unsigned count, struct vcm_error *err);

/* For the next walks: called for each entry that cannot be visited, with the verdicts that
 * everything in it would have, TAKEN where that depends on the files. Without it a directory that
 * is missing is an error, and what git refuses is left out without a word. */
void vcm_path_filter_set_left_out(struct vcm_path_filter *filter,
                                  vcm_path_filter_left_out_fn left_out);

/* Walks the tree under `start_dir`, which is "" unless no entry starts elsewhere. Reads no blobs
 * but ignore files, and those only when an entry uses them; those above `start_dir` count too. An
 * ignore file that is a link is not used; one whose object is missing or too large is an error. */
int vcm_path_filter_walk(struct vcm_path_filter *filter, struct vcm_git_repo *repo,
                         const struct vcm_git_id *commit, const char *start_dir,
                         vcm_path_filter_fn visit, void *context, const struct vcm_cancel *cancel,
                         struct vcm_error *err);

/* After a walk: whether the entry's start_dir is a directory of the tree. */
bool vcm_path_filter_found(const struct vcm_path_filter *filter, unsigned index);

/* After a walk with vcm_path_filter_note_use(): whether a pattern matches anything by itself. */
bool vcm_path_filter_include_used(const struct vcm_path_filter *filter, unsigned index,
                                  unsigned pattern);
bool vcm_path_filter_exclude_used(const struct vcm_path_filter *filter, unsigned index,
                                  unsigned pattern);

#endif
