/*
 * bootstrap.h - prepares a repository for vcm and LFS: commits exactly the manifest, the repo map
 * and the LFS patterns, and pushes the commit.
 *
 * Never overwrites a file; its only edit is lfs.mode of the manifest, from "disabled" to
 * "same_remote". Running it again is harmless. Every refusal happens before anything is written;
 * after the commit, failures of the migration and the push are reported in the result. The order of
 * the steps is in bootstrap.c, run().
 */
#ifndef VCM_LFS_BOOTSTRAP_H
#define VCM_LFS_BOOTSTRAP_H

#include "lfs/migrate.h"

#define VCM_BOOTSTRAP_FILES_MAX 3

struct vcm_bootstrap_options {
    const char *directory; /* at or below the repository */
    const char *tenant;    /* NULL: from the remote */
    const char *colony;    /* NULL: from the repository's name */
    const char *program;   /* NULL: the colony */
    const char *author;    /* "Name <email>"; NULL: as git is configured */
    const char *const *co_authors;
    size_t co_author_count;
    const char *message; /* NULL: ours */
    bool no_lfs;
    bool no_push;
    bool push_all; /* also commits that the remote lacks and that are not ours */
    bool migrate;
    bool dry_run;
    const struct vcm_cancel *cancel;
};

struct vcm_bootstrap_warning {
    const char *text;
    struct vcm_bootstrap_warning *next;
};

struct vcm_bootstrap {
    struct vcm_arena arena; /* owns everything below */
    const char *repo_root;
    bool is_initialized;                        /* by this run */
    const char *files[VCM_BOOTSTRAP_FILES_MAX]; /* of the commit, sorted by bytes */
    size_t file_count;
    const char *commit; /* NULL for none */
    bool pushed;
    const char *push_error; /* NULL without a message */
    bool push_failed;       /* the push was attempted */
    bool lfs_enabled;
    bool migrated;
    const char *migrate_error;          /* NULL for none */
    const struct vcm_migrate_ref *refs; /* that were rewritten, or would be */
    const char *include, *exclude;      /* patterns of LFS and exceptions, NULL when not known */
    struct vcm_bootstrap_warning *warnings;
};

/* Adds a warning; dropped when out of memory. */
void vcm_bootstrap_warn(struct vcm_bootstrap *bootstrap, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* To be called also after a failure. */
int vcm_bootstrap_run(struct vcm_bootstrap *out, const struct vcm_bootstrap_options *options,
                      struct vcm_error *err);
void vcm_bootstrap_release(struct vcm_bootstrap *bootstrap);

#endif
