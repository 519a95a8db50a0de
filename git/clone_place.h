/*
 * clone_place.h - the directory of a clone: its name, the lock beside it, making and mending it.
 * Private to this folder.
 */
#ifndef VCM_GIT_CLONE_PLACE_H
#define VCM_GIT_CLONE_PLACE_H

#include "base/kv_lock.h"
#include "git/clone.h"

/* The remote of a clone that is partial. Not "origin", about which the user's own configuration may
 * say something. */
#define VCM_GIT_PLACE_REMOTE "vcm"

struct vcm_git_place {
    char *path;
    struct vcm_kv_lock lock;
    bool is_locked;
    bool is_new; /* there was no clone before */
};

/* Appends "<directory>/<name>-<hash>.git" for an address without credentials. */
void vcm_git_clone_place_name(struct vcm_buf *out, const struct vcm_git_clones *clones,
                              const char *address);

/* When the clone at `path` was last fetched into or read by somebody who said so, in Unix seconds;
 * 0 when it was never made to its end. */
int64_t vcm_git_clone_place_used_at(const char *path);

/* Says that the clone at `path` is used now. */
void vcm_git_clone_place_touch(const char *path);

/* Whether a clone is at `path` that was made to its end and has its parts still. */
bool vcm_git_clone_place_is_ready(const char *path);

/*
 * Locks the place, waiting at most `timeout_ms`, and sees that an empty repository, or what was
 * fetched before, is there: what was never finished is made anew, and what a killed process left
 * in a finished one is cleared away. The caller releases the place also after a failure.
 */
int vcm_git_clone_place_take(struct vcm_git_place *place, const struct vcm_git_clones *clones,
                             const char *address, unsigned timeout_ms, struct vcm_error *err);

/* Makes the clone anew, empty. */
int vcm_git_clone_place_remake(struct vcm_git_place *place, const char *address,
                               struct vcm_error *err);

/* Lets git know that the remote has what is missing in the clone, as VCM_GIT_PLACE_REMOTE. */
int vcm_git_clone_place_make_partial(const struct vcm_git_place *place, const char *address,
                                     struct vcm_error *err);

/* Removes the clone at `path`, whose lock the caller holds: from the beginning on it counts as
 * never made. */
int vcm_git_clone_place_unmake(const char *path, struct vcm_error *err);

/* Removes a clone that is new and into which nothing could be fetched. */
void vcm_git_clone_place_give_up(struct vcm_git_place *place);
void vcm_git_clone_place_release(struct vcm_git_place *place);

#endif
