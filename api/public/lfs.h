/*
 * <vcm/lfs.h> - LFS: lists the files kept in LFS, fetches the content that mapped rows lack.
 *
 * Files and summaries live until the callback returns.
 */
#ifndef VCM_PUBLIC_LFS_H
#define VCM_PUBLIC_LFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/public/handle.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vcm_lfs_file {
    const char *scope_id; /* set by a pull; NULL in a status */
    const char *path;
    const char *oid; /* 64 hex digits */
    uint64_t size;
    bool present; /* the content is on this machine */
    bool fetched; /* by this call */
};

/* A file that cannot be read, so that it is unknown whether it is kept in LFS. */
struct vcm_lfs_gap {
    const char *path;
    const char *reason; /* "object_damaged" */
};

struct vcm_lfs_summary {
    const char *repo_root; /* of a status */
    const char *commit;    /* of a status; NULL when there is no commit */
    const char *mode;      /* of a status: the manifest's mode, "same_remote" without a manifest */
    uint64_t files, bytes; /* kept in LFS; of a pull: those that were missing */
    uint64_t present, fetched, missing;
    uint64_t missing_bytes;
    const char *error;                    /* of a pull: why content is still missing, or NULL */
    const struct vcm_lfs_gap *incomplete; /* of a status: by path */
    size_t incomplete_count;
};

typedef int (*vcm_lfs_file_fn)(void *context, const struct vcm_lfs_file *file,
                               struct vcm_error *err);
typedef int (*vcm_lfs_summary_fn)(void *context, const struct vcm_lfs_summary *summary,
                                  struct vcm_error *err);

/* Visits the LFS pointers of HEAD's tree by path, then the sums. */
int vcm_lfs_status(struct vcm *vcm, const char *repository, vcm_lfs_file_fn visit,
                   vcm_lfs_summary_fn sum, void *context, struct vcm_error *err);

/* Fetches the LFS content that mapped rows lack: of one scope, all scopes of a base, or a unique
 * prefix; NULL for all. Files that cannot be fetched are reported in the summary. NOT_FOUND,
 * AMBIGUOUS. */
int vcm_lfs_pull(struct vcm *vcm, const char *scope, vcm_lfs_file_fn visit, vcm_lfs_summary_fn sum,
                 void *context, struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
