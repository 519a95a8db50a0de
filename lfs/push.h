/*
 * push.h - where a branch goes, what is there, and sending commits together with their LFS content.
 *
 * Hooks are off, so that the work of git-lfs's own pre-push hook is done by name. Lists live in the
 * caller's arena.
 */
#ifndef VCM_LFS_PUSH_H
#define VCM_LFS_PUSH_H

#include "base/arena.h"
#include "lfs/commit.h"

struct vcm_push_target {
    const char *remote; /* NULL when there is none */
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
    const char *lease;  /* what must be there now, "" for nothing; NULL for a plain push */
    struct vcm_push_update *next;
};

/* The upstream of a branch, else the branch of the same name at origin. */
int vcm_push_find_target(struct vcm_push_target *out, struct vcm_arena *arena,
                         const struct vcm_command *git, const char *branch, struct vcm_error *err);

/* Appends the remote's URL as git would use it for pushing. */
int vcm_push_url(struct vcm_buf *out, const struct vcm_command *git, const char *remote,
                 struct vcm_error *err);

/* Branches and tags: of the remote as it is now, or with a NULL remote the local ones. */
int vcm_push_list(struct vcm_push_ref **out, struct vcm_arena *arena, const struct vcm_command *git,
                  const char *remote, struct vcm_error *err);
const struct vcm_push_ref *vcm_push_get(const struct vcm_push_ref *refs, const char *name);

/* Uploads LFS content when `with_lfs`, then pushes all updates or none. What goes wrong is an error
 * that says what became of the remote. */
int vcm_push_send(const struct vcm_command *git, const char *remote,
                  const struct vcm_push_update *updates, bool with_lfs, struct vcm_error *err);

#endif
