/*
 * fetch.h - brings LFS content of a commit to this machine, no more than is asked for.
 *
 * Uses `git lfs fetch`: objects only, the working tree is not touched. Obeys the manifest of the
 * commit: nothing where LFS is disabled, and separate_url where it names one.
 */
#ifndef VCM_LFS_FETCH_H
#define VCM_LFS_FETCH_H

#include "git/clone.h"
#include "git/tree.h"
#include "lfs/command.h"
#include "lfs/manifest.h"

/* The manifest that holds at a commit; its defaults where there is none. Release in any case. */
int vcm_lfs_fetch_manifest(struct vcm_manifest *out, struct vcm_git_repo *repo,
                           const struct vcm_git_id *commit, struct vcm_error *err);

struct vcm_lfs_fetch_place {
    const struct vcm_command *git;
    const struct vcm_git_clones *clones; /* NULL unless the repository is a clone of ours */
    const char *origin_url;              /* of a clone of ours */
};

/* Fetches what the pointers at these paths stand for, into a clone of ours with the credentials of
 * the configuration. git-lfs goes on when one of them cannot be had; look at the objects to see
 * which are here. UNSUPPORTED without git-lfs, INVALID_ARGUMENT when the manifest disables LFS or
 * there is no remote. */
int vcm_lfs_fetch_paths(const struct vcm_lfs_fetch_place *place, const struct vcm_manifest_lfs *lfs,
                        const char *commit, const char *const *paths, size_t count,
                        struct vcm_error *err);

#endif
