/*
 * <vcm/init.h> - bootstrap: what a repository needs, committed and pushed.
 */
#ifndef VCM_PUBLIC_INIT_H
#define VCM_PUBLIC_INIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/public/handle.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vcm_init_options {
    const char *directory;                 /* at or below the repository */
    const char *tenant, *colony, *program; /* of a new manifest; NULL: told by the repository */
    const char *author;                    /* "Name <email>"; NULL: as git is configured */
    const char *const *co_authors;
    size_t co_author_count;
    const char *message; /* of the commit; NULL for the usual one */
    bool no_lfs, no_push;
    bool push_all; /* also commits that were there before */
    bool migrate;  /* move what is committed into LFS */
    bool dry_run;  /* tell what would be done, and do nothing */
};

/* A ref that a migration rewrites. */
struct vcm_init_ref {
    const char *name;
    const char *old_id;
    const char *new_id; /* NULL in a dry run */
};

struct vcm_init_file {
    const char *path;
    uint64_t versions; /* in all of history */
    uint64_t bytes;    /* of all versions */
};

/* What a migration would rewrite. */
struct vcm_init_migration {
    const struct vcm_init_file *files; /* by path */
    size_t file_count;
    uint64_t bytes;
    uint64_t commits; /* that would get another id */
};

struct vcm_init_result {
    const char *repo_root;
    bool dry_run;
    bool initialized;         /* this run wrote something */
    const char *const *files; /* in the commit */
    size_t file_count;
    const char *commit; /* NULL for none */
    bool pushed;
    const char *push_error; /* NULL for none */
    bool push_failed;       /* it was tried, and did not succeed */
    bool lfs_enabled;
    bool migrated;
    const char *migrate_error; /* NULL for none */
    const struct vcm_init_ref *refs;
    size_t ref_count;
    const struct vcm_init_migration *migration; /* of a dry run that migrates, else NULL */
    const char *const *warnings;
    size_t warning_count;
};

/* Writes what is missing of manifest, repo map and LFS patterns, commits just that, and pushes.
 * INVALID_ARGUMENT, UNSUPPORTED and the like before anything is written; what goes wrong behind
 * the commit is in the result. Free with vcm_init_result_free(). */
int vcm_init(struct vcm_init_result **out, struct vcm *vcm, const struct vcm_init_options *options,
             struct vcm_error *err);
void vcm_init_result_free(struct vcm_init_result *result);

#ifdef __cplusplus
}
#endif

#endif
