/*
 * commit.h - makes one commit with exactly the given files, whatever else is staged or modified.
 *
 * The tree is made from HEAD's tree in a temporary index; the user's index and working tree change
 * at those files only. The commit is made completely or not at all: when a step fails, files, index
 * and branch are restored. Hooks do not run.
 */
#ifndef VCM_LFS_COMMIT_H
#define VCM_LFS_COMMIT_H

#include "lfs/command.h"

#define VCM_COMMIT_ID_BYTES  65 /* of an id in hex, with its NUL */
#define VCM_COMMIT_FILES_MAX 8

struct vcm_commit_file {
    const char *path; /* relative to the root of the working tree, at most one directory deep */
    struct vcm_slice content;
    struct vcm_slice before; /* the file's current content; data NULL when it must not exist */
};

struct vcm_commit_request {
    const struct vcm_commit_file *files;
    size_t count;
    const char *message;
    /* Called with the commit's id before the branch moves: a process that is killed afterwards has
     * left a commit that is known to be ours. */
    void (*made)(void *context, const char *id);
    void *context;
};

/* What git has for a file, as hex ids; "" for nothing. */
struct vcm_commit_entry {
    char head[VCM_COMMIT_ID_BYTES];
    char staged[VCM_COMMIT_ID_BYTES];
    char mode[8]; /* of the staged one, else of HEAD's */
};

/* For `count` paths at a time. */
int vcm_commit_look_up(struct vcm_commit_entry *out, const struct vcm_command *git,
                       const char *const *paths, size_t count, struct vcm_error *err);

/* HEAD's commit, "" when there is none yet. */
int vcm_commit_head(char id[VCM_COMMIT_ID_BYTES], const struct vcm_command *git,
                    struct vcm_error *err);

/* INVALID_ARGUMENT when git has no identity to commit with, or during a merge, rebase or the
 * like. */
int vcm_commit_check(const struct vcm_command *git, struct vcm_error *err);

/* `git` runs at the root of the working tree. */
int vcm_commit_files(char id[VCM_COMMIT_ID_BYTES], const struct vcm_command *git,
                     const struct vcm_commit_request *request, struct vcm_error *err);

#endif
