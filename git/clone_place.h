/*
 * clone_place.h - the directory of a clone: its name, the lock beside it, creating and repairing
 * it. Private to this folder.
 */
#ifndef VCM_GIT_CLONE_PLACE_H
#define VCM_GIT_CLONE_PLACE_H

#include "base/kv_lock.h"
#include "git/clone.h"

/* The name of the remote of a partial clone. Not "origin", which the user's own configuration may
 * mention. */
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

/* When the clone at `path` was last fetched into or marked as read, in Unix seconds; 0 when it is
 * unfinished. */
int64_t vcm_git_clone_place_used_at(const char *path);

/* Marks the clone at `path` as used now. */
void vcm_git_clone_place_touch(const char *path);

/* Whether there is a finished clone at `path` that still has its parts. */
bool vcm_git_clone_place_is_ready(const char *path);

/*
 * Locks the place, waiting at most `timeout_ms`, and makes sure that there is a repository: empty,
 * or with what was fetched before. An unfinished clone is created again; in a finished one the
 * leftovers of a killed process are removed. The caller releases the place also after a failure.
 */
int vcm_git_clone_place_take(struct vcm_git_place *place, const struct vcm_git_clones *clones,
                             const char *address, unsigned timeout_ms, struct vcm_error *err);

/* Puts an empty clone in place of one that is damaged, which is kept until
 * vcm_git_clone_place_settle(). A process that is killed between the two leaves the new one. */
int vcm_git_clone_place_set_aside(struct vcm_git_place *place, const char *address,
                                  struct vcm_error *err);

/* Removes the damaged clone, or, unless the new one is filled, puts it back. */
void vcm_git_clone_place_settle(struct vcm_git_place *place, bool filled);

/* Configures the clone as partial: VCM_GIT_PLACE_REMOTE is the remote that has the missing
 * objects. */
int vcm_git_clone_place_make_partial(const struct vcm_git_place *place, const char *address,
                                     struct vcm_error *err);

/* Removes the clone at `path`, whose lock the caller holds. It counts as unfinished from the first
 * step on. */
int vcm_git_clone_place_unmake(const char *path, struct vcm_error *err);

/* Removes a new clone into which nothing could be fetched. */
void vcm_git_clone_place_give_up(struct vcm_git_place *place);
void vcm_git_clone_place_release(struct vcm_git_place *place);

#endif
