/*
 * internal.h - what the files of this folder share: the handle, and the translation of libgit2's
 * errors. Private to this folder.
 */
#ifndef VCM_GIT_INTERNAL_H
#define VCM_GIT_INTERNAL_H

#include "git/libgit2.h"
#include "git/repo.h"

struct vcm_git_overlay;
struct vcm_git_pack_reader;

struct vcm_git_repo {
    git_repository *handle;
    git_odb *odb;
    char *root;
    struct vcm_git_pack_reader *packs; /* NULL until a blob is read, and without packs */
    bool packs_opened;
    struct vcm_git_overlay *overlay; /* NULL, or what its backend holds */
};

/* Sets the error for a negative code of libgit2: the given text, a colon, and libgit2's own
 * message. NOT_FOUND, AMBIGUOUS and INVALID_ARGUMENT where libgit2 says so, else IO_ERROR. */
int vcm_git_internal_error(struct vcm_error *err, int git_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* libgit2's last message in this thread, for callers that have to tell its refusals apart. */
const char *vcm_git_internal_message(void);

/* Whether the configuration of the user, not of a repository, has this variable. */
bool vcm_git_repo_user_sets(const char *name);

/* INVALID_ARGUMENT unless `name` is what a branch or tag may be called. `what` names its kind. */
int vcm_git_repo_check_name(const char *what, const char *name, struct vcm_error *err);

/* Whether an object of this type ("blob") with these bytes has the id. libgit2 can check all
 * objects that it reads, at several times the cost, because its SHA-1 detects forgeries. */
bool vcm_git_internal_has_id(const struct vcm_git_id *id, const char *type, struct vcm_slice data);

void vcm_git_internal_to_oid(git_oid *out, const struct vcm_git_id *id);
void vcm_git_internal_from_oid(struct vcm_git_id *out, const git_oid *oid);

#endif
