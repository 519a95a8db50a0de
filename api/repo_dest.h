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
    const struct vcm_cancel *cancel;
};

/*
 * Checks the clone's commit out and sets *real to the path, which the caller frees. Changes of the
 * user are never lost: git refuses to overwrite them. A directory that is not empty is used only if
 * it is a clone of the same URL, else INVALID_ARGUMENT. Objects that the clone does not have are
 * fetched by git from the clone's origin when they are needed.
 */
int vcm_repo_dest_fill(char **real, const struct vcm_repo_dest *dest, struct vcm_error *err);

#endif
