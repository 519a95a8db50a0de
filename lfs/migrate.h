/*
 * migrate.h - moves files that are committed already into LFS, by rewriting history.
 *
 * All that would make the rewrite unsafe is refused by vcm_migrate_prepare(), before anything is
 * written. Every local branch and tag is rewritten; what exists at the remote is pushed in one go,
 * each ref on condition that the remote still has what was seen at the beginning.
 */
#ifndef VCM_LFS_MIGRATE_H
#define VCM_LFS_MIGRATE_H

#include "lfs/push.h"

struct vcm_migrate_ref {
    const char *name;
    const char *old_id, *new_id; /* new_id is NULL in a dry run */
    struct vcm_migrate_ref *next;
};

struct vcm_migrate {
    struct vcm_arena *arena;
    const struct vcm_command *git;
    struct vcm_push_target target; /* remote NULL when nothing is to be pushed */
    const char *branch;            /* that HEAD is on */
    struct vcm_push_ref *local;    /* before the rewrite */
    struct vcm_push_ref *remote;   /* as seen before the rewrite */
    const char *ahead;             /* a local branch with commits that the remote lacks */
    struct vcm_migrate_ref *refs;  /* that were rewritten */
};

/* Refuses: no git-lfs, a detached HEAD, a dirty tree, a shallow clone, other working trees, and
 * remote branches or tags with something that is not here. `own` are commits of ours, separated by
 * line breaks, that do not make a branch count as ahead. `target` is where to push, if at all. */
int vcm_migrate_prepare(struct vcm_migrate *m, const struct vcm_push_target *target,
                        const char *own, struct vcm_error *err);

/* Rewrites; `include` and `exclude` are patterns separated by commas. After a failure all refs are
 * as they were. */
int vcm_migrate_run(struct vcm_migrate *m, const char *include, const char *exclude,
                    struct vcm_error *err);

/* Pushes what was rewritten and exists at the remote, and the branch of HEAD. */
int vcm_migrate_push(struct vcm_migrate *m, struct vcm_error *err);

/* Whether the remote has a branch that was not rewritten, for it is not here; NULL without one. */
const char *vcm_migrate_left_behind(const struct vcm_migrate *m);

/* How many commits `tip` has that `known` has not, those of ours aside. `known` are ids, separated
 * by line breaks; those that are not here do not count. */
int vcm_migrate_count_ahead(size_t *foreign, size_t *total, const struct vcm_command *git,
                            const char *tip, const char *known, const char *own,
                            struct vcm_error *err);

#endif
