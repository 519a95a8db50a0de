/*
 * push.h - the push target of a branch, the refs there, and pushing commits with their LFS content.
 *
 * Hooks are off, so the upload that git-lfs's pre-push hook would do is run explicitly. Lists live
 * in the caller's arena.
 */
#ifndef VCM_LFS_PUSH_H
#define VCM_LFS_PUSH_H

#include "base/arena.h"
#include "lfs/commit.h"

struct vcm_push_target {
    const char *remote; /* NULL without one */
    const char *ref;    /* "refs/heads/main", at the remote */
};

struct vcm_push_ref {
    const char *name;
    char id[VCM_COMMIT_ID_BYTES];
    struct vcm_push_ref *next;
};

struct vcm_push_update {
    const char *source; /* a local ref */
    const char *ref;    /* at the remote */
    const char *lease;  /* what the remote must have now, "" for no ref; NULL for a plain push */
    struct vcm_push_update *next;
};

/* The upstream of a branch, else the branch of the same name at origin. */
int vcm_push_find_target(struct vcm_push_target *out, struct vcm_arena *arena,
                         const struct vcm_command *git, const char *branch, struct vcm_error *err);

/* Appends the remote's URL as git would use it for pushing. */
int vcm_push_url(struct vcm_buf *out, const struct vcm_command *git, const char *remote,
                 struct vcm_error *err);

/* Branches and tags: the remote's current ones or, with a NULL remote, the local ones. */
int vcm_push_list(struct vcm_push_ref **out, struct vcm_arena *arena, const struct vcm_command *git,
                  const char *remote, struct vcm_error *err);
const struct vcm_push_ref *vcm_push_get(const struct vcm_push_ref *refs, const char *name);

/* Uploads LFS content when `with_lfs`, then pushes all updates or none. The error of a failed push
 * says whether the remote was changed. */
int vcm_push_send(const struct vcm_command *git, const char *remote,
                  const struct vcm_push_update *updates, bool with_lfs, struct vcm_error *err);

#endif
