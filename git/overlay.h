/*
 * overlay.h - objects that no repository holds: the trees and blobs of a working tree, as git would
 * write them.
 *
 * A repository handle with an overlay reads them as if they were in its object database, so that
 * everything that reads a commit also reads a working tree. They lie in a temporary file without a
 * name; nothing is written to the repository.
 * One thread fills an overlay; when it is sealed, any number of threads and handles may read it. It
 * lives as long as its last user.
 */
#ifndef VCM_GIT_OVERLAY_H
#define VCM_GIT_OVERLAY_H

#include <sys/types.h>

#include "base/cancel.h"
#include "git/repo.h"

struct vcm_git_overlay;

/* Without `keeps_texts` the blobs of files are only hashed: for callers that count. `repo` tells
 * which objects exist and need not be kept; it is used until the overlay is sealed. */
int vcm_git_overlay_open(struct vcm_git_overlay **out, struct vcm_git_repo *repo, bool keeps_texts,
                         struct vcm_error *err);
void vcm_git_overlay_close(struct vcm_git_overlay *overlay);

/* Adds an object: "tree", "blob" or "commit". Sets its id. What the repository has is not kept. */
int vcm_git_overlay_put(struct vcm_git_id *id, struct vcm_git_overlay *overlay, const char *type,
                        struct vcm_slice bytes, struct vcm_error *err);

/* Adds the content of an open regular file as a blob. A file that changes meanwhile is read again,
 * a few times. `known` is the id of a text that need not be kept. One of more than
 * VCM_LIMIT_DOCUMENT_BYTES has an id and a size, and no content. */
int vcm_git_overlay_put_file(struct vcm_git_id *id, struct vcm_git_overlay *overlay, int fd,
                             const struct vcm_git_id *known, const struct vcm_cancel *cancel,
                             struct vcm_error *err);

/* From now on nothing is added, and the handle reads it. */
int vcm_git_overlay_seal(struct vcm_git_overlay *overlay, struct vcm_git_repo *repo,
                         struct vcm_error *err);

/* Lets another handle of the repository read it, too. */
int vcm_git_overlay_attach(struct vcm_git_overlay *overlay, struct vcm_git_repo *repo,
                           struct vcm_error *err);

/* Whether the object is in the handle's overlay, and so not in the repository. */
bool vcm_git_overlay_has(const struct vcm_git_repo *repo, const struct vcm_git_id *id);

#endif
