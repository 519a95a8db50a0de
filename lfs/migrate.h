/*
 * migrate.h - moves committed files into LFS by rewriting history.
 *
 * vcm_migrate_prepare() refuses everything that would make the rewrite unsafe, before anything is
 * written. Every local branch and tag is rewritten; those that exist at the remote are pushed in
 * one atomic push, each on condition that the remote's ref has not changed since the preparation.
 * What the refs were before the rewrite is kept in the git directory until it is pushed: the next
 * migration goes on where one that was killed, or could not push, ended.
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
    bool dry_run;                  /* nothing is written */
    struct vcm_push_target target; /* remote NULL when nothing is to be pushed */
    const char *branch;            /* that HEAD is on */
    /* Files that the caller is about to commit; those with a content before may be in the tree. */
    const struct vcm_commit_file *files;
    size_t file_count;
    struct vcm_push_ref *former;  /* before an earlier rewrite that was not pushed */
    struct vcm_push_ref *local;   /* before the rewrite */
    struct vcm_push_ref *remote;  /* as seen before the rewrite */
    const char *ahead;            /* a local branch with commits that the remote lacks */
    struct vcm_migrate_ref *refs; /* that were rewritten */
};

/* Refuses: no git-lfs, a detached HEAD, a dirty tree, a shallow clone, other working trees, and
 * remote branches or tags with commits that were not fetched. `own` are commits of ours, separated
 * by line breaks, that do not make a branch count as ahead. `target` is where to push, if at
 * all. */
int vcm_migrate_prepare(struct vcm_migrate *m, const struct vcm_push_target *target,
                        const char *own, struct vcm_error *err);

/* Rewrites; `include` and `exclude` are patterns separated by commas. After a failure all refs are
 * restored. */
int vcm_migrate_run(struct vcm_migrate *m, const char *include, const char *exclude,
                    struct vcm_error *err);

/* Pushes the rewritten refs that exist at the remote, and HEAD's branch. */
int vcm_migrate_push(struct vcm_migrate *m, struct vcm_error *err);

/* A branch of the remote that was not rewritten, because there is no local one; NULL without
 * one. */
const char *vcm_migrate_left_behind(const struct vcm_migrate *m);

/* How many commits are in `tip` but not in `known`, without those of ours. `known` are ids
 * separated by line breaks; unknown ids are ignored. */
int vcm_migrate_count_ahead(size_t *foreign, size_t *total, const struct vcm_command *git,
                            const char *tip, const char *known, const char *own,
                            struct vcm_error *err);

#endif
