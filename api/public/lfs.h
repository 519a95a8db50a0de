/*
 * <vcm/lfs.h> - large files: which are kept in LFS, and fetching those that mapped rows lack.
 */
#ifndef VCM_PUBLIC_LFS_H
#define VCM_PUBLIC_LFS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/public/handle.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vcm_lfs_file {
    const char *scope_id; /* of a pull; NULL in a status */
    const char *path;
    const char *oid; /* 64 hex digits */
    uint64_t size;
    bool present; /* its content is on this machine */
    bool fetched; /* by this call */
};

struct vcm_lfs_summary {
    const char *repo_root; /* of a status */
    const char *commit;    /* of a status; NULL before the first one */
    const char *mode;      /* of a status: what the manifest says, "same_remote" without one */
    uint64_t files, bytes; /* that are kept in LFS; of a pull: that were missing */
    uint64_t present, fetched, missing;
    uint64_t missing_bytes;
    const char *error; /* of a pull: why something is still missing, or NULL */
};

typedef int (*vcm_lfs_file_fn)(void *context, const struct vcm_lfs_file *file,
                               struct vcm_error *err);
typedef int (*vcm_lfs_summary_fn)(void *context, const struct vcm_lfs_summary *summary,
                                  struct vcm_error *err);

/* The LFS pointers of HEAD's tree by their paths, then the sums. */
int vcm_lfs_status(struct vcm *vcm, const char *repository, vcm_lfs_file_fn visit,
                   vcm_lfs_summary_fn sum, void *context, struct vcm_error *err);

/* Fetches the content that mapped rows lack: of a scope, a base or a unique prefix, NULL for all.
 * What cannot be fetched is in the summary. NOT_FOUND, AMBIGUOUS. */
int vcm_lfs_pull(struct vcm *vcm, const char *scope, vcm_lfs_file_fn visit, vcm_lfs_summary_fn sum,
                 void *context, struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
