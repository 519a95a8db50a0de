/*
 * history.h - which commits contain files that the caller looks for, in all local branches and
 * tags.
 *
 * Every directory is read once, however many commits share it. Reads only.
 */
#ifndef VCM_GIT_HISTORY_H
#define VCM_GIT_HISTORY_H

#include "base/cancel.h"
#include "git/tree.h"

struct vcm_git_history_query {
    /* Whether the file is of interest; asked once for each path and blob, by path first. */
    bool (*matches)(void *context, struct vcm_slice path);
    int (*is_wanted)(bool *wanted, void *context, const struct vcm_git_entry *entry,
                     struct vcm_error *err);
    /* Whether a commit counts whatever files it has; `root_file` is the entry of that name at its
     * root, or NULL. Asked once for each content of that file. */
    const char *root_file;
    int (*counts)(bool *counted, void *context, const struct vcm_git_id *root_file,
                  struct vcm_error *err);
    void *context;
    const struct vcm_cancel *cancel;
};

/* How many commits contain a wanted file, count whatever files they have, or descend from such a
 * commit. */
int vcm_git_history_count(uint64_t *commits, struct vcm_git_repo *repo,
                          const struct vcm_git_history_query *query, struct vcm_error *err);

#endif
