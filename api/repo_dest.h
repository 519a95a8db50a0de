/*
 * repo_dest.h - the working copy that `vcm repo fetch --dest` creates from a clone, or updates.
 */
#ifndef VCM_API_REPO_DEST_H
#define VCM_API_REPO_DEST_H

#include "base/cancel.h"
#include "git/clone.h"

struct vcm_repo_dest {
    const char *path; /* as the user named it */
    const struct vcm_git_clone *clone;
    const char *subpath; /* the directory to check out; NULL for everything */
    unsigned timeout_ms;
    size_t memory_max;  /* of each process of git */
    uint64_t bytes_max; /* of each file that git writes */
    const struct vcm_cancel *cancel;
};

/*
 * Checks the clone's commit out and sets *real to the path, which the caller frees. Nothing of the
 * user is lost: changed, untracked and ignored files that the commit would overwrite, and a HEAD
 * that is not where an earlier call left it, are INVALID_ARGUMENT. So is a directory that is
 * neither empty nor made by an earlier call for the same URL. Objects that the clone does not have
 * are fetched by git from the clone's origin when they are needed.
 */
int vcm_repo_dest_fill(char **real, const struct vcm_repo_dest *dest, struct vcm_error *err);

#endif
