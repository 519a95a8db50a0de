/*
 * <vcm/init.h> - bootstrap: writes the files that a repository needs, commits and pushes them.
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
    const char *directory;                 /* a path at or below the repository */
    const char *tenant, *colony, *program; /* of a new manifest; NULL: from the repository */
    const char *author;                    /* "Name <email>"; NULL: git's configuration */
    const char *const *co_authors;
    size_t co_author_count;
    const char *message; /* of the commit; NULL for the default */
    bool no_lfs, no_push;
    bool push_all; /* push although the branch was ahead of its remote before */
    bool migrate;  /* move committed files into LFS */
    bool dry_run;  /* report what would be done, and do nothing */
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

/* What a migration would rewrite. Lives as long as the result that holds it. */
struct vcm_init_migration {
    const struct vcm_init_file *files; /* by path */
    size_t file_count;
    uint64_t bytes;
    uint64_t commits; /* commits whose id would change */
};

struct vcm_init_result {
    const char *repo_root;
    bool dry_run;
    bool initialized;         /* this run wrote something */
    const char *const *files; /* of the commit */
    size_t file_count;
    const char *commit; /* NULL for none */
    bool pushed;
    const char *push_error; /* NULL for none */
    bool push_failed;       /* a push was tried and failed */
    bool lfs_enabled;
    bool migrated;
    const char *migrate_error; /* NULL for none */
    const struct vcm_init_ref *refs;
    size_t ref_count;
    const struct vcm_init_migration *migration; /* set in a dry run with `migrate`, else NULL */
    const char *const *warnings;
    size_t warning_count;
};

/* Writes the missing ones of manifest, repo map and LFS patterns, commits exactly these files, and
 * pushes. Fails with INVALID_ARGUMENT, UNSUPPORTED and the like before anything is written; what
 * fails after the commit is reported in the result. Free with vcm_init_result_free(). */
int vcm_init(struct vcm_init_result **out, struct vcm *vcm, const struct vcm_init_options *options,
             struct vcm_error *err);
void vcm_init_result_free(struct vcm_init_result *result);

#ifdef __cplusplus
}
#endif

#endif
