/*
 * clone_fetch.h - the calls of git that bring a commit into a clone, and the state of one call of
 * vcm_git_clone_fetch(). Private to this folder.
 */
#ifndef VCM_GIT_CLONE_FETCH_H
#define VCM_GIT_CLONE_FETCH_H

#include "git/clone_place.h"
#include "git/clone_refs.h"
#include "git/clone_remote.h"
#include "git/credential.h"
#include "git/runner.h"

/* One call of vcm_git_clone_fetch(), which owns everything here but the first two. */
struct vcm_git_fetch {
    const struct vcm_git_clones *clones;
    const struct vcm_git_clone_request *request;
    struct vcm_git_url url;
    struct vcm_git_secret secret;
    struct vcm_git_place place;
    struct vcm_git_repo *repo;
    struct vcm_git_remote remote;
    uint64_t deadline_ms;
    char *name;          /* of the commit, without the steps back; NULL for a branch's tip */
    const char *steps;   /* "~3^2" behind it, or "" */
    const char *subpath; /* of the request, or "" */
    unsigned depth;
    bool remote_answered;   /* it told its refs */
    bool is_partial;        /* blobs may be missing in the clone */
    uint64_t files_missing; /* of the commit that was asked for */
};

/* What is to be fetched. */
struct vcm_git_target {
    char source[VCM_GIT_REF_BYTES]; /* ref or id, as the remote knows it; "" for everything */
    char keep[VCM_GIT_REF_BYTES];   /* ref of the clone to set to the commit, or "" */
    const char *branch;             /* short name when it is the tip of one, else "" */
    struct vcm_git_id id;           /* of the commit */
    bool has_id;
};

/* For a call of git in the clone, with the time that is left. */
struct vcm_git_runner vcm_git_clone_fetch_runner(const struct vcm_git_fetch *fetch);

/* Opens the repository of the locked place, again if it is open: git may have added packs. */
int vcm_git_clone_fetch_open(struct vcm_git_fetch *fetch, struct vcm_error *err);

/* Fetches the target and finds its commit. With a subpath the clone becomes a partial one. */
int vcm_git_clone_fetch_bring(struct vcm_git_id *out, struct vcm_git_fetch *fetch,
                              const struct vcm_git_target *target, struct vcm_error *err);

#endif
