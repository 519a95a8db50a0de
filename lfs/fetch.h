/*
 * fetch.h - fetches LFS content of a commit, only for the given paths.
 *
 * Uses `git lfs fetch`: objects only, the working tree is not touched. Obeys the manifest of the
 * commit: fetches nothing where LFS is disabled, and uses separate_url where it is set.
 */
#ifndef VCM_LFS_FETCH_H
#define VCM_LFS_FETCH_H

#include "git/clone.h"
#include "git/tree.h"
#include "lfs/command.h"
#include "lfs/manifest.h"

/* The manifest of a commit; the defaults when there is none. Release it also after a failure. */
int vcm_lfs_fetch_manifest(struct vcm_manifest *out, struct vcm_git_repo *repo,
                           const struct vcm_git_id *commit, struct vcm_error *err);

struct vcm_lfs_fetch_place {
    const struct vcm_command *git;
    const struct vcm_git_clones *clones; /* NULL unless the repository is a clone of ours */
    const char *origin_url;              /* of a clone of ours */
};

/* Fetches the content of the pointers at these paths; into a clone of ours with the credentials of
 * the configuration. git-lfs continues when one of them cannot be fetched; check the objects to see
 * which are present. UNSUPPORTED without git-lfs, INVALID_ARGUMENT when the manifest disables LFS
 * or there is no remote. */
int vcm_lfs_fetch_paths(const struct vcm_lfs_fetch_place *place, const struct vcm_manifest_lfs *lfs,
                        const char *commit, const char *const *paths, size_t count,
                        struct vcm_error *err);

#endif
