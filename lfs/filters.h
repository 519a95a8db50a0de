/*
 * filters.h - configures a repository's LFS filters as its manifest says.
 *
 * git-lfs is used unchanged. Settings go to the repository's own configuration, never to the
 * user's; hooks that are not git-lfs's are left alone.
 */
#ifndef VCM_LFS_FILTERS_H
#define VCM_LFS_FILTERS_H

#include "lfs/command.h"
#include "lfs/manifest.h"

#define VCM_WIRE_GET_GIT_LFS                                                                       \
    "install git-lfs (apt install git-lfs, brew install git-lfs, or https://git-lfs.com)"

struct vcm_wire {
    bool has_git_lfs;  /* git-lfs is installed */
    bool is_wired;     /* filters are set, and separate_url where the manifest has one */
    char warning[512]; /* "" when there is none */
};

/* Whether `git lfs` can be run. */
int vcm_filters_probe(bool *found, const struct vcm_command *git, struct vcm_error *err);

/* Runs `git lfs install --local` unless the manifest disables LFS. A failure of git-lfs is a
 * warning, not an error. Running it again changes nothing. */
int vcm_filters_install(struct vcm_wire *out, const struct vcm_command *git,
                        const struct vcm_manifest_lfs *lfs, struct vcm_error *err);

#endif
