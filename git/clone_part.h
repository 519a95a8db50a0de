/*
 * clone_part.h - which objects of a commit are missing: a partial clone has all trees of it and the
 * blobs of one directory only. Private to this folder.
 */
#ifndef VCM_GIT_CLONE_PART_H
#define VCM_GIT_CLONE_PART_H

#include "base/cancel.h"
#include "git/tree.h"

struct vcm_git_part {
    struct vcm_buf wanted; /* ids of the blobs to fetch, each once and followed by a line break */
    size_t wanted_count;
    uint64_t files_missing; /* leaves of the whole tree whose content is missing */
};

/* Finds what is missing: counts the missing files of the whole tree, and lists the missing blobs
 * below `subpath` ("" for everything) and of the .gitattributes and .gitignore above it. Reads
 * trees only. The caller releases the part also after a failure. */
int vcm_git_clone_part_look(struct vcm_git_part *out, struct vcm_git_repo *repo,
                            const struct vcm_git_id *commit, const char *subpath,
                            const struct vcm_cancel *cancel, struct vcm_error *err);
void vcm_git_clone_part_release(struct vcm_git_part *part);

#endif
