/*
 * orientation.h - a description of a repository in at most 8 KiB: its files, its README, its entry
 * points, and whether it has documents to work from.
 *
 * Reads one commit's tree and one blob. Writes the JSON document of `vcm repo fetch`: fields keep
 * their order, equal input gives equal bytes. What does not fit is clipped and marked as clipped:
 * the README first, then the tree, then the entry points.
 */
#ifndef VCM_SYMBOLS_ORIENTATION_H
#define VCM_SYMBOLS_ORIENTATION_H

#include "base/cancel.h"
#include "git/tree.h"

#define VCM_ORIENTATION_BYTES_MAX ((size_t)8192)

struct vcm_orientation_request {
    const char *clone_path;
    const char *subpath;        /* a directory that stands for the whole tree; "" for all of it */
    uint64_t files_not_fetched; /* of the whole commit; their paths are known */
    const struct vcm_cancel *cancel;
};

/* Appends the document. NOT_FOUND when there is no such subpath. */
int vcm_orientation_describe(struct vcm_buf *out, struct vcm_git_repo *repo,
                             const struct vcm_git_id *commit,
                             const struct vcm_orientation_request *request, struct vcm_error *err);

#endif
